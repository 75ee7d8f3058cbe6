#include "test/collect_buffer_port.h"

#include "test/hosted_port.h"
#include "test/parameters_of.h"

#include <cstring>
#include <optional>

namespace fpga_verbs::test {

namespace {

uint16_t buffer_number(const Napi::CallbackInfo& info) { return static_cast<uint16_t>(number(info, 0)); }

Napi::Value optional_number(Napi::Env env, std::optional<uint16_t> value) {
  return value ? Napi::Value(Napi::Number::New(env, *value)) : env.Null();
}

// Bytes, then the byte enables (default: all) and the function that owns the BAR (default: unknown).
hca::BarWrite bar_write(const Napi::CallbackInfo& info, spec::RegionType region) {
  hca::BarWrite write;
  write.region = region;
  write.page = static_cast<uint16_t>(number(info, 0));
  write.offset = number(info, 1);
  const auto bytes = info[2].As<Napi::Uint8Array>();
  write.length = static_cast<uint32_t>(bytes.ByteLength());
  write.byte_enables = ~uint64_t{0} >> (bytes.ByteLength() < 64 ? 64 - bytes.ByteLength() : 0);
  if (info[3].IsBigInt())
    write.byte_enables = big_number(info[3]);
  if (info[4].IsNumber())
    write.underlying_function = static_cast<uint8_t>(number(info, 4));
  write.data = bytes.Data();
  return write;
}

template <class DataUnit> Napi::Value bytes_of(Napi::Env env, const DataUnit& unit) {
  auto bytes = Napi::Uint8Array::New(env, sizeof(unit));
  std::memcpy(bytes.Data(), &unit, sizeof(unit));
  return bytes;
}

template <class Link> Napi::Value take_all(Napi::Env env, Link& link) {
  auto units = Napi::Array::New(env);
  for (uint32_t index = 0; !link.empty(); ++index, link.pop())
    units[index] = bytes_of(env, link.front());
  return units;
}

template <class Value> Napi::Value to_number(Napi::Env env, Value value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

} // namespace

Napi::Function CollectBufferPort::define(Napi::Env env) {
  using Port = CollectBufferPort;
  return DefineClass(env, "CollectBufferPort",
                     {
                         InstanceMethod<&Port::define_queue_pair>("defineQueuePair"),
                         InstanceMethod<&Port::write>("write"),
                         InstanceMethod<&Port::write_burst>("writeBurst"),
                         InstanceMethod<&Port::write_management_page>("writeManagementPage"),
                         InstanceMethod<&Port::can_accept_write>("canAcceptWrite"),
                         InstanceMethod<&Port::step>("step"),
                         InstanceMethod<&Port::next_deadline>("nextDeadline"),
                         InstanceMethod<&Port::set_time>("setTime"),
                         InstanceMethod<&Port::set_half_written_limit>("setHalfWrittenLimit"),
                         InstanceMethod<&Port::take_kicks>("takeKicks"),
                         InstanceMethod<&Port::take_notices>("takeNotices"),
                         InstanceMethod<&Port::take_management_units>("takeManagementUnits"),
                         InstanceMethod<&Port::take_events>("takeEvents"),
                         InstanceMethod<&Port::release>("release"),
                         InstanceMethod<&Port::take_dedicated>("takeDedicated"),
                         InstanceMethod<&Port::take_management>("takeManagement"),
                         InstanceMethod<&Port::lock_management>("lockManagement"),
                         InstanceMethod<&Port::unlock_management>("unlockManagement"),
                         InstanceMethod<&Port::break_management_lock>("breakManagementLock"),
                         InstanceMethod<&Port::cancel>("cancel"),
                         InstanceMethod<&Port::close>("close"),
                         InstanceMethod<&Port::open>("open"),
                         InstanceMethod<&Port::set_bar>("setBar"),
                         InstanceMethod<&Port::set_allotment>("setAllotment"),
                         InstanceMethod<&Port::reset_function>("resetFunction"),
                         InstanceMethod<&Port::reset>("reset"),
                         InstanceMethod<&Port::physical>("physical"),
                         InstanceMethod<&Port::virtual_buffer>("virtual"),
                         InstanceMethod<&Port::groups>("groups"),
                         InstanceMethod<&Port::counters>("counters"),
                         InstanceMethod<&Port::verify>("verify"),
                         InstanceMethod<&Port::set_kick_records>("setKickRecords"),
                         InstanceMethod<&Port::sent>("sent"),
                         InstanceAccessor<&Port::memory>("memory"),
                         InstanceAccessor<&Port::base>("base"),
                     });
}

CollectBufferPort::CollectBufferPort(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<CollectBufferPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      host_(1u << 16), kick_records_(counters_, host_, clock_, events_) {
  make();
}

// Resets the device by constructing its blocks again.
void CollectBufferPort::make() {
  buffers_ = hca::PhysicalCollectBuffers(parameters_);
  collect_buffer_.emplace(hca::CollectBufferPort::Ports{parameters_, counters_, clock_, buffers_,
                                                        queue_pairs_, events_, kick_records_,
                                                        kicks_collected_, post_notices_, management_units_});
}

void CollectBufferPort::define_queue_pair(const Napi::CallbackInfo& info) {
  spec::QueuePairControl& control = queue_pairs_.define(number(info, 0), number(info, 1));
  control.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(number(info, 2)));
  control.set_checksum_secret(number(info, 3));
}

void CollectBufferPort::write(const Napi::CallbackInfo& info) {
  collect_buffer_->write(bar_write(info, spec::RegionType::virtual_collect_buffer));
}

Napi::Value CollectBufferPort::write_burst(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(
      info.Env(), collect_buffer_->write_burst(bar_write(info, spec::RegionType::virtual_collect_buffer)));
}

void CollectBufferPort::write_management_page(const Napi::CallbackInfo& info) {
  hca::BarWrite write = bar_write(info, spec::RegionType::underlying_function);
  write.offset += spec::underlying_function::management_page;
  collect_buffer_->write_management_page(write.page, write);
}

Napi::Value CollectBufferPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), collect_buffer_->can_accept_write());
}

