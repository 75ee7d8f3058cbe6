#include "test/register_file_device.h"

#include "spec/registers.h"

#include <algorithm>
#include <cstring>

namespace fpga_verbs::test {

using spec::RegionType;

namespace {

struct RegionEntry {
  RegionType type;
  unsigned bar;
  bool prefetchable;
  uint32_t offset;
  uint32_t entries;
  uint32_t stride;
};

constexpr std::array region_table{
    RegionEntry{RegionType::identity, 0, false, 0, 1, 4096},
    RegionEntry{RegionType::underlying_function, 0, false, 0x20000, RegisterFileDevice::functions, 65536},
    RegionEntry{RegionType::virtual_collect_buffer, 2, true, 0, RegisterFileDevice::virtual_collect_buffers,
                4096},
};

uint32_t identity_register(uint32_t offset) {
  namespace identity = spec::identity;
  if (offset == identity::magic)
    return identity::magic_reset;
  if (offset == identity::regions)
    return region_table.size();
  if (offset < identity::region)
    return 0;
  const uint32_t number = (offset - identity::region) / identity::region_stride;
  if (number >= region_table.size())
    return 0;
  const RegionEntry& entry = region_table[number];
  identity::Region region;
  region.set_type(entry.type);
  region.set_bar(entry.bar);
  region.set_prefetchable(entry.prefetchable ? 1 : 0);
  switch (offset - number * identity::region_stride) {
  case identity::region:
    return region.bits;
  case identity::region_entries:
    return entry.entries;
  case identity::region_offset:
    return entry.offset;
  case identity::region_size:
    return entry.entries * entry.stride;
  case identity::region_page_stride:
    return entry.stride;
  default:
    return 0;
  }
}

} // namespace

RegisterFileDevice::RegisterFileDevice(const board::DeviceSlot& slot)
    : host_(slot.host), clock_(slot.clock), ports_(slot.ports) {
  deadlines_.fill(board::no_deadline);
}

void RegisterFileDevice::write(const hca::BarWrite& write) {
  uint8_t* const destination = memory(write.region, write.page);
  if (destination == nullptr)
    return;
  for (unsigned i = 0; i < write.length; ++i)
    if ((write.byte_enables >> i & 1) != 0)
      destination[write.offset + i] = write.data[i];
  if (write.region != RegionType::underlying_function)
    return;
  const auto covers = [&write](uint32_t offset) {
    return write.offset <= offset && offset < write.offset + write.length;
  };
  if (covers(start))
    jobs_.push_back(
        {static_cast<Job>(register_at(write.page, start)), write.page, wide_register_at(write.page, address),
         std::min<size_t>(register_at(write.page, bytes), page_bytes), register_at(write.page, page)});
  if (covers(deadline + 4))
    deadlines_[write.page] = wide_register_at(write.page, deadline);
}

bool RegisterFileDevice::write_burst(const hca::BarWrite& burst) {
  if (burst.region != RegionType::virtual_collect_buffer || burst.offset != 0 || !can_accept_write())
    return false;
  std::memcpy(memory(burst.region, burst.page), burst.data, burst.length);
  ++register_at(burst.underlying_function, bursts);
  return true;
}

uint32_t RegisterFileDevice::read(RegionType region, unsigned number, uint32_t offset) {
  if (region == RegionType::identity)
    return identity_register(offset);
  uint32_t value = 0;
  if (const uint8_t* const source = memory(region, number); source != nullptr)
    std::memcpy(&value, source + offset, sizeof value);
  return value;
}

unsigned RegisterFileDevice::run(unsigned limit) {
  unsigned done = 0;
  while (done < limit && step())
    ++done;
  return done;
}

bool RegisterFileDevice::step() {
  for (unsigned function = 0; function < functions; ++function) {
    if (deadlines_[function] > clock_.now())
      continue;
    deadlines_[function] = board::no_deadline;
    host_.interrupt(function, 1);
    return true;
  }
  if (receive_packet())
    return true;
  if (jobs_.empty() || paused_)
    return false;
  if (jobs_.front().job == Job::send_packet) {
    paused_ = !send_packet(jobs_.front());
    if (paused_)
      return true;
  } else {
    carry_out(jobs_.front());
  }
  jobs_.pop_front();
  return true;
}

uint64_t RegisterFileDevice::next_deadline() const {
  const uint64_t arrival = ports_.links[0] == nullptr ? board::no_deadline : ports_.links[0]->next_deadline();
  return std::min(arrival, std::ranges::min(deadlines_));
}

uint8_t* RegisterFileDevice::memory(RegionType region, unsigned number) {
  if (region == RegionType::underlying_function && number < functions)
    return reinterpret_cast<uint8_t*>(registers_[number].data());
  if (region == RegionType::virtual_collect_buffer && number < virtual_collect_buffers)
    return reinterpret_cast<uint8_t*>(pages_[number].data());
  return nullptr;
}

uint32_t& RegisterFileDevice::register_at(unsigned function, uint32_t offset) {
  return registers_[function][offset / sizeof(uint32_t)];
}

uint64_t RegisterFileDevice::wide_register_at(unsigned function, uint32_t offset) {
  return register_at(function, offset) | uint64_t{register_at(function, offset + 4)} << 32;
}

bool RegisterFileDevice::send_packet(const Requested& requested) {
  // Packets do not begin where their buffers do.
  uint8_t* const data = buffer_->bytes.data() + spec::packet_headroom;
  std::memcpy(data, pages_[requested.number % virtual_collect_buffers].data(), requested.length);
  const link::Outgoing out{.buffer = &buffer_, .begin = data, .bytes = requested.length};
  link::Link& link = *ports_.links[0];
  const link::Address destination = link::destination_of(spec::LinkLayer::ethernet, out.packet());
  // A train goes to no group.
  const link::SendResult result = link::is_multicast(spec::LinkLayer::ethernet, destination)
                                      ? link.send(link::Lane::requests, out.packet())
                                      : link.hand_over(link::Lane::requests, destination, {&out, 1}).result;
  if (result == link::SendResult::paused)
    return false;
  ++register_at(requested.function, result == link::SendResult::sent ? sent : faults);
  return true;
}

bool RegisterFileDevice::receive_packet() {
  if (ports_.links[0] == nullptr)
    return false;
  const std::span<const uint8_t> taken =
      ports_.links[0]->take(link::Lane::requests, link::every_lane, buffer_).packet;
  if (taken.empty())
    return false;
  // It is stored only in its own buffer.
  const auto begin = static_cast<size_t>(taken.data() - buffer_->bytes.data());
  if (begin + taken.size() <= buffer_->bytes.size())
    std::memcpy(pages_.back().data(), buffer_->bytes.data() + begin, taken.size());
  ++register_at(0, received);
  return true;
}

void RegisterFileDevice::carry_out(const Requested& requested) {
  const auto& [job, function, host_address, length, number] = requested;
  auto& data = pages_[number % virtual_collect_buffers];
  hca::DmaStatus status = hca::DmaStatus::ok;
  switch (job) {
  case Job::none:
  case Job::send_packet:
    break;
  case Job::write_host:
    status = host_.write(function, host_address, data.data(), length);
    break;
  case Job::read_host:
    status = host_.read(function, host_address, data.data(), length);
    break;
  case Job::interrupt:
    host_.interrupt(function, number);
    break;
  }
  if (status == hca::DmaStatus::fault)
    ++register_at(function, faults);
}

} // namespace fpga_verbs::test
