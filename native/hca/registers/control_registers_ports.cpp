// Control registers of the ports.
#include "hca/registers/control_registers.h"

#include "spec/registers.h"

#include <array>

namespace fpga_verbs::hca {

namespace r = spec::control;

namespace {

// Counters with one element per port.
struct PortRegister {
  uint32_t first;
  uint32_t count;
  uint32_t stride;
  uint64_t PortCounters::* counter;
};
constexpr std::array port_counter_registers{
    PortRegister{r::port_packets_out, r::port_packets_out_count, r::port_packets_out_stride,
                 &PortCounters::packets_out},
    PortRegister{r::port_bytes_out, r::port_bytes_out_count, r::port_bytes_out_stride,
                 &PortCounters::bytes_out},
    PortRegister{r::port_packets_in, r::port_packets_in_count, r::port_packets_in_stride,
                 &PortCounters::packets_in},
    PortRegister{r::port_bytes_in, r::port_bytes_in_count, r::port_bytes_in_stride, &PortCounters::bytes_in},
    PortRegister{r::port_packets_looped, r::port_packets_looped_count, r::port_packets_looped_stride,
                 &PortCounters::packets_looped},
    PortRegister{r::port_bad_partition_keys, r::port_bad_partition_keys_count,
                 r::port_bad_partition_keys_stride, &PortCounters::bad_partition_keys},
    PortRegister{r::port_bad_queue_keys, r::port_bad_queue_keys_count, r::port_bad_queue_keys_stride,
                 &PortCounters::bad_queue_keys},
};

} // namespace

std::optional<RegisterPage::Register> ControlRegisters::port_value(uint32_t offset) const {
  if (offset == r::port_discard_limit)
    return Register{blocks_.port.discard_limit(), true};
  if (const auto port =
          register_index(offset, r::port_control, r::port_control_count, r::port_control_stride)) {
    r::PortControl value{0};
    value.set_enable(blocks_.port_attributes.is_set_enabled(*port + 1) ? 1 : 0);
    return Register{value.bits};
  }
  if (const auto found = port_counter(offset))
    return Register{*found, true};
  return std::nullopt;
}

std::optional<uint64_t> ControlRegisters::port_counter(uint32_t offset) const {
  const DeviceCounters& counters = counters_.device;
  if (offset == r::congestion_notifications)
    return counters.congestion_notifications;
  for (const auto& [first, count, stride, counter] : port_counter_registers)
    if (const auto port = register_index(offset, first, count, stride))
      return counters.port[*port].*counter;
  if (const auto index =
          register_index(offset, r::port_discards, r::port_discards_count, r::port_discards_stride)) {
    constexpr uint32_t reasons = r::port_discards_count / spec::ports;
    return counters.port[*index / reasons].discards[*index % reasons];
  }
  if (const auto reason =
          register_index(offset, r::packets_dropped, r::packets_dropped_count, r::packets_dropped_stride))
    return counters.packets_dropped[*reason];
  return std::nullopt;
}

// No register of a port starts here.
std::optional<bool> ControlRegisters::set_port_value(uint32_t offset, uint64_t value) {
  if (offset == r::port_discard_limit) {
    blocks_.port.set_discard_limit(value);
    return true;
  }
  if (const auto port =
          register_index(offset, r::port_control, r::port_control_count, r::port_control_stride)) {
    if (*port >= parameters_.ports)
      return false;
    const r::PortControl written{static_cast<uint32_t>(value)};
    blocks_.port_attributes.set_enabled(*port + 1, written.enable() != 0);
    blocks_.port_states.look();
    return true;
  }
  return std::nullopt;
}

} // namespace fpga_verbs::hca
