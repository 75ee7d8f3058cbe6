#pragma once

#include "addon/uv_handles.h"

#include <napi.h>

#include <functional>

namespace fpga_verbs::addon {

// A handle of an environment's event loop, which does not keep the loop alive. It lives until the loop has
// closed it.
class LoopHandle {
public:
  // `type`: of the handle; `initialize`: the function of libuv that does so, 0: done. `ended`: the
  // environment is ending, and the handle must be closed. Null: the loop does not take the handle.
  static LoopHandle* make(Napi::Env env, int type,
                          const std::function<int(uv_loop_s*, uv_handle_s*)>& initialize,
                          std::function<void(LoopHandle&)> ended);

  uv_handle_s* get() { return handle_; }

  // Frees this after its last callback.
  void close();

private:
  uv_handle_s* handle_ = nullptr;
  std::function<void(LoopHandle&)> ended_; // empty: is closing
  napi_async_cleanup_hook_handle hook_ = nullptr;
};

} // namespace fpga_verbs::addon
