#pragma once

#include "addon/dma_memory.h"
#include "addon/open_function.h"

#include <napi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fpga_verbs::addon {

// The calls of a message into native code: two functions without arguments, for all boards and queues of an
// environment. V8 then calls them directly, and nothing is unwrapped: arguments and results pass through
// words that both sides see. See DirectCalls in lib/board/addon.ts.
class DirectCalls {
public:
  // A source of commands: memory, and the BAR that they go to.
  struct Writer {
    std::shared_ptr<Allocation> memory;
    unsigned bar = 0;
  };

  // The object for JavaScript: words, writeCommand, advance. `kept`: these calls, as the object's functions
  // keep them.
  static Napi::Object make(Napi::Env env, const std::shared_ptr<DirectCalls>& kept);

  // A number for the first word; it is forgotten when it is given back.
  uint32_t add(Writer writer) { return put(writers_, std::move(writer)); }
  uint32_t add(std::shared_ptr<OpenFunction> function) { return put(functions_, std::move(function)); }
  void remove_writer(uint32_t number) { writers_[number] = {}; }
  void remove_function(uint32_t number) { functions_[number] = {}; }

  // The words of a command: the writer's number, offset in its BAR, offset in its memory, length.
  using Words = std::array<uint32_t, 4>;

  // Copies a command; throws in JavaScript what is wrong with the words.
  void write_command(napi_env env, const Words& words) const;
  void write_command(napi_env env) const { write_command(env, {words_[0], words_[1], words_[2], words_[3]}); }
  // Lets the function of the first word's number work; whether it did replaces the number.
  void advance(napi_env env);

private:
  static bool is_free(const Writer& writer) { return writer.memory == nullptr; }
  static bool is_free(const std::shared_ptr<OpenFunction>& function) { return function == nullptr; }

  template <class Value> static uint32_t put(std::vector<Value>& values, Value value) {
    uint32_t number = 0;
    while (number < values.size() && !is_free(values[number]))
      ++number;
    if (number == values.size())
      values.emplace_back();
    values[number] = std::move(value);
    return number;
  }

  uint32_t* words_ = nullptr; // of an ArrayBuffer that the object keeps
  std::vector<Writer> writers_;
  std::vector<std::shared_ptr<OpenFunction>> functions_;
};

} // namespace fpga_verbs::addon
