#pragma once

#include "board/emulated_board.h"
#include "served/served_board.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// ServedBoard in JavaScript; see lib/board/addon.ts.
class ServedBoard final : public Napi::ObjectWrap<ServedBoard> {
public:
  static Napi::Function define(Napi::Env env);
  // `options`: of the call that asks for it. Error: why it cannot be served.
  static Napi::Value make(const std::shared_ptr<board::EmulatedBoard>& board, const Napi::Value& options);

  // Called with a served board in an External.
  explicit ServedBoard(const Napi::CallbackInfo& info);

private:
  Napi::Value take_notices(const Napi::CallbackInfo& info);
  Napi::Value work(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);

  std::unique_ptr<served::ServedBoard> served_;
};

// Of path and function, or undefined: any that is free. Error: why it is not open.
Napi::Value open_served(const Napi::CallbackInfo& info);

// Of paths and milliseconds: an element for each path; undefined: no board is served there.
Napi::Value look_at_served(const Napi::CallbackInfo& info);

} // namespace fpga_verbs::addon
