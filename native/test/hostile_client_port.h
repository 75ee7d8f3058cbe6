#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Processes that attack a served board in every known way until they are killed; see
// test/served/hostile_clients.ts.
void define_hostile_client_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
