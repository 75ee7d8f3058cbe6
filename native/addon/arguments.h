#pragma once

#include <napi.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace fpga_verbs::addon {

// An Error with the code ERR_CLOSED for a call on something closed; `what` names it.
Napi::Error closed_error(Napi::Env env, const char* what);

// A whole number up to `maximum`. TypeError: not a number; RangeError: negative, not whole or too large.
uint64_t whole_number(const Napi::Value& value, const char* what, uint64_t maximum);

// A whole number, or a bigint, below 2^64.
uint64_t big_number(const Napi::Value& value, const char* what);

uint32_t double_word(const Napi::Value& value, const char* what); // 0 to 2^32 - 1
unsigned bar_number(const Napi::Value& value);                    // 0 to 5
uint64_t bar_offset(const Napi::Value& value, unsigned alignment);

// The fields of an options object, each read once: a getter gives something else the second time, or closes
// what the call is for, which is looked at after the fields. All other fields are unknown.
class Fields {
public:
  // `object` may be undefined: no fields. `what` names the object in errors.
  Fields(const Napi::Value& object, const char* what);

  bool has(const char* name);
  Napi::Value value(const char* name);                   // one that it has
  Napi::Value required(Napi::Env env, const char* name); // TypeError: it has none

  template <class Number>
  void read(const char* name, Number& number, uint64_t maximum = std::numeric_limits<Number>::max()) {
    if (has(name))
      number = static_cast<Number>(whole_number(value(name), name, maximum));
  }
  void read_fraction(const char* name, double& fraction); // 0 to 1
  void read(const char* name, bool& flag);
  void read(const char* name, std::string& text);

  // One of the names; TypeError lists them.
  template <class Enum>
  void read_enum(const char* name, Enum& result, std::initializer_list<std::pair<const char*, Enum>> values) {
    if (!has(name))
      return;
    const Napi::Value given = value(name);
    std::string allowed;
    for (const auto& [text, meaning] : values) {
      if (given.IsString() && given.As<Napi::String>().Utf8Value() == text) {
        result = meaning;
        return;
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(text);
    }
    throw Napi::TypeError::New(given.Env(), std::string(name) + " must be one of " + allowed);
  }

  // TypeError: an unknown field.
  void refuse_unknown() const;

private:
  std::optional<Napi::Object> object_;
  const char* what_;
  std::map<std::string, Napi::Value> read_;
  std::string known_ = ",";
};

} // namespace fpga_verbs::addon
