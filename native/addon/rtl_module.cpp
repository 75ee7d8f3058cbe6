#include "addon/addon_data.h"
#include "board/hca_board_blocks.h"
#include "rtl/collect_buffer_rtl.h"
#include "rtl/rtl_counters.h"
#include "rtl/rtl_sizes.h"
#include "rtl/virtual_kick_rtl.h"

#include <napi.h>

#include <memory>
#include <utility>

// The addon whose boards have RTL in the place of blocks of the device model.
namespace fpga_verbs::addon {

namespace {

template <class Block, class Rtl> std::unique_ptr<Block> make(const typename Block::Ports& ports) {
  return std::make_unique<Rtl>(ports);
}

const hca::BlockMakers makers{.collect_buffer = make<hca::CollectBufferPort, rtl::CollectBufferRtl>,
                              .virtual_kick = make<hca::VirtualKickPort, rtl::VirtualKickRtl>,
                              .beat_bytes = rtl::beat_bytes_of_rtl};

Napi::Value rtl_counters(const Napi::CallbackInfo& info) {
  const rtl::RtlCounters counters = rtl::RtlCountersSum::of_process().get();
  Napi::Object object = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, uint64_t value) { object.Set(name, static_cast<double>(value)); };
  set("clocks", counters.clocks);
  set("kicksTaken", counters.kicks_taken);
  set("commandsStarted", counters.commands_started);
  set("commandsDropped", counters.commands_dropped);
  if (counters.commands_started != 0) {
    set("startClocks", counters.start_clocks);
    set("leastStartClocks", counters.least_start_clocks);
    set("mostStartClocks", counters.most_start_clocks);
  }
  set("collectBufferClocks", counters.collect_buffer_clocks);
  set("beatsTaken", counters.beats_taken);
  set("beatsStored", counters.beats_stored);
  set("commandsCollected", counters.commands_collected);
  if (counters.commands_collected != 0) {
    set("kickClocks", counters.kick_clocks);
    set("leastKickClocks", counters.least_kick_clocks);
    set("mostKickClocks", counters.most_kick_clocks);
  }
  return object;
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
  define_board_classes(
      env, exports,
      [](const std::string& name, const board::HcaBoardOptions& options,
         std::string& failure) -> std::shared_ptr<board::EmulatedBoard> {
        failure = rtl::check_sizes(options.hca);
        if (!failure.empty())
          return nullptr;
        return name.empty() ? board::make_hca_board(options, makers, failure)
                            : board::share_hca_board(name, options, makers, failure);
      },
      rtl::usual_parameters());
  Napi::Object sizes = Napi::Object::New(env);
  sizes.Set("transmitVirtualLanes", rtl::lanes_of_rtl);
  sizes.Set("virtualCollectBuffers", rtl::vcbs_of_rtl);
  sizes.Set("physicalCollectBuffers", rtl::pool_of_rtl);
  sizes.Set("queuePairs", rtl::queue_pairs_of_rtl);
  exports.Set("rtlSizes", sizes);
  exports.Set("rtlCounters", Napi::Function::New<rtl_counters>(env, "rtlCounters"));
  exports.Set("version", Napi::String::New(env, FPGA_VERBS_VERSION));
  return exports;
}

NODE_API_MODULE(fpga_verbs_rtl, start)

} // namespace

} // namespace fpga_verbs::addon
