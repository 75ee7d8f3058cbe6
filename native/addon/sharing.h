#pragma once

#include "addon/open_function.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// Shares the observation of an open function with other processes; see BoardFunction in lib/board/addon.ts.
// Error: why it cannot be.
Napi::Value share_observation(Napi::Env env, const std::shared_ptr<OpenFunction>& open,
                              const Napi::Value& options);

// A management command of the driver of a function whose queues sharing has taken over.
Napi::Value execute_management(Napi::Env env, OpenFunction& open, const Napi::Value& command);

} // namespace fpga_verbs::addon
