#pragma once

#include "board/hca_board.h"

#include <napi.h>

#include <functional>
#include <memory>
#include <string>

namespace fpga_verbs::addon {

// Makes the board of an EmulatedBoard object; with an empty name one of its own. Null: `failure` says why.
using BoardMaker = std::function<std::shared_ptr<board::EmulatedBoard>(
    const std::string& name, const board::HcaBoardOptions&, std::string& failure)>;

// What the addon keeps per environment: the main thread and each worker have their own.
struct AddonData {
  BoardMaker make_board;
  hca::HcaParameters usual; // of a board
  Napi::FunctionReference board_function;
  Napi::FunctionReference dma_memory;
  Napi::FunctionReference interrupt;
  Napi::FunctionReference served_board;

  static AddonData& of(Napi::Env env) { return *env.GetInstanceData<AddonData>(); }
};

// Defines the classes of the addon, and exports EmulatedBoard and the functions beside it.
void define_board_classes(Napi::Env env, Napi::Object exports, BoardMaker make_board,
                          const hca::HcaParameters& usual = {});

} // namespace fpga_verbs::addon
