#pragma once

#include "board/emulated_board.h"

#include <napi.h>

#include <memory>
#include <string>

namespace fpga_verbs::addon {

// EmulatedBoard in JavaScript; see lib/board/addon.ts.
class EmulatedBoard final : public Napi::ObjectWrap<EmulatedBoard> {
public:
  static Napi::Function define(Napi::Env env);
  explicit EmulatedBoard(const Napi::CallbackInfo& info);

private:
  board::EmulatedBoard& board(Napi::Env env) const;                       // ERR_CLOSED
  board::SteppedProgress& stepped(Napi::Env env, const char* what) const; // Error: the board is not stepped

  uint32_t function_number(const Napi::Value& value) const; // RangeError: the board has no such function

  Napi::Value open(const Napi::CallbackInfo& info);
  Napi::Value open_free(const Napi::CallbackInfo& info);
  Napi::Value observe(const Napi::CallbackInfo& info);
  Napi::Value serve(const Napi::CallbackInfo& info);
  void post(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value run_until_idle(const Napi::CallbackInfo& info);
  void advance_time(const Napi::CallbackInfo& info);
  Napi::Error too_much_work(Napi::Env env, uint64_t limit) const;
  Napi::Value now(const Napi::CallbackInfo& info);
  Napi::Value inject(const Napi::CallbackInfo& info);
  Napi::Value injected(const Napi::CallbackInfo& info);
  void clear_faults(const Napi::CallbackInfo& info);
  Napi::Value impair(const Napi::CallbackInfo& info);
  Napi::Value impaired(const Napi::CallbackInfo& info);
  void clear_impairments(const Napi::CallbackInfo& info);
  void arrive(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);
  void start_trace(const Napi::CallbackInfo& info);
  void stop_trace(const Napi::CallbackInfo& info);
  Napi::Value take_trace(const Napi::CallbackInfo& info);
  Napi::Value replay(const Napi::CallbackInfo& info);
  void start_packet_trace(const Napi::CallbackInfo& info);
  void stop_packet_trace(const Napi::CallbackInfo& info);
  Napi::Value take_packets(const Napi::CallbackInfo& info);
  void start_capture(const Napi::CallbackInfo& info);
  void stop_capture(const Napi::CallbackInfo& info);
  Napi::Value board_number(const Napi::CallbackInfo& info);
  void attach_memory(const Napi::CallbackInfo& info);
  void detach_memory(const Napi::CallbackInfo& info);
  Napi::Value take_dma_faults(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);

  void capture(Napi::Env env, const std::string& path);

  std::shared_ptr<board::EmulatedBoard> board_;
  std::string captured_; // path
};

} // namespace fpga_verbs::addon
