#include "addon/loop_handle.h"

#include <cstdlib>
#include <utility>

namespace fpga_verbs::addon {

LoopHandle* LoopHandle::make(Napi::Env env, int type,
                             const std::function<int(uv_loop_s*, uv_handle_s*)>& initialize,
                             std::function<void(LoopHandle&)> ended) {
  uv_loop_s* loop = nullptr;
  auto* const handle = static_cast<uv_handle_s*>(std::calloc(1, uv_handle_size(type)));
  if (handle == nullptr || napi_get_uv_event_loop(env, &loop) != napi_ok || initialize(loop, handle) != 0) {
    std::free(handle);
    return nullptr;
  }
  auto* const made = new LoopHandle;
  made->handle_ = handle;
  made->ended_ = std::move(ended);
  napi_add_async_cleanup_hook(
      env,
      [](napi_async_cleanup_hook_handle, void* data) {
        // A handle that is already closing removes its own hook.
        auto& self = *static_cast<LoopHandle*>(data);
        if (const auto close_it = std::exchange(self.ended_, nullptr))
          close_it(self);
      },
      made, &made->hook_);
  uv_unref(handle);
  return made;
}

void LoopHandle::close() {
  ended_ = nullptr;
  uv_handle_set_data(handle_, this);
  uv_close(handle_, [](uv_handle_s* closed) {
    auto* const self = static_cast<LoopHandle*>(uv_handle_get_data(closed));
    napi_remove_async_cleanup_hook(self->hook_);
    std::free(closed);
    delete self;
  });
}

} // namespace fpga_verbs::addon
