#pragma once

#include "addon/open_function.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// Function `run` of a probe of an open function; see BoardFunction.doorbellProbe in lib/board/addon.ts.
Napi::Value make_doorbell_probe(Napi::Env env, const std::shared_ptr<OpenFunction>& function,
                                const Napi::Value& setup);

} // namespace fpga_verbs::addon
