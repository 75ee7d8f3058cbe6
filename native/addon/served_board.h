#pragma once

#include "addon/open_function.h"
#include "board/emulated_board.h"
#include "served/served_board.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// ServedBoard in JavaScript; see lib/board/addon.ts.
class ServedBoard final : public Napi::ObjectWrap<ServedBoard>, public Child {
public:
  static Napi::Function define(Napi::Env env);
  // `options`: of the call that asks for it. Error: why it cannot be served.
  static Napi::Value make(const std::shared_ptr<board::EmulatedBoard>& board, const Napi::Value& options);

  // The observation that `owner` shares; it ends with `owner`.
  static Napi::Value make(Napi::Env env, std::unique_ptr<served::ServedBoard> served,
                          const std::shared_ptr<OpenFunction>& owner);

  // Called with a served board in an External.
  explicit ServedBoard(const Napi::CallbackInfo& info);
  ~ServedBoard() override;

  void close() override;

private:
  Napi::Value take_notices(const Napi::CallbackInfo& info);
  Napi::Value work(const Napi::CallbackInfo& info);
  void close_method(const Napi::CallbackInfo& info);

  std::unique_ptr<served::ServedBoard> served_;
  std::shared_ptr<OpenFunction> owner_; // null: a board
};

// Of path and function, or undefined: any that is free. Error: why it is not open.
Napi::Value open_served(const Napi::CallbackInfo& info);

// Of paths and milliseconds: an element for each path; undefined: no board is served there.
Napi::Value look_at_served(const Napi::CallbackInfo& info);

} // namespace fpga_verbs::addon
