#include "addon/served_board.h"

#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/board_function.h"
#include "served/served_function.h"
#include "served/served_look.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace fpga_verbs::addon {

namespace {

constexpr uint64_t nanoseconds_of_millisecond = 1'000'000;

const char* name_of(served::ServedNotice::Kind kind) {
  using enum served::ServedNotice::Kind;
  switch (kind) {
  case opened:
    return "opened";
  case closed:
    return "closed";
  case refused:
    return "refused";
  }
  return "";
}

const char* name_of(served::ServedFacts::State state) {
  using enum served::ServedFacts::State;
  switch (state) {
  case serving:
    return "serving";
  case busy:
    return "busy";
  case silent:
    return "silent";
  case absent:
    break;
  }
  return "absent";
}

Napi::Value facts_of(Napi::Env env, const served::ServedFacts& facts) {
  if (facts.state == served::ServedFacts::State::absent)
    return env.Undefined();
  Napi::Array open = Napi::Array::New(env);
  for (uint32_t function = 0; function < facts.functions; ++function)
    if ((facts.open >> function & 1) != 0)
      open.Set(open.Length(), function);
  Napi::Object object = Napi::Object::New(env);
  object["state"] = name_of(facts.state);
  object["underlyingFunctions"] = facts.functions;
  object["firstFunction"] = facts.first_function;
  object["open"] = open;
  return object;
}

} // namespace

Napi::Function ServedBoard::define(Napi::Env env) {
  return DefineClass(env, "ServedBoard",
                     {
                         InstanceMethod<&ServedBoard::take_notices>("takeNotices"),
                         InstanceMethod<&ServedBoard::work>("work"),
                         InstanceMethod<&ServedBoard::close_method>("close"),
                     });
}

Napi::Value ServedBoard::make(const std::shared_ptr<board::EmulatedBoard>& board,
                              const Napi::Value& options) {
  const Napi::Env env = options.Env();
  served::ServedBoardOptions given;
  Fields fields(options, "options of a served board");
  fields.required(env, "path");
  fields.read("path", given.path);
  fields.read("firstFunction", given.first_function);
  fields.read("memoryPerClient", given.memory_per_client, uint64_t{1} << 40);
  uint64_t milliseconds = given.open_within / nanoseconds_of_millisecond;
  fields.read("openWithin", milliseconds, uint64_t{1} << 32);
  given.open_within = milliseconds * nanoseconds_of_millisecond;
  fields.refuse_unknown();
  std::string failure;
  auto served = served::ServedBoard::make(board, given, failure);
  if (served == nullptr)
    throw Napi::Error::New(env, "no board is served at " + given.path + ": " + failure);
  return AddonData::make(&AddonData::served_board, env, served);
}

Napi::Value ServedBoard::make(Napi::Env env, std::unique_ptr<served::ServedBoard> served,
                              const std::shared_ptr<OpenFunction>& owner) {
  const Napi::Object object = AddonData::make(&AddonData::served_board, env, served);
  ServedBoard* const made = Unwrap(object);
  made->owner_ = owner;
  owner->children.insert(made);
  return object;
}

ServedBoard::~ServedBoard() { close(); }

ServedBoard::ServedBoard(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  served_ =
      std::move(AddonData::given<std::unique_ptr<served::ServedBoard>>(info.Env(), "ServedBoard", "serve"));
}

Napi::Value ServedBoard::take_notices(const Napi::CallbackInfo& info) {
  if (served_ == nullptr)
    throw closed_error(info.Env(), "the served board");
  Napi::Array array = Napi::Array::New(info.Env());
  for (const served::ServedNotice& notice : served_->take_notices()) {
    Napi::Object object = Napi::Object::New(info.Env());
    object["kind"] = name_of(notice.kind);
    object["underlyingFunction"] = notice.underlying_function;
    object["process"] = notice.process;
    object["reason"] = notice.reason;
    array.Set(array.Length(), object);
  }
  return array;
}

Napi::Value ServedBoard::work(const Napi::CallbackInfo& info) {
  if (served_ == nullptr)
    throw closed_error(info.Env(), "the served board");
  const served::ServedWork work = served_->work();
  Napi::Object object = Napi::Object::New(info.Env());
  object["turns"] = static_cast<double>(work.turns);
  object["units"] = static_cast<double>(work.units);
  object["mostUnitsInTurn"] = static_cast<double>(work.most_units_in_turn);
  return object;
}

void ServedBoard::close_method(const Napi::CallbackInfo&) { close(); }

void ServedBoard::close() {
  served_.reset();
  if (owner_ != nullptr)
    owner_->children.erase(this);
  owner_.reset();
}

Napi::Value open_served(const Napi::CallbackInfo& info) {
  if (!info[0].IsString())
    throw Napi::TypeError::New(info.Env(), "path must be a string");
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  const uint32_t number =
      info[1].IsUndefined() ? served::any_function : double_word(info[1], "underlyingFunction");
  served::OpenFailure failure;
  const bool observes = info[2].ToBoolean();
  std::shared_ptr<board::BoardFunction> function =
      observes ? served::ServedFunction::observe(path, number, failure)
               : served::ServedFunction::open(path, number, failure);
  if (function == nullptr) {
    const Napi::Error error = Napi::Error::New(info.Env(), "board at " + path + ": " + failure.text);
    error.Value().Set("code", Napi::String::New(info.Env(), failure.code));
    throw error;
  }
  return BoardFunction::make(info.Env(), std::move(function));
}

Napi::Value look_at_served(const Napi::CallbackInfo& info) {
  constexpr uint64_t longest = 60'000; // milliseconds
  if (!info[0].IsArray())
    throw Napi::TypeError::New(info.Env(), "paths must be an array of strings");
  const auto given = info[0].As<Napi::Array>();
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < given.Length(); ++i)
    paths.push_back(given.Get(i).ToString().Utf8Value());
  const std::chrono::milliseconds timeout(whole_number(info[1], "milliseconds", longest));
  Napi::Array all = Napi::Array::New(info.Env());
  for (const served::ServedFacts& facts : served::look_at_served(paths, timeout))
    all.Set(all.Length(), facts_of(info.Env(), facts));
  return all;
}

} // namespace fpga_verbs::addon
