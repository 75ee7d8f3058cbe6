#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Processes that do to a served board what they can think of, until they are killed; see
// test/served/hostile_clients.ts.
void define_hostile_client_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
