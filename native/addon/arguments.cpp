#include "addon/arguments.h"

#include <cmath>

namespace fpga_verbs::addon {

namespace {

constexpr uint64_t safe_integer = (uint64_t{1} << 53) - 1;

std::string quoted(const Napi::Value& value) { return value.ToString().Utf8Value(); }

} // namespace

Napi::Error closed_error(Napi::Env env, const char* what) {
  const Napi::Error error = Napi::Error::New(env, std::string(what) + " is closed");
  error.Value().Set("code", Napi::String::New(env, "ERR_CLOSED"));
  return error;
}

uint64_t whole_number(const Napi::Value& value, const char* what, uint64_t maximum) {
  if (!value.IsNumber())
    throw Napi::TypeError::New(value.Env(), std::string(what) + " must be a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  const uint64_t largest = maximum < safe_integer ? maximum : safe_integer;
  if (!(number >= 0 && number <= static_cast<double>(largest) && number == std::floor(number)))
    throw Napi::RangeError::New(value.Env(), std::string(what) + " is " + quoted(value) +
                                                 ", but must be a whole number from 0 to " +
                                                 std::to_string(largest));
  return static_cast<uint64_t>(number);
}

uint64_t big_number(const Napi::Value& value, const char* what) {
  if (!value.IsBigInt())
    return whole_number(value, what, safe_integer);
  bool lossless = false;
  const uint64_t number = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless)
    throw Napi::RangeError::New(value.Env(), std::string(what) + " is " + quoted(value) +
                                                 ", but must be from 0 to 2^64 - 1");
  return number;
}

uint32_t double_word(const Napi::Value& value, const char* what) {
  return static_cast<uint32_t>(whole_number(value, what, UINT32_MAX));
}

unsigned bar_number(const Napi::Value& value) {
  constexpr uint64_t last_bar = 5;
  return static_cast<unsigned>(whole_number(value, "bar", last_bar));
}

uint64_t bar_offset(const Napi::Value& value, unsigned alignment) {
  constexpr uint64_t largest = (uint64_t{1} << 47) - 1;
  const uint64_t offset = whole_number(value, "offset", largest);
  if (offset % alignment != 0)
    throw Napi::RangeError::New(value.Env(), "offset is " + quoted(value) + ", but must be a multiple of " +
                                                 std::to_string(alignment));
  return offset;
}

Fields::Fields(const Napi::Value& object, const char* what) : what_(what) {
  if (object.IsUndefined())
    return;
  if (!object.IsObject())
    throw Napi::TypeError::New(object.Env(), std::string(what) + " must be an object");
  object_ = object.As<Napi::Object>();
}

bool Fields::has(const char* name) {
  if (!object_) {
    known_ += std::string(name) + ",";
    return false;
  }
  const auto [field, is_new] = read_.try_emplace(name);
  if (is_new) {
    known_ += std::string(name) + ",";
    field->second = object_->Get(name);
  }
  return !field->second.IsUndefined();
}

Napi::Value Fields::value(const char* name) { return read_.at(name); }

Napi::Value Fields::required(Napi::Env env, const char* name) {
  if (!has(name))
    throw Napi::TypeError::New(env, std::string(what_) + " must have " + name);
  return value(name);
}

void Fields::read_fraction(const char* name, double& fraction) {
  if (!has(name))
    return;
  const Napi::Value given = value(name);
  const double number = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number <= 1))
    throw Napi::RangeError::New(given.Env(), std::string(name) + " must be a number from 0 to 1");
  fraction = number;
}

void Fields::read(const char* name, bool& flag) {
  if (!has(name))
    return;
  const Napi::Value given = value(name);
  if (!given.IsBoolean())
    throw Napi::TypeError::New(given.Env(), std::string(name) + " must be true or false");
  flag = given.As<Napi::Boolean>().Value();
}

void Fields::read(const char* name, std::string& text) {
  if (!has(name))
    return;
  const Napi::Value given = value(name);
  if (!given.IsString())
    throw Napi::TypeError::New(given.Env(), std::string(name) + " must be a string");
  text = given.As<Napi::String>().Utf8Value();
}

void Fields::refuse_unknown() const {
  if (!object_)
    return;
  const Napi::Array names = object_->GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).ToString().Utf8Value();
    if (known_.find("," + name + ",") == std::string::npos)
      throw Napi::TypeError::New(names.Env(), std::string(what_) + " have no field " + name + "; they have " +
                                                  known_.substr(1, known_.size() - 2));
  }
}

} // namespace fpga_verbs::addon
