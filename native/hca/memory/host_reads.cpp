#include "hca/memory/host_reads.h"

#include "spec/parameters.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace fpga_verbs::hca {

bool HostReads::are_here(HostReader reader, uint16_t list, std::span<const KeyAccess> accesses) {
  std::vector<Read>& reads = block(reader).reads;
  if (list >= reads.size())
    reads.resize(size_t{list} + 1);
  Read& read = reads[list];
  if (read.state != State::none)
    return read.state == State::here;
  const auto is_refused = [this](const KeyAccess& access) {
    return translation_.check(access) != AccessFault::none;
  };
  if (accesses.empty() || std::ranges::any_of(accesses, is_refused))
    return true;
  read.accesses.assign(accesses.begin(), accesses.end());
  for (KeyAccess& access : read.accesses) {
    translation_.keys().begin_access(access.key);
    access.begun = true;
  }
  FunctionCounters& counters = counters_.function[accesses.front().underlying_function];
  ++counters.delayed_reads;
  const Reference reference{reader, list};
  if (under_way_.size() < spec::dma_tags) {
    start(reference);
  } else {
    ++counters.read_tag_waits;
    read.state = State::waits_for_tag;
    waiting_.push_back(reference);
  }
  return false;
}

void HostReads::start(const Reference& reference) {
  Read& read = read_of(reference);
  read.state = State::under_way;
  // At least a tick: the block is woken at a deadline.
  const uint64_t due = clock_.now() + std::max<uint64_t>(latency_of(read), 1);
  under_way_.insert(std::ranges::upper_bound(under_way_, due, {}, &UnderWay::due), {due, reference});
  deadline_ = std::min(deadline_, due);
}

// The accesses are asked for together: the slowest counts.
uint64_t HostReads::latency_of(const Read& read) {
  uint64_t longest = 0;
  for (const KeyAccess& access : read.accesses)
    for (uint64_t done = 0; done < access.length;) {
      const std::optional<MemoryPiece> piece =
          translation_.locate(access.underlying_function, access.key, access.address + done);
      if (!piece)
        break;
      const auto bytes = static_cast<size_t>(std::min(piece->bytes, access.length - done));
      longest = std::max(longest, host_.read_latency(access.underlying_function, piece->address, bytes));
      done += bytes;
    }
  return longest;
}

void HostReads::notice_deadline() {
  const uint64_t now = clock_.now();
  const auto first_late = std::ranges::upper_bound(under_way_, now, {}, &UnderWay::due);
  const std::vector<UnderWay> ended(under_way_.begin(), first_late);
  under_way_.erase(under_way_.begin(), first_late);
  deadline_ = under_way_.empty() ? never : under_way_.front().due;
  for (const UnderWay& read : ended)
    if (read.waiter)
      arrive(*read.waiter);
  while (!waiting_.empty() && under_way_.size() < spec::dma_tags) {
    start(waiting_.front());
    waiting_.pop_front();
  }
}

void HostReads::arrive(const Reference& reference) {
  Read& read = read_of(reference);
  uint64_t length = 0;
  for (const KeyAccess& access : read.accesses)
    length += access.length;
  read.bytes.resize(length);
  uint8_t* to = read.bytes.data();
  for (const KeyAccess& access : read.accesses) {
    if (read.fault == AccessFault::none)
      read.fault = memory_.read(access, to);
    to += access.length;
  }
  read.state = State::here;
  Block& waiter = block(reference.reader);
  waiter.arrived.push_back(reference.list);
  waiter.waker.wake();
}

AccessFault HostReads::take(HostReader reader, uint16_t list, const KeyAccess& access, uint8_t* destination) {
  std::vector<Read>& reads = block(reader).reads;
  if (list >= reads.size() || reads[list].state == State::none)
    return memory_.read(access, destination);
  Read& read = reads[list];
  assert(read.state == State::here);
  if (read.fault != AccessFault::none)
    return read.fault;
  assert(read.taken + access.length <= read.bytes.size());
  std::memcpy(destination, read.bytes.data() + read.taken, access.length);
  read.taken += access.length;
  return AccessFault::none;
}

void HostReads::end(HostReader reader, uint16_t list) {
  std::vector<Read>& reads = block(reader).reads;
  if (list >= reads.size() || reads[list].state == State::none)
    return;
  Read& read = reads[list];
  assert(read.state == State::here);
  for (const KeyAccess& access : read.accesses)
    translation_.keys().end_access(access.key);
  read.accesses.clear();
  read.taken = 0;
  read.fault = AccessFault::none;
  read.state = State::none;
}

std::optional<uint16_t> HostReads::take_arrived(HostReader reader) {
  std::deque<uint16_t>& arrived = block(reader).arrived;
  if (arrived.empty())
    return std::nullopt;
  const uint16_t list = arrived.front();
  arrived.pop_front();
  return list;
}

void HostReads::reset_function(unsigned underlying_function) {
  const auto is_its = [&](const Reference& reference) {
    return read_of(reference).accesses.front().underlying_function == underlying_function;
  };
  const auto give_up = [&](const Reference& reference) {
    Read& read = read_of(reference);
    read.fault = AccessFault::unreachable;
    arrive(reference);
  };
  for (UnderWay& read : under_way_)
    if (read.waiter && is_its(*read.waiter)) {
      give_up(*read.waiter);
      read.waiter.reset();
    }
  std::erase_if(waiting_, [&](const Reference& reference) {
    const bool its = is_its(reference);
    if (its)
      give_up(reference);
    return its;
  });
}

const char* HostReads::verify() const {
  size_t waits = 0;
  size_t under_way = 0;
  for (const Block& block : blocks_)
    for (const Read& read : block.reads) {
      waits += read.state == State::waits_for_tag ? 1 : 0;
      under_way += read.state == State::under_way ? 1 : 0;
    }
  const auto has_waiter = [](const UnderWay& read) { return read.waiter.has_value(); };
  if (under_way_.size() > spec::dma_tags || (!waiting_.empty() && under_way_.size() < spec::dma_tags))
    return "host_reads: tags are inconsistent";
  if (waits != waiting_.size() ||
      under_way != static_cast<size_t>(std::ranges::count_if(under_way_, has_waiter)))
    return "host_reads: reads are inconsistent";
  return nullptr;
}

} // namespace fpga_verbs::hca
