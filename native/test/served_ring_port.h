#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// The ring of a served BAR; see test/served/served_ring_port.ts.
void define_served_ring_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
