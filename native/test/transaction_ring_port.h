#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Exports transactionRingStress(producers, messages, seed): that many threads push that many random messages
// each into one ring, the calling thread pops them. Gives the first thing that was wrong, or an empty string.
void define_transaction_ring_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
