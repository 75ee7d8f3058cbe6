#include "addon/watch.h"

#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/observed_values.h"
#include "board/observation.h"

#include <algorithm>
#include <array>
#include <string>

namespace fpga_verbs::addon {

namespace {

constexpr std::array<const char*, board::watch_kinds> kinds{"kicks", "events", "packets", "completions"};

// An object is made over this.
struct Given {
  std::shared_ptr<OpenFunction> owner;
  board::WatchKind kind;
  std::unique_ptr<board::Watch> watch;
};

const char* why_not_watched(board::WatchKind kind) {
  switch (kind) {
  case board::WatchKind::packets:
    return "packets are watched through the control function, 0, of an emulated board";
  case board::WatchKind::completions:
    return "completions are watched on emulated boards, not through a device";
  case board::WatchKind::kicks:
  case board::WatchKind::events:
    break;
  }
  return "the board has no memory or event queue left for what is watched";
}

} // namespace

Napi::Function Watch::define(Napi::Env env) {
  return DefineClass(env, "Watch",
                     {
                         InstanceMethod<&Watch::take>("take"),
                         InstanceMethod<&Watch::take_events>("takeEvents"),
                         InstanceMethod<&Watch::lost>("lost"),
                         InstanceMethod<&Watch::close_method>("close"),
                     });
}

Napi::Value Watch::make(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, const Napi::Value& kind) {
  const std::string name = kind.IsString() ? kind.As<Napi::String>().Utf8Value() : "";
  const auto found = std::ranges::find(kinds, name);
  if (found == kinds.end())
    throw Napi::TypeError::New(env, "kind must be one of kicks, events, packets, completions");
  Given given{.owner = owner, .kind = static_cast<board::WatchKind>(found - kinds.begin()), .watch = nullptr};
  given.watch = owner->function->observation()->watch(given.kind);
  if (given.watch == nullptr)
    throw observation_error(env, why_not_watched(given.kind));
  return AddonData::make(&AddonData::watch, env, given);
}

Watch::Watch(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  Given& given = AddonData::given<Given>(info.Env(), "Watch", "BoardFunction.watch");
  owner_ = given.owner;
  kind_ = given.kind;
  watch_ = std::move(given.watch);
  owner_->children.insert(this);
  const std::span<const uint8_t> preamble = watch_->preamble();
  Napi::Uint8Array copy = Napi::Uint8Array::New(info.Env(), preamble.size());
  std::ranges::copy(preamble, copy.Data());
  Value().Set("preamble", copy);
}

Watch::~Watch() { close(); }

void Watch::close() {
  watch_.reset();
  if (owner_ != nullptr)
    owner_->children.erase(this);
  owner_.reset();
}

board::WatchReader& Watch::reader(Napi::Env env) const {
  if (watch_ == nullptr)
    throw closed_error(env, "the watch");
  return watch_->reader();
}

Napi::Value Watch::take(const Napi::CallbackInfo& info) {
  if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
    throw Napi::TypeError::New(info.Env(), "to must be a Uint8Array");
  auto to = info[0].As<Napi::Uint8Array>();
  const size_t taken = reader(info.Env()).take(std::span(to.Data(), to.ByteLength()));
  return Napi::Number::New(info.Env(), static_cast<double>(taken));
}

Napi::Value Watch::take_events(const Napi::CallbackInfo& info) {
  if (kind_ != board::WatchKind::events)
    throw Napi::TypeError::New(info.Env(), "events are taken of a watch of events");
  std::array<board::WatchedEvent, 64> events;
  const std::span to(reinterpret_cast<uint8_t*>(events.data()), sizeof events);
  const size_t bytes = reader(info.Env()).take(to);
  Napi::Array array = Napi::Array::New(info.Env());
  for (size_t i = 0; i < bytes / sizeof(board::WatchedEvent); ++i)
    array.Set(array.Length(), to_object(info.Env(), events[i]));
  return array;
}

Napi::Value Watch::lost(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(reader(info.Env()).lost()));
}

void Watch::close_method(const Napi::CallbackInfo&) { close(); }

} // namespace fpga_verbs::addon
