#include "addon/doorbell_probe.h"

#include "addon/arguments.h"
#include "addon/dma_memory.h"
#include "board/doorbell_probe.h"
#include "spec/commands.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <algorithm>
#include <string>
#include <vector>

namespace fpga_verbs::addon {

namespace {

// The probe keeps its memory alive.
struct Probe {
  std::shared_ptr<OpenFunction> function;
  std::vector<std::shared_ptr<Allocation>> memory;
  board::DoorbellProbe probe;
  uint64_t timeout = 0; // nanoseconds
  int cpu = -1;
};

// A required number, `least` to `most`.
uint64_t required_number(Napi::Env env, Fields& fields, const char* name, uint64_t least, uint64_t most) {
  const uint64_t number = whole_number(fields.required(env, name), name, most);
  if (number < least)
    throw Napi::RangeError::New(env, std::string(name) + " is " + std::to_string(number) +
                                         ", but must be at least " + std::to_string(least));
  return number;
}

// A required number, a multiple of `unit`.
uint32_t required_multiple(Napi::Env env, Fields& fields, const char* name, uint64_t least, uint64_t most,
                           uint64_t unit) {
  const uint64_t number = required_number(env, fields, name, least, most);
  if (number % unit != 0)
    throw Napi::RangeError::New(env, std::string(name) + " is " + std::to_string(number) +
                                         ", but must be a multiple of " + std::to_string(unit));
  return static_cast<uint32_t>(number);
}

// `bytes` of the memory in the fields, from `offset` on.
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
  constexpr uint64_t largest_log2 = 16;
  constexpr uint64_t dword_bytes = 4;
  constexpr uint64_t largest_frequency = 10'000'000'000;
  const Napi::Env env = value.Env();
  Fields fields(value, "the options of a doorbell probe");
  board::DoorbellSetup setup;
  setup.virtual_collect_buffer_bar = bar_number(fields.required(env, "virtualCollectBufferBar"));
  setup.virtual_collect_buffer_offset = bar_offset(fields.required(env, "virtualCollectBufferOffset"), 64);
  setup.command_bytes = required_multiple(env, fields, "commandBytes", spec::CommandHeader::bytes,
                                          spec::command_bytes, dword_bytes);
  setup.entry_offset =
      required_multiple(env, fields, "entryOffset", 0, UINT32_MAX, spec::work_queue_entry_alignment);
  setup.send_queue_log2 =
      static_cast<unsigned>(required_number(env, fields, "sendQueueLog2", 0, largest_log2));
  setup.first_sequence_number =
      static_cast<uint32_t>(required_number(env, fields, "firstSequenceNumber", 0, 0xffff));
  setup.records_log2 = static_cast<unsigned>(required_number(env, fields, "recordsLog2", 0, largest_log2));
  const uint64_t most_buffers = uint64_t{1} << setup.send_queue_log2;
  fields.read("virtualCollectBuffers", setup.virtual_collect_buffers, static_cast<uint32_t>(most_buffers));
  if (setup.virtual_collect_buffers == 0)
    throw Napi::RangeError::New(env, "virtualCollectBuffers is 0, but must be at least 1");
  fields.read("virtualCollectBufferStride", setup.virtual_collect_buffer_stride, uint32_t{1} << 20);
  setup.command = memory_of(env, fields, "entryArea", setup.entry_offset,
                            size_t{setup.virtual_collect_buffers} * spec::command_bytes, held);
  setup.references = memory_of(env, fields, "references", 0,
                               size_t{spec::WorkQueueReference::bytes} << setup.send_queue_log2, held);
  setup.records =
      memory_of(env, fields, "records", 0, size_t{spec::KickRecord::bytes} << setup.records_log2, held);
  setup.records_head = memory_of(env, fields, "recordsHead", 0, spec::RingHead::bytes, held);
  setup.completions_log2 =
      static_cast<unsigned>(required_number(env, fields, "completionsLog2", 0, largest_log2));
  setup.completions = memory_of(env, fields, "completions", 0,
                                size_t{spec::CompletionQueueEntry::bytes} << setup.completions_log2, held);
  setup.completions_head = memory_of(env, fields, "completionsHead", 0, spec::RingHead::bytes, held);
  setup.clock_bar = bar_number(fields.required(env, "clockBar"));
  setup.clock_offset = bar_offset(fields.required(env, "clockOffset"), 8);
  setup.clock_frequency = required_number(env, fields, "clockFrequency", 1, largest_frequency);
  fields.read("timeout", setup.timeout);
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

Napi::Error failure_error(Napi::Env env, const Probe& probe, const board::DoorbellRun& run) {
  const std::string command = "command " + std::to_string(run.sequence_number);
  switch (run.failure) {
  case board::DoorbellFailure::not_pinned:
    return Napi::RangeError::New(env, "cpu is " + std::to_string(probe.cpu) +
                                          ", but this thread may not run on that CPU");
  case board::DoorbellFailure::foreign_record:
    return Napi::Error::New(
        env, "the record after " + command +
                 " belongs to another command: another program posts, or the ring was not empty");
  case board::DoorbellFailure::no_completion:
    return Napi::Error::New(env,
                            "no completion of " + command + " came within " + std::to_string(probe.timeout) +
                                " ns, though it was kicked: it was not signaled, or no peer acknowledges it");
  case board::DoorbellFailure::command_failed:
    return Napi::Error::New(env, command + " failed: " + spec::name(run.status));
  case board::DoorbellFailure::no_record:
  case board::DoorbellFailure::none:
    break;
  }
  return Napi::Error::New(env, "no kick record of " + command + " came within " +
                                   std::to_string(probe.timeout) +
                                   " ns: the command was refused, the ring is full or off, or the device "
                                   "is gone");
}

// The number of posts in the first argument. Throws if the probe cannot run.
size_t posts_of(const Napi::CallbackInfo& info, const Probe& probe) {
  constexpr uint64_t most_posts = 100'000'000;
  const Napi::Env env = info.Env();
  if (probe.function->function == nullptr)
    throw closed_error(env, "the function of the board");
  if (!std::ranges::all_of(probe.memory, [](const auto& allocation) { return allocation->mapped; }))
    throw closed_error(env, "a memory of the doorbell probe");
  const uint64_t count = whole_number(info[0], "count", most_posts);
  if (count == 0)
    throw Napi::RangeError::New(env, "count is 0, but must be at least 1");
  return count;
}

Napi::Value rate(const Napi::CallbackInfo& info, Probe& probe) {
  const Napi::Env env = info.Env();
  const size_t count = posts_of(info, probe);
  const auto per_fence = static_cast<unsigned>(whole_number(info[1], "commandsPerFence", UINT16_MAX));
  if (per_fence == 0)
    throw Napi::RangeError::New(env, "commandsPerFence is 0, but must be at least 1");
  const board::DoorbellRun run = probe.probe.rate(count, per_fence);
  if (run.failure != board::DoorbellFailure::none)
    throw failure_error(env, probe, run);
  Napi::Object result = Napi::Object::New(env);
  result["nanosecondsPerPost"] = run.nanoseconds_per_post;
  result["nanosecondsPerStore"] = run.nanoseconds_per_store;
  return result;
}

Napi::Value run(const Napi::CallbackInfo& info, Probe& probe) {
  using Poller = board::DoorbellProbe::Poller;
  const Napi::Env env = info.Env();
  const size_t count = posts_of(info, probe);
  const Poller poller = info[2].ToBoolean() ? Poller::looks_all_the_time : Poller::paced;
  const board::DoorbellRun run = probe.probe.run(count, info[1].ToBoolean(), poller);
  if (run.failure != board::DoorbellFailure::none)
    throw failure_error(env, probe, run);
  const board::DoorbellSamples& samples = run.samples;
  Napi::Object result = Napi::Object::New(env);
  result["nanosecondsPerPost"] = run.nanoseconds_per_post;
  result["nanosecondsPerStamp"] = run.nanoseconds_per_stamp;
  result["clockUncertainty"] = run.clock_uncertainty;
  result["callToLastStore"] = array_of(env, samples.call_to_last_store);
  result["fence"] = array_of(env, samples.fence);
  result["lastStoreToKick"] = array_of(env, samples.last_store_to_kick);
  result["firstWriteToKick"] = array_of(env, samples.first_write_to_kick);
  result["kickToRecord"] = array_of(env, samples.kick_to_record);
  result["postToCompletion"] = array_of(env, samples.post_to_completion);
  result["lastStoreToRecord"] = array_of(env, samples.last_store_to_record);
  return result;
}

} // namespace

Napi::Value make_doorbell_probe(Napi::Env env, const std::shared_ptr<OpenFunction>& function,
                                const Napi::Value& setup) {
  std::vector<std::shared_ptr<Allocation>> held;
  const board::DoorbellSetup read = setup_of(setup, held);
  if (function->function == nullptr) // closed by a getter of the options
    throw closed_error(env, "the function of the board");
  auto probe = std::make_shared<Probe>(Probe{
      function, std::move(held), board::DoorbellProbe(*function->function, read), read.timeout, read.cpu});
  Napi::Object object = Napi::Object::New(env);
  object["run"] =
      Napi::Function::New(env, [probe](const Napi::CallbackInfo& info) { return run(info, *probe); }, "run");
  object["rate"] = Napi::Function::New(
      env, [probe](const Napi::CallbackInfo& info) { return rate(info, *probe); }, "rate");
  return object;
}

} // namespace fpga_verbs::addon
