#pragma once

#include "board/observation.h"
#include "board/watches.h"

#include <napi.h>

#include <cstdint>
#include <vector>

namespace fpga_verbs::addon {

// Between what an observer is handed out and the interfaces of these names in lib/board/addon.ts.
Napi::Object to_object(Napi::Env env, const hca::QueuePairFacts& facts);
Napi::Object to_object(Napi::Env env, const hca::RegionFacts& facts);
Napi::Object to_object(Napi::Env env, const board::WatchedEvent& event);

// All objects of a kind, asked for a piece at a time.
template <class Facts>
Napi::Value all_of(Napi::Env env, board::Observation& observation,
                   uint32_t (board::Observation::*find)(uint32_t, std::vector<Facts>&)) {
  Napi::Array all = Napi::Array::New(env);
  uint32_t next = 0;
  do {
    std::vector<Facts> found;
    const uint32_t from = next;
    next = (observation.*find)(from, found);
    for (const Facts& facts : found)
      all.Set(all.Length(), to_object(env, facts));
    if (next <= from)
      break; // no server of ours
  } while (next != 0);
  return all;
}

Napi::Error observation_error(Napi::Env env, const char* why); // with the code ENOTSUP

} // namespace fpga_verbs::addon
