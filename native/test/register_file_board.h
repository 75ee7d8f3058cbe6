#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Exports the addon's EmulatedBoard with a RegisterFileDevice in the place of the Hca. Of the options only
// those of the board itself have a meaning; names are not shared.
void define_register_file_board(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
