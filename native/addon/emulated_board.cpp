#include "addon/emulated_board.h"

#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/board_function.h"
#include "addon/board_options.h"
#include "addon/board_values.h"
#include "addon/served_board.h"
#include "board/emulated_function.h"
#include "board/viewed_function.h"

#include <string>
#include <system_error>
#include <utility>

namespace fpga_verbs::addon {

namespace {

// Limit of a stepped board's clock: derived times, such as the end of a timeout, fit in 64 bits.
constexpr uint64_t last_tick = (uint64_t{1} << 63) - 1;
// Steps after which a stepped board counts as never coming to rest: some seconds.
constexpr uint64_t usual_work = 10'000'000;

template <class Items> Napi::Array to_array(Napi::Env env, const Items& items) {
  Napi::Array array = Napi::Array::New(env, items.size());
  uint32_t index = 0;
  for (const auto& item : items)
    array.Set(index++, to_object(env, item));
  return array;
}

Napi::Error capture_error(Napi::Env env, const std::string& path, int failure) {
  return Napi::Error::New(env, "the capture file " + path +
                                   " cannot be written: " + std::generic_category().message(failure));
}

} // namespace

Napi::Function EmulatedBoard::define(Napi::Env env) {
  return DefineClass(env, "EmulatedBoard",
                     {
                         InstanceMethod<&EmulatedBoard::open>("open"),
                         InstanceMethod<&EmulatedBoard::open_free>("openFree"),
                         InstanceMethod<&EmulatedBoard::observe>("observe"),
                         InstanceMethod<&EmulatedBoard::serve>("serve"),
                         InstanceMethod<&EmulatedBoard::post>("post"),
                         InstanceMethod<&EmulatedBoard::step>("step"),
                         InstanceMethod<&EmulatedBoard::run_until_idle>("runUntilIdle"),
                         InstanceMethod<&EmulatedBoard::advance_time>("advanceTime"),
                         InstanceMethod<&EmulatedBoard::now>("now"),
                         InstanceMethod<&EmulatedBoard::inject>("inject"),
                         InstanceMethod<&EmulatedBoard::injected>("injected"),
                         InstanceMethod<&EmulatedBoard::clear_faults>("clearFaults"),
                         InstanceMethod<&EmulatedBoard::impair>("impair"),
                         InstanceMethod<&EmulatedBoard::impaired>("impaired"),
                         InstanceMethod<&EmulatedBoard::clear_impairments>("clearImpairments"),
                         InstanceMethod<&EmulatedBoard::arrive>("arrive"),
                         InstanceMethod<&EmulatedBoard::verify>("verify"),
                         InstanceMethod<&EmulatedBoard::start_trace>("startTrace"),
                         InstanceMethod<&EmulatedBoard::stop_trace>("stopTrace"),
                         InstanceMethod<&EmulatedBoard::take_trace>("takeTrace"),
                         InstanceMethod<&EmulatedBoard::replay>("replay"),
                         InstanceMethod<&EmulatedBoard::start_packet_trace>("startPacketTrace"),
                         InstanceMethod<&EmulatedBoard::stop_packet_trace>("stopPacketTrace"),
                         InstanceMethod<&EmulatedBoard::take_packets>("takePackets"),
                         InstanceMethod<&EmulatedBoard::start_capture>("startCapture"),
                         InstanceMethod<&EmulatedBoard::stop_capture>("stopCapture"),
                         InstanceMethod<&EmulatedBoard::board_number>("boardNumber"),
                         InstanceMethod<&EmulatedBoard::attach_memory>("attachMemory"),
                         InstanceMethod<&EmulatedBoard::detach_memory>("detachMemory"),
                         InstanceMethod<&EmulatedBoard::take_dma_faults>("takeDmaFaults"),
                         InstanceMethod<&EmulatedBoard::counters>("counters"),
                         InstanceMethod<&EmulatedBoard::close>("close"),
                     });
}

EmulatedBoard::EmulatedBoard(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const AddonData& data = AddonData::of(info.Env());
  const NamedBoardOptions named = board_options(info[0], data.usual);
  std::string failure;
  board_ = data.make_board(named.name, named.options, failure);
  if (board_ != nullptr) {
    if (!named.capture.empty() && !board_->captures())
      capture(info.Env(), named.capture);
    return;
  }
  throw Napi::Error::New(info.Env(), failure);
}

// Reading the properties of an argument runs code of the caller, which may close the board: the board is
// looked up after that.
board::EmulatedBoard& EmulatedBoard::board(Napi::Env env) const {
  if (board_ == nullptr)
    throw closed_error(env, "the board");
  return *board_;
}

board::SteppedProgress& EmulatedBoard::stepped(Napi::Env env, const char* what) const {
  board::SteppedProgress* const stepped = board(env).stepped();
  if (stepped == nullptr)
    throw Napi::Error::New(env, std::string(what) + " needs a board with progress stepped");
  return *stepped;
}

uint32_t EmulatedBoard::function_number(const Napi::Value& value) const {
  const uint32_t number = double_word(value, "underlyingFunction");
  const unsigned count = board(value.Env()).options().underlying_functions;
  if (number >= count)
    throw Napi::RangeError::New(value.Env(), "underlying function " + std::to_string(number) +
                                                 " does not exist: the board has " + std::to_string(count));
  return number;
}

Napi::Value EmulatedBoard::open(const Napi::CallbackInfo& info) {
  board::EmulatedBoard& emulated = board(info.Env());
  return BoardFunction::make(info.Env(), emulated.open(function_number(info[0])));
}

Napi::Value EmulatedBoard::open_free(const Napi::CallbackInfo& info) {
  std::shared_ptr<board::EmulatedFunction> function = board(info.Env()).open_free();
  if (function == nullptr)
    return info.Env().Undefined();
  return BoardFunction::make(info.Env(), std::move(function));
}

Napi::Value EmulatedBoard::observe(const Napi::CallbackInfo& info) {
  board::EmulatedBoard& emulated = board(info.Env());
  const unsigned number = function_number(info[0]);
  return BoardFunction::make(info.Env(), std::make_shared<board::ViewedFunction>(
                                             board::FunctionView(board_, number), emulated.facts_of(number)));
}

Napi::Value EmulatedBoard::serve(const Napi::CallbackInfo& info) {
  board(info.Env());
  const std::shared_ptr<board::EmulatedBoard> served =
      board_; // a getter of the options may close this handle
  return ServedBoard::make(served, info[0]);
}

void EmulatedBoard::post(const Napi::CallbackInfo& info) {
  const board::Transaction given = transaction(info[0]);
  if (given.kind != board::TransactionKind::write)
    throw Napi::TypeError::New(info.Env(), "only writes can be posted");
  board(info.Env()).post(given);
}

Napi::Value EmulatedBoard::step(const Napi::CallbackInfo& info) {
  const uint64_t count = whole_number(info[0], "count", UINT64_MAX);
  return Napi::Number::New(info.Env(), static_cast<double>(stepped(info.Env(), "step").step(count)));
}

Napi::Value EmulatedBoard::run_until_idle(const Napi::CallbackInfo& info) {
  constexpr uint64_t usual_limit = 1'000'000;
  const uint64_t limit = info[0].IsUndefined() ? usual_limit : whole_number(info[0], "limit", UINT64_MAX);
  const uint64_t done = stepped(info.Env(), "runUntilIdle").run(limit);
  if (done == limit)
    throw Napi::Error::New(info.Env(),
                           "the device is not idle after " + std::to_string(limit) + " units of work");
  return Napi::Number::New(info.Env(), static_cast<double>(done));
}

void EmulatedBoard::advance_time(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  board::SteppedProgress& progress = stepped(env, "advanceTime");
  const uint64_t ticks = big_number(info[0], "ticks");
  const uint64_t limit = info[1].IsUndefined() ? usual_work : whole_number(info[1], "limit", UINT64_MAX);
  const uint64_t now = board_->now();
  if (ticks > last_tick - now)
    throw Napi::RangeError::New(env, "ticks is " + std::to_string(ticks) + ", but must be at most " +
                                         std::to_string(last_tick - now) + ": the clock is at " +
                                         std::to_string(now) + " and ends at 2^63 - 1");
  if (!progress.advance_to(now + ticks, limit))
    throw too_much_work(env, limit);
}

// The clock stops at the time at which the work was interrupted.
Napi::Error EmulatedBoard::too_much_work(Napi::Env env, uint64_t limit) const {
  return Napi::Error::New(
      env, "the device is at tick " + std::to_string(board(env).now()) + " after " + std::to_string(limit) +
               " units of work, and not yet at the time; expected: fewer ticks at a time, or a "
               "larger limit of work");
}

Napi::Value EmulatedBoard::now(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), board(info.Env()).now());
}

