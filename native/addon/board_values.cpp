#include "addon/board_values.h"

#include "addon/arguments.h"
#include "link/address.h"
#include "spec/parameters.h"

#include <cstring>

namespace fpga_verbs::addon {

using board::FaultKind;
using board::Transaction;
using board::TransactionKind;

namespace {

constexpr unsigned line_bytes = 64;

uint64_t enables_of(unsigned bytes) { return ~uint64_t{0} >> (line_bytes - bytes); }

// A TLP enables whole DWORDs except its first and last one, and in each of these one contiguous run.
bool legal_enables(uint64_t enables, unsigned length) {
  if (enables == 0 || (enables & ~enables_of(length)) != 0)
    return false;
  const uint64_t first = enables & 0xf;
  const uint64_t last = enables >> (length - 4) & 0xf;
  if (length == 4)
    return true;
  const uint64_t middle = enables_of(length) & ~uint64_t{0xf} & ~(uint64_t{0xf} << (length - 4));
  return first != 0 && last != 0 && (enables & middle) == middle;
}

const char* name(board::DmaRefusal refusal) {
  switch (refusal) {
  case board::DmaRefusal::not_mapped:
    return "not_mapped";
  case board::DmaRefusal::no_right:
    return "no_right";
  case board::DmaRefusal::injected:
    return "injected";
  case board::DmaRefusal::none:
    break;
  }
  return "none";
}

Napi::Number to_number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

} // namespace

Napi::Object to_object(Napi::Env env, const Transaction& transaction) {
  Napi::Object object = Napi::Object::New(env);
  object["kind"] = transaction.kind == TransactionKind::read ? "read" : "write";
  object["underlyingFunction"] = to_number(env, transaction.underlying_function);
  object["bar"] = to_number(env, transaction.bar);
  object["offset"] = to_number(env, transaction.offset);
  Napi::Uint8Array data = Napi::Uint8Array::New(env, transaction.length);
  std::memcpy(data.Data(), transaction.data.data(), transaction.length);
  object["data"] = data;
  object["byteEnables"] = Napi::BigInt::New(env, transaction.byte_enables);
  object["time"] = Napi::BigInt::New(env, transaction.time);
  return object;
}

board::Transaction transaction(const Napi::Value& value) {
  const Napi::Env env = value.Env();
  Fields fields(value, "transactions");
  Transaction result;
  fields.read_enum("kind", result.kind, {{"write", TransactionKind::write}, {"read", TransactionKind::read}});
  fields.read("underlyingFunction", result.underlying_function, uint64_t{spec::underlying_functions} - 1);
  if (fields.has("bar"))
    result.bar = static_cast<uint8_t>(bar_number(fields.value("bar")));
  if (fields.has("offset"))
    result.offset = bar_offset(fields.value("offset"), 4);
  if (!fields.has("data") || !fields.value("data").IsTypedArray() ||
      fields.value("data").As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
    throw Napi::TypeError::New(env, "data must be a Uint8Array");
  const auto data = fields.value("data").As<Napi::Uint8Array>();
  const size_t length = data.ByteLength();
  if (length == 0 || length % 4 != 0 || result.offset % line_bytes + length > line_bytes ||
      (result.kind == TransactionKind::read && length != 4))
    throw Napi::RangeError::New(
        env, "data is " + std::to_string(length) + " B at offset " + std::to_string(result.offset) +
                 ", but a write is 4 to 64 B, a multiple of 4, within an aligned 64 B, and a "
                 "read is 4 B");
  result.length = static_cast<uint8_t>(length);
  std::memcpy(result.data.data(), data.Data(), length);
  result.byte_enables = enables_of(result.length);
  if (fields.has("byteEnables"))
    result.byte_enables = big_number(fields.value("byteEnables"), "byteEnables");
  if (!legal_enables(result.byte_enables, result.length))
    throw Napi::RangeError::New(
        env, "byteEnables of a transaction leave bytes out in its first and last DWORD only, and "
             "enable none beyond its data");
  if (fields.has("time"))
    result.time = big_number(fields.value("time"), "time");
  fields.refuse_unknown();
  return result;
}

board::FaultRule fault_rule(const Napi::Value& value) {
  Fields fields(value, "fault rules");
  board::FaultRule rule;
  if (!fields.has("kind"))
    throw Napi::TypeError::New(value.Env(), "a fault rule needs a kind");
  fields.read_enum("kind", rule.kind,
                   {{"drop", FaultKind::drop},
                    {"tear", FaultKind::tear},
                    {"delay", FaultKind::delay},
                    {"reorder", FaultKind::reorder},
                    {"read_all_ones", FaultKind::read_all_ones},
                    {"lose_interrupt", FaultKind::lose_interrupt},
                    {"fault_dma", FaultKind::fault_dma},
                    {"slow_dma", FaultKind::slow_dma},
                    {"flip_bits", FaultKind::flip_bits}});
  if (fields.has("underlyingFunction"))
    rule.underlying_function = static_cast<unsigned>(whole_number(
        fields.value("underlyingFunction"), "underlyingFunction", spec::underlying_functions - 1));
  if (fields.has("bar"))
    rule.bar = bar_number(fields.value("bar"));
  if (fields.has("begin"))
    rule.begin = big_number(fields.value("begin"), "begin");
  if (fields.has("end"))
    rule.end = big_number(fields.value("end"), "end");
  fields.read("nth", rule.nth);
  fields.read("count", rule.count);
  fields.read("doubleWords", rule.double_words, 0xffff);
  fields.read("transactions", rule.transactions);
  fields.read("ticks", rule.ticks);
  fields.read("bits", rule.bits, 2);
  fields.read_fraction("probability", rule.probability);
  fields.refuse_unknown();
  if (rule.double_words == 0)
    throw Napi::RangeError::New(value.Env(), "rule.doubleWords is 0, but must have the bit of a DWORD that "
                                             "arrives; a write of which nothing arrives is of the kind drop");
  if (rule.bits == 0)
    throw Napi::RangeError::New(value.Env(),
                                "rule.bits is 0, but must be 1, which the device corrects, or 2, "
                                "which it detects");
  if (rule.kind == FaultKind::slow_dma && rule.ticks == 0)
    throw Napi::RangeError::New(value.Env(), "rule.ticks of slow_dma must be at least 1");
  if (rule.begin >= rule.end)
    throw Napi::RangeError::New(value.Env(), "rule.begin is " + std::to_string(rule.begin) +
                                                 " and rule.end " + std::to_string(rule.end) +
                                                 ", but rule.end must be larger: it is the first that is not "
                                                 "touched");
  if (rule.transactions == 0 && rule.ticks == 0)
    rule.transactions = 1;
  return rule;
}

board::LinkImpairment link_impairment(const Napi::Value& value) {
  constexpr uint64_t queue_pair_numbers = uint64_t{1} << 24;
  constexpr uint64_t longest_delay = uint64_t{1} << 40;
  Fields fields(value, "link impairments");
  board::LinkImpairment rule;
  if (fields.has("fromBoard"))
    rule.from_board =
        static_cast<unsigned>(whole_number(fields.value("fromBoard"), "fromBoard", link::board_numbers - 1));
  if (fields.has("queuePair"))
    rule.queue_pair =
        static_cast<uint32_t>(whole_number(fields.value("queuePair"), "queuePair", queue_pair_numbers - 1));
  if (fields.has("sourceQueuePair"))
    rule.source_queue_pair = static_cast<uint32_t>(
        whole_number(fields.value("sourceQueuePair"), "sourceQueuePair", queue_pair_numbers - 1));
  if (fields.has("lane")) {
    link::Lane lane{};
    fields.read_enum("lane", lane,
                     {{"responses", link::Lane::responses}, {"requests", link::Lane::requests}});
    rule.lane = lane;
  }
  fields.read("nth", rule.nth);
  fields.read("count", rule.count);
  fields.read_fraction("loss", rule.loss);
  fields.read_fraction("duplication", rule.duplication);
  fields.read_fraction("corruption", rule.corruption);
  fields.read_fraction("reordering", rule.reordering);
  fields.read("delay", rule.delay, longest_delay);
  fields.read("reorderDelay", rule.reorder_delay, longest_delay);
  fields.read("rate", rule.rate);
  fields.refuse_unknown();
  return rule;
}

Napi::Object to_object(Napi::Env env, const board::LinkImpairmentCounters& counters) {
  Napi::Object object = Napi::Object::New(env);
  object["packets"] = to_number(env, counters.packets);
  object["lost"] = to_number(env, counters.lost);
  object["duplicated"] = to_number(env, counters.duplicated);
  object["corrupted"] = to_number(env, counters.corrupted);
  object["reordered"] = to_number(env, counters.reordered);
  return object;
}

Napi::Object to_object(Napi::Env env, const board::DmaFault& fault) {
  Napi::Object object = Napi::Object::New(env);
  object["underlyingFunction"] = to_number(env, fault.underlying_function);
  object["address"] = Napi::BigInt::New(env, fault.address);
  object["bytes"] = to_number(env, fault.bytes);
  object["direction"] = fault.write ? "write" : "read";
  object["reason"] = name(fault.reason);
  object["time"] = Napi::BigInt::New(env, fault.time);
  return object;
}

Napi::Object to_object(Napi::Env env, const board::PortPacket& packet) {
  Napi::Object object = Napi::Object::New(env);
  object["direction"] = packet.direction == hca::PacketDirection::in ? "in" : "out";
  object["port"] = to_number(env, packet.port);
  object["time"] = Napi::BigInt::New(env, packet.time);
  Napi::Uint8Array data = Napi::Uint8Array::New(env, packet.bytes.size());
  std::memcpy(data.Data(), packet.bytes.data(), packet.bytes.size());
  object["data"] = data;
  return object;
}

Napi::Object to_object(Napi::Env env, const board::BoardCounters& counters, uint64_t trace_dropped) {
  Napi::Object object = Napi::Object::New(env);
  object["writes"] = to_number(env, counters.writes);
  object["reads"] = to_number(env, counters.reads);
  object["writesUnsupported"] = to_number(env, counters.writes_unsupported);
  object["readsUnsupported"] = to_number(env, counters.reads_unsupported);
  object["writesLost"] = to_number(env, counters.writes_lost);
  object["dmaFaults"] = to_number(env, counters.dma_faults);
  object["interrupts"] = to_number(env, counters.interrupts);
  object["interruptsLost"] = to_number(env, counters.interrupts_lost);
  object["traceDropped"] = to_number(env, trace_dropped);
  object["steps"] = to_number(env, counters.steps);
  return object;
}

} // namespace fpga_verbs::addon
