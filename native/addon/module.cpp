#include "addon/addon_data.h"
#include "addon/arguments.h"
#include "addon/pci_functions.h"
#include "board/cache_line_round_trip.h"

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

Napi::Object start(Napi::Env env, Napi::Object exports) {
  define_board_classes(
      env, exports, [](const std::string& name, const board::HcaBoardOptions& options, std::string& failure) {
        return name.empty() ? board::make_hca_board(options, failure)
                            : board::share_hca_board(name, options, failure);
      });
  define_pci_functions(env, exports);
  exports.Set("cacheLineRoundTrip", Napi::Function::New<cache_line_round_trip>(env, "cacheLineRoundTrip"));
  exports.Set("version", Napi::String::New(env, FPGA_VERBS_VERSION));
  return exports;
}

NODE_API_MODULE(fpga_verbs, start)

} // namespace

} // namespace fpga_verbs::addon