Napi::Value EmulatedBoard::inject(const Napi::CallbackInfo& info) {
  const board::FaultRule rule = fault_rule(info[0]);
  return Napi::Number::New(info.Env(), board(info.Env()).inject(rule));
}

Napi::Value EmulatedBoard::injected(const Napi::CallbackInfo& info) {
  const uint32_t number = double_word(info[0], "id");
  const auto happened = board(info.Env()).injected(number);
  if (!happened)
    throw Napi::RangeError::New(info.Env(), "there is no fault " + std::to_string(number));
  return Napi::Number::New(info.Env(), static_cast<double>(*happened));
}

void EmulatedBoard::clear_faults(const Napi::CallbackInfo& info) {
  board::EmulatedBoard& emulated = board(info.Env());
  if (info[0].IsUndefined())
    return emulated.clear_faults();
  const uint32_t number = double_word(info[0], "id");
  if (!emulated.clear_fault(number))
    throw Napi::RangeError::New(info.Env(), "there is no fault " + std::to_string(number));
}

Napi::Value EmulatedBoard::impair(const Napi::CallbackInfo& info) {
  const board::LinkImpairment rule = link_impairment(info[0]);
  return Napi::Number::New(info.Env(), board(info.Env()).impair(rule));
}

Napi::Value EmulatedBoard::impaired(const Napi::CallbackInfo& info) {
  const uint32_t number = double_word(info[0], "id");
  const auto counters = board(info.Env()).impaired(number);
  if (!counters)
    throw Napi::RangeError::New(info.Env(), "there is no impairment " + std::to_string(number));
  return to_object(info.Env(), *counters);
}

