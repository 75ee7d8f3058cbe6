#include "addon/loop_preparation.h"

#include "addon/uv_handles.h"
#include "board/neighbors.h"

#include <cstdlib>

namespace fpga_verbs::addon {

namespace {

struct Preparation {
  napi_async_cleanup_hook_handle hook = nullptr;
  uv_handle_s* handle = nullptr;
};

void close(Preparation& preparation) {
  uv_close(preparation.handle, [](uv_handle_s* closed) {
    auto* const done = static_cast<Preparation*>(uv_handle_get_data(closed));
    napi_remove_async_cleanup_hook(done->hook);
    std::free(closed);
    delete done;
  });
}

} // namespace

void run_boards_before_waits(Napi::Env env) {
  uv_loop_s* loop = nullptr;
  auto* const handle = static_cast<uv_handle_s*>(std::calloc(1, uv_handle_size(uv_prepare_type)));
  if (handle == nullptr || napi_get_uv_event_loop(env, &loop) != napi_ok ||
      uv_prepare_init(loop, handle) != 0) {
    std::free(handle);
    throw Napi::Error::New(env, "the event loop takes no handle that runs before it waits");
  }
  auto* const preparation = new Preparation{nullptr, handle};
  uv_handle_set_data(handle, preparation);
  napi_add_async_cleanup_hook(
      env, [](napi_async_cleanup_hook_handle, void* data) { close(*static_cast<Preparation*>(data)); },
      preparation, &preparation->hook);
  uv_prepare_start(handle, [](uv_handle_s*) { board::Neighbors::here().run(); });
  uv_unref(handle);
}

} // namespace fpga_verbs::addon
