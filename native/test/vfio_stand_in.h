#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// useVfioStandIn for JavaScript; see test/pci/pci_port.ts.
void define_vfio_stand_in(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
