#include "addon/addon_data.h"

#include "addon/board_function.h"
#include "addon/dma_memory.h"
#include "addon/emulated_board.h"
#include "addon/foreign_memory.h"
#include "addon/interrupt.h"
#include "addon/loop_preparation.h"
#include "addon/served_board.h"
#include "addon/watch.h"

#include <utility>

namespace fpga_verbs::addon {

void define_board_classes(Napi::Env env, Napi::Object exports, BoardMaker make_board,
                          const hca::HcaParameters& usual) {
  auto* const data = new AddonData; // freed with the environment
  env.SetInstanceData(data);
  data->make_board = std::move(make_board);
  data->usual = usual;
  data->calls_object = Napi::Persistent(DirectCalls::make(env, data->calls));
  data->board_function = Napi::Persistent(BoardFunction::define(env));
  data->dma_memory = Napi::Persistent(DmaMemory::define(env));
  data->interrupt = Napi::Persistent(Interrupt::define(env));
  data->served_board = Napi::Persistent(ServedBoard::define(env));
  data->watch = Napi::Persistent(Watch::define(env));
  data->resizable = resizable_getter(env);
  run_boards_before_waits(env);
  exports.Set("EmulatedBoard", EmulatedBoard::define(env));
  exports.Set("openServed", Napi::Function::New<open_served>(env, "openServed"));
  exports.Set("lookAtServed", Napi::Function::New<look_at_served>(env, "lookAtServed"));
}

} // namespace fpga_verbs::addon