Napi::Value CollectBufferPort::step(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), collect_buffer_->step());
}

Napi::Value CollectBufferPort::next_deadline(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), collect_buffer_->next_deadline());
}

void CollectBufferPort::set_time(const Napi::CallbackInfo& info) {
  clock_.set(big_number(info[0]), info[1].IsBigInt() ? big_number(info[1]) : 0);
}

void CollectBufferPort::set_half_written_limit(const Napi::CallbackInfo& info) {
  collect_buffer_->set_half_written_limit(big_number(info[0]));
}

Napi::Value CollectBufferPort::take_kicks(const Napi::CallbackInfo& info) {
  return take_all(info.Env(), kicks_collected_);
}

Napi::Value CollectBufferPort::take_notices(const Napi::CallbackInfo& info) {
  return take_all(info.Env(), post_notices_);
}

Napi::Value CollectBufferPort::take_management_units(const Napi::CallbackInfo& info) {
  return take_all(info.Env(), management_units_);
}

Napi::Value CollectBufferPort::take_events(const Napi::CallbackInfo& info) {
  auto events = Napi::Array::New(info.Env());
  for (uint32_t index = 0; index < events_.events.size(); ++index)
    events[index] = bytes_of(info.Env(), events_.events[index]);
  events_.events.clear();
  return events;
}

void CollectBufferPort::release(const Napi::CallbackInfo& info) {
  collect_buffer_->release(buffer_number(info));
}

Napi::Value CollectBufferPort::take_dedicated(const Napi::CallbackInfo& info) {
  return optional_number(info.Env(), collect_buffer_->take_dedicated());
}

Napi::Value CollectBufferPort::take_management(const Napi::CallbackInfo& info) {
  return optional_number(info.Env(), collect_buffer_->take_management());
}

Napi::Value CollectBufferPort::lock_management(const Napi::CallbackInfo& info) {
  return optional_number(info.Env(), collect_buffer_->lock_management(number(info, 0)));
}

void CollectBufferPort::unlock_management(const Napi::CallbackInfo& info) {
  collect_buffer_->unlock_management(number(info, 0));
}

void CollectBufferPort::break_management_lock(const Napi::CallbackInfo& info) {
  collect_buffer_->break_management_lock(buffer_number(info));
}

void CollectBufferPort::cancel(const Napi::CallbackInfo& info) { collect_buffer_->cancel(number(info, 0)); }

void CollectBufferPort::close(const Napi::CallbackInfo& info) { collect_buffer_->close(number(info, 0)); }

void CollectBufferPort::open(const Napi::CallbackInfo& info) { collect_buffer_->open(number(info, 0)); }

Napi::Value CollectBufferPort::set_bar(const Napi::CallbackInfo& info) {
  const hca::VirtualCollectBufferBar bar{
      .base = number(info, 1), .count = number(info, 2), .low = number(info, 3), .high = number(info, 4)};
  return Napi::Boolean::New(info.Env(), collect_buffer_->set_bar(number(info, 0), bar));
}

Napi::Value CollectBufferPort::set_allotment(const Napi::CallbackInfo& info) {
  const hca::CollectAllotment allotment{
      .low = number(info, 1), .high = number(info, 2), .shared = number(info, 3)};
  const bool changed = collect_buffer_->set_allotment(number(info, 0), allotment);
  collect_buffer_->keep_guarantees();
  return Napi::Boolean::New(info.Env(), changed);
}

void CollectBufferPort::reset_function(const Napi::CallbackInfo& info) {
  collect_buffer_->reset_function(number(info, 0));
}

