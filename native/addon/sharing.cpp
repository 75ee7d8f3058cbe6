#include "addon/sharing.h"

#include "addon/arguments.h"
#include "addon/served_board.h"
#include "board/emulated_board.h"
#include "board/emulated_function.h"
#include "served/board_source.h"
#include "served/served_board.h"
#include "served/shared_observation.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace fpga_verbs::addon {

namespace {

[[noreturn]] void refuse(Napi::Env env, const char* code, const std::string& text) {
  const Napi::Error error = Napi::Error::New(env, text);
  error.Value().Set("code", Napi::String::New(env, code));
  throw error;
}

// The observation through the device, made once for a function: its driver has given up its management queues
// to it.
std::shared_ptr<served::SharedObservation> through_device(Napi::Env env, OpenFunction& open,
                                                          const board::EmulatedFunction* emulated,
                                                          unsigned underlying_function) {
  if (open.observation != nullptr)
    return open.observation;
  // The driver's thread uses its handle of an emulated function; the server's thread gets its own.
  std::shared_ptr<board::BoardFunction> function = open.function;
  if (emulated != nullptr)
    function = emulated->board()->open(underlying_function);
  std::string failure;
  open.observation = served::SharedObservation::make(std::move(function), underlying_function, failure);
  if (open.observation == nullptr)
    refuse(env, "ENOMEM", failure);
  return open.observation;
}

} // namespace

Napi::Value share_observation(Napi::Env env, const std::shared_ptr<OpenFunction>& open,
                              const Napi::Value& options) {
  std::string path;
  bool asks_device = false;
  Fields fields(options, "options of sharing");
  fields.required(env, "path");
  fields.read("path", path);
  const uint32_t number = double_word(fields.required(env, "underlyingFunction"), "underlyingFunction");
  fields.read("throughDevice", asks_device);
  fields.refuse_unknown();
  if (open->function->facts().backend == "serve")
    refuse(env, "ENOTSUP",
           "the server of the board hands out its observation already; expected: observers of it");
  const auto* const emulated = dynamic_cast<const board::EmulatedFunction*>(open->function.get());
  const bool is_through_device = asks_device || emulated == nullptr;
  std::unique_ptr<served::ServedSource> source;
  if (is_through_device)
    source = std::make_unique<served::SharedObservationSource>(through_device(env, *open, emulated, number));
  else
    source = std::make_unique<served::SharedBoardSource>(emulated->board(), number);
  std::string failure;
  auto made = served::ServedBoard::observed(std::move(source), path, failure);
  if (made == nullptr)
    refuse(env, "EINVAL", "nothing is shared at " + path + ": " + failure);
  Napi::Object object = ServedBoard::make(env, std::move(made), open).As<Napi::Object>();
  object.Set("throughDevice", is_through_device);
  return object;
}

Napi::Value execute_management(Napi::Env env, OpenFunction& open, const Napi::Value& command) {
  if (open.observation == nullptr)
    refuse(env, "EINVAL", "the driver of the function has its management queues itself");
  spec::ManagementCommand fields;
  if (!command.IsTypedArray() || command.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array ||
      command.As<Napi::TypedArray>().ByteLength() != sizeof fields)
    throw Napi::TypeError::New(env,
                               "command must be a Uint8Array of " + std::to_string(sizeof fields) + " bytes");
  std::memcpy(&fields, command.As<Napi::Uint8Array>().Data(), sizeof fields);
  const auto answer = open.observation->management().ask(fields);
  if (!answer)
    return env.Undefined();
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, sizeof *answer);
  std::memcpy(bytes.Data(), &*answer, sizeof *answer);
  return bytes;
}

} // namespace fpga_verbs::addon
