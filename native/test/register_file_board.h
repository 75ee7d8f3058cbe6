#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Exports the addon's EmulatedBoard with a RegisterFileDevice in place of the Hca. Only the options of the
// board itself have an effect; names are not shared.
void define_register_file_board(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
