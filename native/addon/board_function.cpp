#include "addon/board_function.h"

#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/command_writer.h"
#include "addon/dma_memory.h"
#include "addon/doorbell_probe.h"
#include "addon/foreign_memory.h"
#include "addon/interrupt.h"
#include "addon/observed_values.h"
#include "addon/sharing.h"
#include "addon/watch.h"

#include <utility>
#include <vector>

namespace fpga_verbs::addon {

using board::DmaRights;

Napi::Function BoardFunction::define(Napi::Env env) {
  return DefineClass(env, "BoardFunction",
                     {
                         InstanceMethod<&BoardFunction::read32>("read32"),
                         InstanceMethod<&BoardFunction::write32>("write32"),
                         InstanceMethod<&BoardFunction::write64>("write64"),
                         InstanceMethod<&BoardFunction::fence>("fence"),
                         InstanceMethod<&BoardFunction::advance>("advance"),
                         InstanceMethod<&BoardFunction::let_time_pass>("letTimePass"),
                         InstanceMethod<&BoardFunction::allocate_memory>("allocateMemory"),
                         InstanceMethod<&BoardFunction::map>("map"),
                         InstanceMethod<&BoardFunction::unmap>("unmap"),
                         InstanceMethod<&BoardFunction::command_writer>("commandWriter"),
                         InstanceMethod<&BoardFunction::doorbell_probe>("doorbellProbe"),
                         InstanceMethod<&BoardFunction::interrupt>("interrupt"),
                         InstanceMethod<&BoardFunction::removal>("removal"),
                         InstanceMethod<&BoardFunction::watch>("watch"),
                         InstanceMethod<&BoardFunction::access>("access"),
                         InstanceMethod<&BoardFunction::queue_pairs>("queuePairs"),
                         InstanceMethod<&BoardFunction::regions>("regions"),
                         InstanceMethod<&BoardFunction::share_observation>("shareObservation"),
                         InstanceMethod<&BoardFunction::execute_management>("executeManagement"),
                         InstanceMethod<&BoardFunction::facts>("facts"),
                         InstanceMethod<&BoardFunction::close>("close"),
                     });
}

Napi::Value BoardFunction::make(Napi::Env env, std::shared_ptr<board::BoardFunction> function) {
  return AddonData::make(&AddonData::board_function, env, function);
}

BoardFunction::BoardFunction(const Napi::CallbackInfo& info)
    : ObjectWrap(info), open_(std::make_shared<OpenFunction>()) {
  open_->function =
      AddonData::given<std::shared_ptr<board::BoardFunction>>(info.Env(), "BoardFunction", "open");
  const AddonData& data = AddonData::of(info.Env());
  calls_ = data.calls;
  number_ = calls_->add(open_);
  Value().Set("number", number_);
  Value().Set("calls", data.calls_object.Value());
}

BoardFunction::~BoardFunction() {
  if (calls_ != nullptr)
    calls_->remove_function(number_);
}

board::BoardFunction& BoardFunction::open(Napi::Env env) const {
  if (open_->function == nullptr)
    throw closed_error(env, "the function of the board");
  return *open_->function;
}

Napi::Value BoardFunction::read32(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), open(info.Env()).read32(bar_number(info[0]), bar_offset(info[1], 4)));
}

void BoardFunction::write32(const Napi::CallbackInfo& info) {
  open(info.Env()).write32(bar_number(info[0]), bar_offset(info[1], 4), double_word(info[2], "value"));
}

void BoardFunction::write64(const Napi::CallbackInfo& info) {
  const uint64_t low = double_word(info[2], "low");
  const uint64_t high = double_word(info[3], "high");
  open(info.Env()).write64(bar_number(info[0]), bar_offset(info[1], 8), low | high << 32);
}

void BoardFunction::fence(const Napi::CallbackInfo& info) { open(info.Env()).fence(); }

Napi::Value BoardFunction::advance(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), open(info.Env()).advance());
}

void BoardFunction::let_time_pass(const Napi::CallbackInfo& info) { open(info.Env()).let_time_pass(); }

Napi::Value BoardFunction::allocate_memory(const Napi::CallbackInfo& info) {
  open(info.Env());
  const uint64_t bytes = whole_number(info[0], "bytes", uint64_t{1} << 40);
  if (bytes == 0)
    throw Napi::RangeError::New(info.Env(), "bytes is 0, but must be at least 1");
  return DmaMemory::allocate(info.Env(), open_, bytes);
}

