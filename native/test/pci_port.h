#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// storeCommand and AddressAllocator for vitest; see test/pci/pci_port.ts.
void define_pci_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
