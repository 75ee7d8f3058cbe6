#include "driver/device_string.h"

#include "hca/base/check_parameters.h"

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unistd.h>

namespace fpga_verbs::driver {

namespace {

template <class Number> bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

// %xy stands for the byte with that hexadecimal number.
bool decode(std::string_view text, std::string& decoded) {
  for (size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2)
      return false;
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string made(1, '"');
  return made.append(text) += '"';
}

// Reads the value of an option; false: `expected` gives the valid values.
using Reader = std::function<bool(const std::string& value, std::string& expected)>;

template <class Number> Reader number(Number& into) {
  return [&into](const std::string& value, std::string& expected) {
    expected = "a whole number";
    return read_number(value, into);
  };
}

Reader fraction(double& into) {
  return [&into](const std::string& value, std::string& expected) {
    expected = "a number from 0 to 1";
    return read_number(value, into) && into >= 0 && into <= 1;
  };
}

Reader flag(bool& into) {
  return [&into](const std::string& value, std::string& expected) {
    expected = "true or false";
    into = value == "true";
    return value == "true" || value == "false";
  };
}

Reader text(std::string& into) {
  return [&into](const std::string& value, std::string& expected) {
    expected = "a text";
    into = value;
    return !value.empty();
  };
}

template <class Enum> Reader one_of(Enum& into, std::map<std::string, Enum> values) {
  return [&into, values = std::move(values)](const std::string& value, std::string& expected) {
    for (const auto& [name, each] : values)
      expected += (expected.empty() ? "" : ", ") + name;
    const auto found = values.find(value);
    if (found != values.end())
      into = found->second;
    return found != values.end();
  };
}

std::map<std::string_view, Reader> readers_of(EmulatedDevice& device) {
  using board::ProgressMode;
  using board::StoreModel;
  board::EmulatedBoardOptions& board = device.options.board;
  hca::HcaParameters& hca = device.options.hca;
  return {
      {"name", text(device.name)},
      {"capture", text(device.capture)},
      {"progress",
       one_of<ProgressMode>(board.progress, {{"shared", ProgressMode::shared}, {"own", ProgressMode::own}})},
      {"deviceCpu", number(board.device_cpu)},
      {"sleepAfter", number(board.sleep_after)},
      {"seed", number(board.seed)},
      {"mapping", one_of<StoreModel>(board.stores, {{"write_combining", StoreModel::write_combining},
                                                    {"adversarial", StoreModel::adversarial},
                                                    {"uncached", StoreModel::uncached}})},
      {"doubleWordOnly", flag(hca.double_word_only)},
      {"acknowledgeCoalescing", flag(hca.acknowledge_coalescing)},
      {"underlyingFunctions", number(hca.underlying_functions)},
      {"virtualCollectBuffers", number(hca.virtual_collect_buffers)},
      {"physicalCollectBuffers", number(hca.physical_collect_buffers)},
      {"dedicatedPhysicalCollectBuffers", number(hca.dedicated_physical_collect_buffers)},
      {"managementPhysicalCollectBuffers", number(hca.management_physical_collect_buffers)},
      {"transmitVirtualLanes", number(hca.transmit_virtual_lanes)},
      {"executionCreditsPerLane", number(hca.execution_credits_per_lane)},
      {"completionCreditsPerLane", number(hca.completion_credits_per_lane)},
      {"sharedExecutionCredits", number(hca.shared_execution_credits)},
      {"sharedCompletionCredits", number(hca.shared_completion_credits)},
      {"sharedExecutionCreditsCap", number(hca.shared_execution_credits_cap)},
      {"sharedCompletionCreditsCap", number(hca.shared_completion_credits_cap)},
      {"queuePairContextsCached", number(hca.queue_pair_contexts_cached)},
      {"queuePairs", number(hca.queue_pairs)},
      {"completionQueues", number(hca.completion_queues)},
      {"pageTableEntries", number(hca.page_table_entries)},
      {"memoryKeys", number(hca.memory_keys)},
      {"schedulerBatch", number(hca.scheduler_batch)},
      {"ports", number(hca.ports)},
      {"linkLayer", one_of<spec::LinkLayer>(hca.link_layer, {{"ethernet", spec::LinkLayer::ethernet},
                                                             {"infiniband", spec::LinkLayer::infiniband}})},
      {"fabric", text(board.ports.fabric)},
      {"link", text(board.ports.link)},
      {"boardNumber",
       [&board](const std::string& value, std::string& expected) {
         unsigned wanted = 0;
         expected = "0 to " + std::to_string(link::board_numbers - 1);
         const bool is_number = read_number(value, wanted) && wanted < link::board_numbers;
         board.ports.board_number = wanted;
         return is_number;
       }},
      {"linkLoss", fraction(board.impairment.loss)},
      {"linkDuplication", fraction(board.impairment.duplication)},
      {"linkCorruption", fraction(board.impairment.corruption)},
      {"linkReordering", fraction(board.impairment.reordering)},
      {"linkDelay", number(board.impairment.delay)},
      {"linkRate", number(board.impairment.rate)},
      {"scoreboardVariant", one_of<spec::ScoreboardVariant>(hca.scoreboard_variant,
                                                            {{"masked", spec::ScoreboardVariant::masked},
                                                             {"direct", spec::ScoreboardVariant::direct}})},
  };
}

} // namespace

bool parse_emulated(const std::string& device, EmulatedDevice& parsed, std::string& failure) {
  const auto wrong = [&](const std::string& part, const std::string& expected) {
    failure = "device ";
    failure.append(quoted(device)).append(": ").append(part).append("; expected: ").append(expected);
    return false;
  };
  const size_t colon = device.find(':');
  std::string_view rest = colon == std::string::npos ? "" : std::string_view(device).substr(colon + 1);
  const size_t question = rest.find('?');
  const std::string_view function = rest.substr(0, question);
  if (!function.empty() && !read_number(function, parsed.underlying_function))
    return wrong("underlying function " + quoted(function), "a whole number");
  rest = question == std::string_view::npos ? "" : rest.substr(question + 1);
  const std::map<std::string_view, Reader> readers = readers_of(parsed);
  std::set<std::string_view> seen;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const size_t equals = part.find('=');
    const std::string_view option = part.substr(0, equals);
    const auto reader = readers.find(option);
    if (reader == readers.end()) {
      std::string names;
      for (const auto& [name, each] : readers)
        names.append(names.empty() ? "one of " : ", ").append(name);
      return wrong("no option " + quoted(option), names);
    }
    if (!seen.insert(reader->first).second)
      return wrong("option " + quoted(option) + " twice", "each option once");
    std::string value;
    if (equals == std::string_view::npos || !decode(part.substr(equals + 1), value))
      return wrong("option " + quoted(option) + " with an invalid value", std::string(option) + "=…");
    std::string expected;
    if (!reader->second(value, expected))
      return wrong(std::string(option) + "=" + value, expected);
  }
  const hca::HcaParameters& hca = parsed.options.hca;
  if (const std::string unfit = hca::check_parameters(hca); !unfit.empty())
    return wrong("its sizes", unfit);
  if (parsed.underlying_function >= hca.underlying_functions)
    return wrong("underlying function " + std::to_string(parsed.underlying_function),
                 "0 to " + std::to_string(hca.underlying_functions - 1));
  if (const size_t at = parsed.capture.find("{pid}"); at != std::string::npos)
    parsed.capture.replace(at, 5, std::to_string(getpid()));
  return true;
}

} // namespace fpga_verbs::driver
