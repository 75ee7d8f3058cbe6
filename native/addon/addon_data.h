#pragma once

#include "addon/direct_calls.h"
#include "board/hca_board.h"

#include <napi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace fpga_verbs::addon {

// Makes the board of an EmulatedBoard object; with an empty name one of its own. Null: `failure` says why.
using BoardMaker = std::function<std::shared_ptr<board::EmulatedBoard>(
    const std::string& name, const board::HcaBoardOptions&, std::string& failure)>;

// State of the addon per environment: the main thread and each worker have their own.
struct AddonData {
  BoardMaker make_board;
  hca::HcaParameters usual; // of a board
  std::shared_ptr<DirectCalls> calls = std::make_shared<DirectCalls>();
  Napi::ObjectReference calls_object; // for JavaScript
  Napi::FunctionReference board_function;
  Napi::FunctionReference dma_memory;
  Napi::FunctionReference interrupt;
  Napi::FunctionReference served_board;
  Napi::FunctionReference watch;
  Napi::FunctionReference resizable; // getter of ArrayBuffer.prototype, as it was when the addon was loaded

  // An object of a class is being made over this; null: JavaScript calls the constructor by itself.
  const void* made_over = nullptr;

  // A new object of a class over `given`, which its constructor takes.
  template <class Given>
  static Napi::Object make(Napi::FunctionReference AddonData::* type, Napi::Env env, Given& given) {
    AddonData& data = of(env);
    data.made_over = &given;
    const Napi::Object object = (data.*type).New({});
    data.made_over = nullptr;
    return object;
  }

  // In a constructor: what its object is made over. TypeError: it is not made by `maker`.
  template <class Given> static Given& given(Napi::Env env, const char* what, const char* maker) {
    const void* const given = std::exchange(of(env).made_over, nullptr);
    if (given == nullptr)
      throw Napi::TypeError::New(env, std::string(what) + " is made by " + maker);
    return *static_cast<Given*>(const_cast<void*>(given));
  }

  static AddonData& of(Napi::Env env) { return *env.GetInstanceData<AddonData>(); }
};

// Defines the classes of the addon, and exports EmulatedBoard and the functions beside it.
void define_board_classes(Napi::Env env, Napi::Object exports, BoardMaker make_board,
                          const hca::HcaParameters& usual = {});

} // namespace fpga_verbs::addon
