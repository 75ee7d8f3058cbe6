#pragma once

#include <cstddef>

// The few functions of libuv that the addon calls. Node exports them, but node-api-headers does not bring
// their header; handles are opaque here and as large as uv_handle_size says.
extern "C" {
struct uv_loop_s;
struct uv_handle_s;
size_t uv_handle_size(int type);
int uv_poll_init(uv_loop_s* loop, uv_handle_s* handle, int descriptor);
int uv_poll_start(uv_handle_s* handle, int events, void (*callback)(uv_handle_s*, int status, int events));
int uv_prepare_init(uv_loop_s* loop, uv_handle_s* handle);
int uv_prepare_start(uv_handle_s* handle, void (*callback)(uv_handle_s*));
void uv_close(uv_handle_s* handle, void (*callback)(uv_handle_s*));
void uv_ref(uv_handle_s* handle);
void uv_unref(uv_handle_s* handle);
void uv_handle_set_data(uv_handle_s* handle, void* data);
void* uv_handle_get_data(const uv_handle_s* handle);
}

namespace fpga_verbs::addon {

// Of enums uv_handle_type and uv_poll_event, which are part of libuv's binary interface.
inline constexpr int uv_poll_type = 8;
inline constexpr int uv_prepare_type = 9;
inline constexpr int uv_readable = 1;

} // namespace fpga_verbs::addon
