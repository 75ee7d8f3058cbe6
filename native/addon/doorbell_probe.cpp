#include "addon/doorbell_probe.h"

#include "addon/arguments.h"
#include "addon/dma_memory.h"
#include "board/doorbell_probe.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <algorithm>
#include <string>
#include <vector>

namespace fpga_verbs::addon {

namespace {

// The memory that the probe uses is held as long as the probe.
struct Probe {
  std::shared_ptr<OpenFunction> function;
  std::vector<std::shared_ptr<Allocation>> memory;
  board::DoorbellProbe probe;
};

// `bytes` of a memory that the fields name, from `offset` on.
uint8_t* memory_of(Napi::Env env, Fields& fields, const char* name, size_t offset, size_t bytes,
                   std::vector<std::shared_ptr<Allocation>>& held) {
  const Napi::Value value = fields.required(env, name);
  const std::shared_ptr<Allocation>& allocation = DmaMemory::of(value).allocation();
  if (offset > allocation->memory.bytes() || bytes > allocation->memory.bytes() - offset)
    throw Napi::RangeError::New(
        value.Env(), std::string(name) + " has " + std::to_string(allocation->memory.bytes()) + " B, but " +
                         std::to_string(bytes) + " B at " + std::to_string(offset) + " are needed");
  held.push_back(allocation);
  return static_cast<uint8_t*>(allocation->memory.data()) + offset;
}

board::DoorbellSetup setup_of(const Napi::Value& value, std::vector<std::shared_ptr<Allocation>>& held) {
  constexpr unsigned largest_log2 = 16;
  const Napi::Env env = value.Env();
  Fields fields(value, "the options of a doorbell probe");
  board::DoorbellSetup setup;
  setup.virtual_collect_buffer_bar = bar_number(fields.required(env, "virtualCollectBufferBar"));
  setup.virtual_collect_buffer_offset = bar_offset(fields.required(env, "virtualCollectBufferOffset"), 64);
  fields.read("commandBytes", setup.command_bytes, spec::command_bytes);
  fields.read("entryOffset", setup.entry_offset);
  fields.read("sendQueueLog2", setup.send_queue_log2, largest_log2);
  fields.read("firstSequenceNumber", setup.first_sequence_number, 0xffff);
  fields.read("recordsLog2", setup.records_log2, largest_log2);
  setup.command = memory_of(env, fields, "entryArea", setup.entry_offset, spec::command_bytes, held);
  setup.references = memory_of(env, fields, "references", 0,
                               size_t{spec::WorkQueueReference::bytes} << setup.send_queue_log2, held);
  setup.records =
      memory_of(env, fields, "records", 0, size_t{spec::KickRecord::bytes} << setup.records_log2, held);
  setup.records_head = memory_of(env, fields, "recordsHead", 0, spec::RingHead::bytes, held);
  setup.clock_bar = bar_number(fields.required(env, "clockBar"));
  setup.clock_offset = bar_offset(fields.required(env, "clockOffset"), 8);
  fields.read("clockFrequency", setup.clock_frequency);
  fields.read("patience", setup.patience);
  uint32_t cpu = 0;
  if (fields.has("cpu")) {
    fields.read("cpu", cpu, 4095);
    setup.cpu = static_cast<int>(cpu);
  }
  fields.refuse_unknown();
  return setup;
}

Napi::Float64Array array_of(Napi::Env env, const std::vector<double>& samples) {
  Napi::Float64Array array = Napi::Float64Array::New(env, samples.size());
  std::ranges::copy(samples, array.Data());
  return array;
}

Napi::Value run(const Napi::CallbackInfo& info, Probe& probe) {
  constexpr uint64_t most_posts = 100'000'000;
  const Napi::Env env = info.Env();
  if (probe.function->function == nullptr)
    throw closed_error(env, "the function of the board");
  const uint64_t count = whole_number(info[0], "count", most_posts);
  const board::DoorbellRun run = probe.probe.run(count, info[1].ToBoolean());
  if (!run.complete)
    throw Napi::Error::New(env, "no kick record came: the command was refused, or the device is gone");
  const board::DoorbellSamples& samples = run.samples;
  Napi::Object result = Napi::Object::New(env);
  result["nanosecondsPerPost"] = run.nanoseconds_per_post;
  result["clockUncertainty"] = run.clock_uncertainty;
  result["callToLastStore"] = array_of(env, samples.call_to_last_store);
  result["fence"] = array_of(env, samples.fence);
  result["lastStoreToKick"] = array_of(env, samples.last_store_to_kick);
  result["firstWriteToKick"] = array_of(env, samples.first_write_to_kick);
  result["kickToRecord"] = array_of(env, samples.kick_to_record);
  result["lastStoreToRecord"] = array_of(env, samples.last_store_to_record);
  return result;
}

} // namespace

Napi::Value make_doorbell_probe(Napi::Env env, const std::shared_ptr<OpenFunction>& function,
                                const Napi::Value& setup) {
  std::vector<std::shared_ptr<Allocation>> held;
  const board::DoorbellSetup read = setup_of(setup, held);
  auto probe = std::make_shared<Probe>(
      Probe{function, std::move(held), board::DoorbellProbe(*function->function, read)});
  Napi::Object object = Napi::Object::New(env);
  object["run"] =
      Napi::Function::New(env, [probe](const Napi::CallbackInfo& info) { return run(info, *probe); }, "run");
  return object;
}

} // namespace fpga_verbs::addon
