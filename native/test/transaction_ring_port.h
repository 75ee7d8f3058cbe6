#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// Exports transactionRingStress(producers, messages, seed): this many threads each push this many random
// messages into one ring, and the calling thread pops them. Returns the first failure, or an empty string.
void define_transaction_ring_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
