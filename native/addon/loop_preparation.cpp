#include "addon/loop_preparation.h"

#include "addon/loop_handle.h"
#include "board/neighbors.h"

namespace fpga_verbs::addon {

void run_boards_before_waits(Napi::Env env) {
  LoopHandle* const handle =
      LoopHandle::make(env, uv_prepare_type, uv_prepare_init, [](LoopHandle& ended) { ended.close(); });
  if (handle == nullptr)
    throw Napi::Error::New(env, "the event loop takes no handle that runs before it waits");
  uv_prepare_start(handle->get(), [](uv_handle_s*) { board::Neighbors::here().run(); });
}

} // namespace fpga_verbs::addon
