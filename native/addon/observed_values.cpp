#include "addon/observed_values.h"

#include <algorithm>

namespace fpga_verbs::addon {

Napi::Object to_object(Napi::Env env, const hca::QueuePairFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object["number"] = facts.number;
  object["virtualQueuePair"] = facts.virtual_queue_pair;
  object["timeWaitLeft"] = facts.time_wait_left;
  object["underlyingFunction"] = facts.underlying_function;
  object["serviceType"] = static_cast<uint32_t>(facts.service_type);
  object["state"] = static_cast<uint32_t>(facts.state);
  object["level"] = static_cast<uint32_t>(facts.level);
  object["hold"] = static_cast<uint32_t>(facts.hold);
  object["protectionDomain"] = facts.protection_domain;
  object["port"] = facts.port;
  object["sendCompletionQueue"] = facts.send_completion_queue;
  object["receiveCompletionQueue"] = facts.receive_completion_queue;
  object["sharedReceiveQueue"] = facts.shared_receive_queue;
  object["destinationQueuePair"] = facts.destination_queue_pair;
  Napi::Uint8Array gid = Napi::Uint8Array::New(env, facts.destination_gid.size());
  std::ranges::copy(facts.destination_gid, gid.Data());
  object["destinationGid"] = gid;
  object["destinationLocalIdentifier"] = static_cast<uint32_t>(facts.destination_local_identifier);
  object["next"] = static_cast<uint32_t>(facts.next);
  object["posted"] = static_cast<uint32_t>(facts.posted);
  object["acknowledged"] = static_cast<uint32_t>(facts.acknowledged);
  object["receiveHead"] = static_cast<uint32_t>(facts.receive_head);
  object["receiveTail"] = static_cast<uint32_t>(facts.receive_tail);
  object["nextPsn"] = facts.next_psn;
  object["expectedPsn"] = facts.expected_psn;
  return object;
}

Napi::Object to_object(Napi::Env env, const hca::RegionFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object["key"] = facts.key;
  object["underlyingFunction"] = facts.underlying_function;
  object["protectionDomain"] = facts.protection_domain;
  object["accessFlags"] = facts.access_flags;
  object["base"] = Napi::BigInt::New(env, facts.base);
  object["length"] = Napi::BigInt::New(env, facts.length);
  object["pageLog2"] = facts.page_log2;
  object["inFlight"] = facts.in_flight;
  object["windows"] = facts.windows;
  object["isWindow"] = facts.is_window;
  object["quiesced"] = facts.quiesced;
  return object;
}

Napi::Object to_object(Napi::Env env, const board::WatchedEvent& event) {
  Napi::Object object = Napi::Object::New(env);
  object["underlyingFunction"] = event.underlying_function;
  object["type"] = static_cast<uint32_t>(event.entry.type());
  object["reason"] = event.entry.reason();
  object["offset"] = event.entry.offset();
  object["object"] = event.entry.object();
  object["detail"] = Napi::BigInt::New(env, event.entry.detail());
  object["timestamp"] = Napi::BigInt::New(env, event.entry.timestamp());
  return object;
}

Napi::Error observation_error(Napi::Env env, const char* why) {
  const Napi::Error error = Napi::Error::New(env, why);
  error.Value().Set("code", Napi::String::New(env, "ENOTSUP"));
  return error;
}

} // namespace fpga_verbs::addon