void CollectBufferPort::reset(const Napi::CallbackInfo&) { make(); }

Napi::Value CollectBufferPort::physical(const Napi::CallbackInfo& info) {
  const hca::PhysicalCollectBuffer& pcb = buffers_[buffer_number(info)];
  auto object = Napi::Object::New(info.Env());
  object["state"] = to_number(info.Env(), pcb.state);
  object["group"] = to_number(info.Env(), pcb.group);
  object["qualityOfServiceLevel"] = to_number(info.Env(), pcb.quality_of_service_level);
  object["underlyingFunction"] = to_number(info.Env(), pcb.underlying_function);
  object["virtualCollectBuffer"] = to_number(info.Env(), pcb.virtual_collect_buffer);
  object["scoreboard"] = Napi::BigInt::New(info.Env(), pcb.scoreboard);
  object["mask"] = Napi::BigInt::New(info.Env(), pcb.scoreboard_mask);
  object["data"] = bytes_of(info.Env(), pcb.data);
  return object;
}

Napi::Value CollectBufferPort::virtual_buffer(const Napi::CallbackInfo& info) {
  const hca::CollectBufferPort::Inspection vcb = collect_buffer_->inspect(number(info, 0));
  auto object = Napi::Object::New(info.Env());
  object["state"] = to_number(info.Env(), vcb.state);
  object["refusal"] = to_number(info.Env(), vcb.refusal);
  object["physicalCollectBuffer"] = to_number(info.Env(), vcb.physical_collect_buffer);
  return object;
}

Napi::Value CollectBufferPort::groups(const Napi::CallbackInfo& info) {
  const hca::CollectGroupTable& table = collect_buffer_->groups();
  const unsigned function = number(info, 0);
  auto available = Napi::Array::New(info.Env());
  auto in_use = Napi::Array::New(info.Env());
  for (uint32_t group = 0; group < 3; ++group) {
    available[group] =
        to_number(info.Env(), table.available(function, static_cast<spec::CollectGroup>(group)));
    in_use[group] = to_number(info.Env(), table.in_use(function, static_cast<spec::CollectGroup>(group)));
  }
  auto object = Napi::Object::New(info.Env());
  object["available"] = available;
  object["inUse"] = in_use;
  object["borrowed"] = to_number(info.Env(), table.borrowed(function));
  object["sharedTotal"] = to_number(info.Env(), table.shared_total());
  object["sharedAvailable"] = to_number(info.Env(), table.shared_available());
  return object;
}

Napi::Value CollectBufferPort::counters(const Napi::CallbackInfo& info) {
  const hca::FunctionCounters& counters = counters_.function[number(info, 0)];
  auto object = Napi::Object::New(info.Env());
  object["kicks"] = to_number(info.Env(), counters.kicks);
  object["sendQueueModeKicks"] = to_number(info.Env(), counters.send_queue_mode_kicks);
  object["commandsRefused"] = to_number(info.Env(), counters.commands_refused);
  object["writesDropped"] = to_number(info.Env(), counters.writes_dropped);
  object["checksumMismatches"] = to_number(info.Env(), counters.checksum_mismatches);
  object["commandsCancelled"] = to_number(info.Env(), counters.commands_cancelled);
  object["halfWrittenCommands"] = to_number(info.Env(), counters.half_written_commands);
  object["kickRecordsWritten"] = to_number(info.Env(), counters.kick_records_written);
  object["kickRecordsDropped"] = to_number(info.Env(), counters.kick_records_dropped);
  object["dmaFaults"] = to_number(info.Env(), counters.dma_faults);
  object["writesUnclaimed"] = to_number(info.Env(), counters_.device.writes_unclaimed);
  object["hostReads"] = to_number(info.Env(), host_.reads());
  return object;
}

Napi::Value CollectBufferPort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = collect_buffer_->verify();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

void CollectBufferPort::set_kick_records(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  spec::underlying_function::KickRecordControl control;
  control.set_enable(number(info, 1));
  control.set_entries_log2(number(info, 2));
  control.set_all_functions(info[5].ToBoolean() ? 1 : 0);
  kick_records_.set_address(function, big_number(info[3]));
  kick_records_.set_head_address(function, big_number(info[4]));
  kick_records_.set_control(function, control);
}

void CollectBufferPort::sent(const Napi::CallbackInfo& info) {
  const auto unit = format_of<spec::KickUnit>(info[0]);
  kick_records_.sent(unit, static_cast<uint16_t>(number(info, 1)), static_cast<spec::Opcode>(number(info, 2)),
                     big_number(info[3]));
}

Napi::Value CollectBufferPort::memory(const Napi::CallbackInfo& info) {
  return Napi::ArrayBuffer::New(info.Env(), host_.memory(), host_.bytes());
}

Napi::Value CollectBufferPort::base(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), TestHost::base);
}

} // namespace fpga_verbs::test