void EmulatedBoard::clear_impairments(const Napi::CallbackInfo& info) {
  board::EmulatedBoard& emulated = board(info.Env());
  if (info[0].IsUndefined())
    return emulated.clear_impairments();
  const uint32_t number = double_word(info[0], "id");
  if (!emulated.clear_impairment(number))
    throw Napi::RangeError::New(info.Env(), "there is no impairment " + std::to_string(number));
}

void EmulatedBoard::arrive(const Napi::CallbackInfo& info) {
  const uint32_t port = info[1].IsUndefined() ? 1 : double_word(info[1], "port");
  if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
    throw Napi::TypeError::New(info.Env(), "packet must be a Uint8Array");
  const auto packet = info[0].As<Napi::Uint8Array>();
  if (packet.ByteLength() == 0 || packet.ByteLength() > spec::packet_buffer_bytes)
    throw Napi::RangeError::New(info.Env(), "a packet has 1 to " + std::to_string(spec::packet_buffer_bytes) +
                                                " B, not " + std::to_string(packet.ByteLength()));
  if (!board(info.Env()).arrive(port, {packet.Data(), packet.ByteLength()}))
    throw Napi::RangeError::New(info.Env(), "nothing is attached to port " + std::to_string(port));
}

Napi::Value EmulatedBoard::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = board(info.Env()).verify(info[0].ToBoolean());
  return wrong == nullptr ? info.Env().Undefined() : Napi::String::New(info.Env(), wrong);
}

void EmulatedBoard::start_trace(const Napi::CallbackInfo& info) {
  constexpr uint64_t usual_capacity = 65'536;
  constexpr uint64_t largest_capacity = uint64_t{1} << 24;
  board(info.Env())
      .start_trace(info[0].IsUndefined() ? usual_capacity
                                         : whole_number(info[0], "capacity", largest_capacity));
}

void EmulatedBoard::stop_trace(const Napi::CallbackInfo& info) { board(info.Env()).stop_trace(); }

