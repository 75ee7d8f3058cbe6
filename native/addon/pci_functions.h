#pragma once

#include <napi.h>

namespace fpga_verbs::addon {

// openSysfsFunction, openVfioFunction and commandStores in JavaScript; see lib/board/addon.ts.
void define_pci_functions(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::addon
