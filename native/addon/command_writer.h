#pragma once

#include "addon/dma_memory.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// An object that copies commands from `memory` to BAR `bar`; see CommandWriter in lib/board/addon.ts.
Napi::Object make_command_writer(Napi::Env env, const std::shared_ptr<Allocation>& memory, unsigned bar);

} // namespace fpga_verbs::addon
