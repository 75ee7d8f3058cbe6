#include "board/watches.h"

#include <utility>

namespace fpga_verbs::board {

namespace {

template <class Value> std::span<const uint8_t, sizeof(Value)> bytes_of(const Value& value) {
  return std::span<const uint8_t, sizeof(Value)>(reinterpret_cast<const uint8_t*>(&value), sizeof value);
}

} // namespace

WatchMemory* Watches::begin(unsigned underlying_function, WatchKind kind, std::span<const uint8_t> preamble) {
  Ring& begun = ring(underlying_function, kind);
  if (!begun.memory) {
    begun.memory = WatchMemory::make(kind, preamble);
    if (!begun.memory)
      return nullptr;
    begun.writer.emplace(begun.memory->header(), begun.memory->words());
  }
  ++begun.keepers;
  ++begun.watchers;
  return &*begun.memory;
}

std::optional<WatchMemory> Watches::end(unsigned underlying_function, WatchKind kind) {
  Ring& ended = ring(underlying_function, kind);
  --ended.watchers;
  if (--ended.keepers != 0)
    return std::nullopt;
  ended.writer.reset();
  return std::exchange(ended.memory, std::nullopt);
}

hca::Watched Watches::watched() {
  return {.port = this,
          .kicks = functions_of(WatchKind::kicks),
          .events = functions_of(WatchKind::events),
          .completions = functions_of(WatchKind::completions)};
}

uint32_t Watches::functions_of(WatchKind kind) const {
  constexpr uint32_t all = ~uint32_t{0};
  uint32_t functions = ring(0, kind).watchers != 0 ? all : 0;
  for (unsigned function = 1; function < rings_.size(); ++function)
    if (ring(function, kind).watchers != 0)
      functions |= uint32_t{1} << function;
  return functions;
}

// The control function sees all. Its ring comes last, so that no value is held beyond its call.
template <class Message>
void Watches::put_to_all(unsigned underlying_function, WatchKind kind, const Message& message) {
  if (underlying_function != 0)
    ring(underlying_function, kind).put(bytes_of(message));
  ring(0, kind).put(bytes_of(message));
}

void Watches::lose(WatchKind kind, uint64_t messages) {
  for (auto& rings : rings_)
    if (Ring& losing = rings[static_cast<size_t>(kind)]; losing.watchers != 0)
      losing.writer->lose(messages);
}

void Watches::kick_record(const spec::KickRecord& record) {
  put_to_all(record.underlying_function(), WatchKind::kicks, record);
}

void Watches::event(unsigned underlying_function, const spec::EventQueueEntry& event) {
  const WatchedEvent watched{.entry = event, .underlying_function = underlying_function};
  put_to_all(underlying_function, WatchKind::events, watched);
}

void Watches::completion(unsigned underlying_function, const spec::CompletionQueueEntry& entry) {
  put_to_all(underlying_function, WatchKind::completions, entry);
}

} // namespace fpga_verbs::board
