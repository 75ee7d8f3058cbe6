#pragma once

#include "board/board_counters.h"
#include "board/board_host.h"
#include "board/fault_rules.h"
#include "board/link_impairment.h"
#include "board/packet_trace.h"
#include "board/transaction.h"

#include <napi.h>

namespace fpga_verbs::addon {

// Between what a board hands out or takes and the interfaces of these names in lib/board/addon.ts.

Napi::Object to_object(Napi::Env env, const board::Transaction& transaction);

// TypeError or RangeError: it is not one that could be on the link.
board::Transaction transaction(const Napi::Value& value);

// TypeError or RangeError: a field is unknown or wrong.
board::FaultRule fault_rule(const Napi::Value& value);

// TypeError or RangeError: a field is unknown or wrong.
board::LinkImpairment link_impairment(const Napi::Value& value);
Napi::Object to_object(Napi::Env env, const board::LinkImpairmentCounters& counters);

Napi::Object to_object(Napi::Env env, const board::DmaFault& fault);
Napi::Object to_object(Napi::Env env, const board::PortPacket& packet);
Napi::Object to_object(Napi::Env env, const board::BoardCounters& counters, uint64_t trace_dropped);

} // namespace fpga_verbs::addon
