#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Clients of a served board that do what no driver does; see test/served/clients.ts.
void define_served_client_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