Napi::Value EmulatedBoard::take_trace(const Napi::CallbackInfo& info) {
  return to_array(info.Env(), board(info.Env()).take_trace());
}

Napi::Value EmulatedBoard::replay(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  stepped(env, "replay");
  if (!info[0].IsArray())
    throw Napi::TypeError::New(env, "transactions must be an array");
  const auto transactions = info[0].As<Napi::Array>();
  uint32_t differing = 0;
  for (uint32_t i = 0; i < transactions.Length(); ++i) {
    const Napi::HandleScope scope(env);
    const board::Transaction next = transaction(transactions.Get(i));
    if (next.time > last_tick)
      throw Napi::RangeError::New(env, "time of transaction " + std::to_string(i) + " is " +
                                           std::to_string(next.time) + ", but the clock ends at 2^63 - 1");
    board::SteppedProgress& progress = stepped(env, "replay");
    if (!progress.advance_to(next.time, usual_work))
      throw too_much_work(env, usual_work);
    if (!progress.play(next))
      ++differing;
  }
  return Napi::Number::New(env, differing);
}

void EmulatedBoard::start_packet_trace(const Napi::CallbackInfo& info) {
  constexpr uint64_t usual_capacity = 4096;
  constexpr uint64_t largest_capacity = uint64_t{1} << 20;
  board(info.Env())
      .start_packet_trace(info[0].IsUndefined() ? usual_capacity
                                                : whole_number(info[0], "capacity", largest_capacity));
}

void EmulatedBoard::stop_packet_trace(const Napi::CallbackInfo& info) {
  board(info.Env()).stop_packet_trace();
}

Napi::Value EmulatedBoard::take_packets(const Napi::CallbackInfo& info) {
  return to_array(info.Env(), board(info.Env()).take_packets());
}

void EmulatedBoard::capture(Napi::Env env, const std::string& path) {
  captured_ = path;
  if (const int failure = board(env).start_capture(path); failure != 0)
    throw capture_error(env, path, failure);
}

void EmulatedBoard::start_capture(const Napi::CallbackInfo& info) {
  if (!info[0].IsString())
    throw Napi::TypeError::New(info.Env(), "path must be a string");
  capture(info.Env(), info[0].As<Napi::String>().Utf8Value());
}

void EmulatedBoard::stop_capture(const Napi::CallbackInfo& info) {
  if (const int failure = board(info.Env()).stop_capture(); failure != 0)
    throw capture_error(info.Env(), captured_, failure);
}

Napi::Value EmulatedBoard::board_number(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), board(info.Env()).board_number());
}

void EmulatedBoard::attach_memory(const Napi::CallbackInfo& info) {
  constexpr unsigned page = 4096;
  const uint32_t number = function_number(info[0]);
  if (!info[1].IsString())
    throw Napi::TypeError::New(info.Env(), "path must be a string");
  const std::string path = info[1].As<Napi::String>().Utf8Value();
  std::optional<board::RemappingRoot> root;
  if (Fields fields(info[3], "remapping"); !info[3].IsUndefined()) {
    root.emplace();
    root->root_table = big_number(fields.required(info.Env(), "rootTable"), "rootTable");
    fields.read("sourceId", root->source_id);
  }
  const int failure = board(info.Env()).attach_memory(number, path, bar_offset(info[2], page), root);
  if (failure != 0)
    throw Napi::Error::New(info.Env(),
                           path + " cannot be attached: " + std::generic_category().message(failure));
}

void EmulatedBoard::detach_memory(const Napi::CallbackInfo& info) {
  board(info.Env()).detach_memory(function_number(info[0]));
}

Napi::Value EmulatedBoard::take_dma_faults(const Napi::CallbackInfo& info) {
  return to_array(info.Env(), board(info.Env()).take_dma_faults());
}

Napi::Value EmulatedBoard::counters(const Napi::CallbackInfo& info) {
  board::EmulatedBoard& emulated = board(info.Env());
  return to_object(info.Env(), emulated.counters(), emulated.trace_dropped());
}

void EmulatedBoard::close(const Napi::CallbackInfo&) { board_.reset(); }

} // namespace fpga_verbs::addon
