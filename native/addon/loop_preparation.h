#pragma once

#include <napi.h>

namespace fpga_verbs::addon {

// Runs the boards to which the environment's thread has left commands each time before its event loop waits,
// so that a program that posts and returns to the event loop waits for no other thread. Keeps no event loop
// alive; ends with the environment. Error: the event loop has no room for it.
void run_boards_before_waits(Napi::Env env);

} // namespace fpga_verbs::addon
