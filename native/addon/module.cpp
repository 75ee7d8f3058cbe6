#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/pci_functions.h"
#include "board/cache_line_round_trip.h"
#include "process/prompt_end.h"

#include <napi.h>

#include <algorithm>

namespace fpga_verbs::addon {

namespace {

int cpu_number(const Napi::Value& value) {
  constexpr uint64_t most_cpus = 4096;
  if (value.IsNumber() && value.As<Napi::Number>().DoubleValue() < 0)
    return -1;
  return static_cast<int>(whole_number(value, "cpu", most_cpus));
}

Napi::Value cache_line_round_trip(const Napi::CallbackInfo& info) {
  constexpr uint64_t most_iterations = 100'000'000;
  const uint64_t iterations = whole_number(info[0], "iterations", most_iterations);
  const auto samples = board::cache_line_round_trip(iterations, cpu_number(info[1]), cpu_number(info[2]));
  Napi::Float64Array array = Napi::Float64Array::New(info.Env(), samples.size());
  std::ranges::copy(samples, array.Data());
  return array;
}

void promise_prompt_end(const Napi::CallbackInfo& info) {
  constexpr uint64_t longest = 60'000; // milliseconds
  constexpr uint64_t largest_exit_code = 255;
  const auto milliseconds = static_cast<unsigned>(whole_number(info[0], "milliseconds", longest));
  process::promise_prompt_end(milliseconds, info[1].ToString().Utf8Value(),
                              static_cast<int>(whole_number(info[2], "exitCode", largest_exit_code)));
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
  define_board_classes(
      env, exports, [](const std::string& name, const board::HcaBoardOptions& options, std::string& failure) {
        return name.empty() ? board::make_hca_board(options, failure)
                            : board::share_hca_board(name, options, failure);
      });
  define_pci_functions(env, exports);
  exports.Set("cacheLineRoundTrip", Napi::Function::New<cache_line_round_trip>(env, "cacheLineRoundTrip"));
  exports.Set("promisePromptEnd", Napi::Function::New<promise_prompt_end>(env, "promisePromptEnd"));
  exports.Set("version", Napi::String::New(env, FPGA_VERBS_VERSION));
  return exports;
}

NODE_API_MODULE(fpga_verbs, start)

} // namespace

} // namespace fpga_verbs::addon