Napi::Value BoardFunction::map(const Napi::CallbackInfo& info) {
  DmaRights rights = DmaRights::read_write;
  if (!info[1].IsUndefined()) {
    const std::string name = info[1].IsString() ? info[1].As<Napi::String>().Utf8Value() : "";
    if (name != "read" && name != "write" && name != "read_write")
      throw Napi::TypeError::New(info.Env(), "rights must be one of read, write, read_write");
    rights = name == "read" ? DmaRights::read : name == "write" ? DmaRights::write : DmaRights::read_write;
  }
  // From here on no code of the caller runs that could move the memory or close the function.
  board::BoardFunction& function = open(info.Env());
  const ForeignMemory memory = foreign_memory(info[0]);
  if (const char* const refusal = function.foreign_memory_refusal()) {
    const Napi::Error error = Napi::Error::New(info.Env(), refusal);
    error.Value().Set("code", Napi::String::New(info.Env(), "ENOTSUP"));
    throw error;
  }
  const auto address = function.map_dma(memory.data, memory.bytes, rights);
  if (!address)
    throw out_of(info.Env(), function.mapping_failure(), memory.bytes);
  open_->foreign.emplace(*address, Napi::Persistent(memory.buffer));
  return Napi::BigInt::New(info.Env(), *address);
}

void BoardFunction::unmap(const Napi::CallbackInfo& info) {
  board::BoardFunction& function = open(info.Env());
  const uint64_t address = big_number(info[0], "address");
  if (open_->foreign.erase(address) == 0)
    throw Napi::RangeError::New(info.Env(), "nothing is mapped at " + info[0].ToString().Utf8Value());
  function.unmap_dma(address);
}

Napi::Value BoardFunction::command_writer(const Napi::CallbackInfo& info) {
  open(info.Env());
  return make_command_writer(info.Env(), DmaMemory::of(info[0]).allocation(), bar_number(info[1]));
}

Napi::Value BoardFunction::doorbell_probe(const Napi::CallbackInfo& info) {
  open(info.Env());
  return make_doorbell_probe(info.Env(), open_, info[0]);
}

Napi::Value BoardFunction::interrupt(const Napi::CallbackInfo& info) {
  open(info.Env());
  const uint32_t vector = double_word(info[0], "vector");
  if (!info[1].IsFunction())
    throw Napi::TypeError::New(info.Env(), "callback must be a function");
  return Interrupt::watch(info.Env(), open_, vector, info[1].As<Napi::Function>());
}

Napi::Value BoardFunction::removal(const Napi::CallbackInfo& info) {
  open(info.Env());
  if (!info[0].IsFunction())
    throw Napi::TypeError::New(info.Env(), "callback must be a function");
  return Interrupt::watch_removal(info.Env(), open_, info[0].As<Napi::Function>());
}

board::Observation& BoardFunction::observation(Napi::Env env) const {
  if (board::Observation* const observation = open(env).observation())
    return *observation;
  throw observation_error(env, "only an observer of an emulated board can watch its functions");
}

Napi::Value BoardFunction::watch(const Napi::CallbackInfo& info) {
  observation(info.Env());
  return Watch::make(info.Env(), open_, info[0]);
}

void BoardFunction::access(const Napi::CallbackInfo& info) {
  board::Observation& observed = observation(info.Env());
  const unsigned bar = bar_number(info[0]);
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array ||
      info[1].As<Napi::TypedArray>().ElementLength() % 2 != 0)
    throw Napi::TypeError::New(info.Env(), "accesses must be a Uint32Array of pairs");
  auto words = info[1].As<Napi::Uint32Array>();
  std::vector<board::RegisterAccess> accesses;
  for (size_t i = 0; i < words.ElementLength(); i += 2)
    accesses.push_back({.place = words[i], .value = words[i + 1]});
  observed.access(bar, accesses);
  for (size_t i = 0; i < accesses.size(); ++i)
    words[2 * i + 1] = accesses[i].value;
}

Napi::Value BoardFunction::queue_pairs(const Napi::CallbackInfo& info) {
  return all_of(info.Env(), observation(info.Env()), &board::Observation::queue_pairs);
}

Napi::Value BoardFunction::regions(const Napi::CallbackInfo& info) {
  return all_of(info.Env(), observation(info.Env()), &board::Observation::regions);
}

Napi::Value BoardFunction::share_observation(const Napi::CallbackInfo& info) {
  open(info.Env());
  return addon::share_observation(info.Env(), open_, info[0]);
}

Napi::Value BoardFunction::execute_management(const Napi::CallbackInfo& info) {
  open(info.Env());
  return addon::execute_management(info.Env(), *open_, info[0]);
}

Napi::Value BoardFunction::facts(const Napi::CallbackInfo& info) {
  const board::BoardFacts& facts = open(info.Env()).facts();
  Napi::Object object = Napi::Object::New(info.Env());
  object["backend"] = facts.backend;
  object["progress"] = facts.progress;
  object["clock"] = facts.clock;
  object["mapping"] = facts.mapping == board::CommandMapping::uncached ? "uncached" : "write_combining";
  object["storeBytes"] = facts.store_bytes;
  object["commandStore"] = facts.command_store;
  object["underlyingFunction"] = facts.underlying_function;
  object["interruptVectors"] = facts.interrupt_vectors;
  return object;
}

void BoardFunction::close(const Napi::CallbackInfo&) { open_->close(); }

} // namespace fpga_verbs::addon
