#include "addon/board_options.h"

#include "addon/arguments.h"
#include "hca/base/check_parameters.h"

namespace fpga_verbs::addon {

NamedBoardOptions board_options(const Napi::Value& value, const hca::HcaParameters& usual) {
  using board::ProgressMode;
  using board::StoreModel;
  using spec::ScoreboardVariant;
  constexpr uint64_t longest_sleep_after = 1'000'000'000;     // microseconds
  constexpr uint64_t longest_link_delay = uint64_t{1} << 40;  // ticks
  constexpr uint64_t longest_dma_latency = uint64_t{1} << 40; // ticks
  NamedBoardOptions named;
  board::EmulatedBoardOptions& board = named.options.board;
  hca::HcaParameters& hca = named.options.hca;
  hca = usual;
  Fields fields(value, "board options");
  fields.read("name", named.name);
  fields.read("capture", named.capture);
  fields.read_enum(
      "progress", board.progress,
      {{"shared", ProgressMode::shared}, {"own", ProgressMode::own}, {"stepped", ProgressMode::stepped}});
  fields.read("deviceCpu", board.device_cpu);
  fields.read("sleepAfter", board.sleep_after, longest_sleep_after);
  fields.read("seed", board.seed);
  fields.read_enum("mapping", board.stores,
                   {{"write_combining", StoreModel::write_combining},
                    {"adversarial", StoreModel::adversarial},
                    {"uncached", StoreModel::uncached}});
  fields.read("doubleWordOnly", hca.double_word_only);
  fields.read("acknowledgeCoalescing", hca.acknowledge_coalescing);
  fields.read("underlyingFunctions", hca.underlying_functions, spec::underlying_functions);
  fields.read("virtualCollectBuffers", hca.virtual_collect_buffers);
  fields.read("physicalCollectBuffers", hca.physical_collect_buffers);
  fields.read("dedicatedPhysicalCollectBuffers", hca.dedicated_physical_collect_buffers);
  fields.read("managementPhysicalCollectBuffers", hca.management_physical_collect_buffers);
  fields.read("transmitVirtualLanes", hca.transmit_virtual_lanes);
  fields.read("executionCreditsPerLane", hca.execution_credits_per_lane);
  fields.read("completionCreditsPerLane", hca.completion_credits_per_lane);
  fields.read("sharedExecutionCredits", hca.shared_execution_credits);
  fields.read("sharedCompletionCredits", hca.shared_completion_credits);
  fields.read("sharedExecutionCreditsCap", hca.shared_execution_credits_cap);
  fields.read("sharedCompletionCreditsCap", hca.shared_completion_credits_cap);
  fields.read("queuePairContextsCached", hca.queue_pair_contexts_cached);
  fields.read("queuePairs", hca.queue_pairs);
  fields.read("completionQueues", hca.completion_queues);
  fields.read("pageTableEntries", hca.page_table_entries);
  fields.read("memoryKeys", hca.memory_keys);
  fields.read("schedulerBatch", hca.scheduler_batch);
  fields.read("ports", hca.ports);
  fields.read_enum("linkLayer", hca.link_layer,
                   {{"ethernet", spec::LinkLayer::ethernet}, {"infiniband", spec::LinkLayer::infiniband}});
  fields.read("fabric", board.ports.fabric);
  fields.read("link", board.ports.link);
  if (fields.has("boardNumber"))
    board.ports.board_number = static_cast<unsigned>(
        whole_number(fields.value("boardNumber"), "boardNumber", link::board_numbers - 1));
  fields.read_fraction("linkLoss", board.impairment.loss);
  fields.read_fraction("linkDuplication", board.impairment.duplication);
  fields.read_fraction("linkCorruption", board.impairment.corruption);
  fields.read_fraction("linkReordering", board.impairment.reordering);
  fields.read("linkDelay", board.impairment.delay, longest_link_delay);
  fields.read("linkRate", board.impairment.rate);
  fields.read_fraction("bitErrors", board.bit_errors);
  fields.read_fraction("doubleBitErrors", board.double_bit_errors);
  fields.read("dmaLatency", board.dma_latency.least, longest_dma_latency);
  board.dma_latency.most = board.dma_latency.least;
  fields.read("dmaLatencyMost", board.dma_latency.most, longest_dma_latency);
  if (board.dma_latency.most < board.dma_latency.least)
    throw Napi::RangeError::New(value.Env(), "dmaLatencyMost is " + std::to_string(board.dma_latency.most) +
                                                 ", but must be at least dmaLatency, which is " +
                                                 std::to_string(board.dma_latency.least));
  fields.read_enum("scoreboardVariant", hca.scoreboard_variant,
                   {{"masked", ScoreboardVariant::masked}, {"direct", ScoreboardVariant::direct}});
  fields.refuse_unknown();
  if (const std::string wrong = hca::check_parameters(hca); !wrong.empty())
    throw Napi::RangeError::New(value.Env(), wrong);
  board.double_word_only = hca.double_word_only;
  return named;
}

} // namespace fpga_verbs::addon
