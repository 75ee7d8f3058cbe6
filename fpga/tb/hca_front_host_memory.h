#pragma once

#include "hca_front_bench.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {

// The structures of hca_front in host memory, at the addresses in its registers: a queuing structure, and a
// ring that becomes unreachable.
class HostMemoryCases {
public:
  explicit HostMemoryCases(HcaFrontBench& bench) : bench_(bench) {}

  // A queue pair enters a queuing structure in host memory and comes back.
  void queue() {
    const uint32_t page = bench_.page(1);
    function_page::QueuingStructureSize size;
    size.set_entries_log2(4);
    expect(place(), "size", bench_.write(page + function_page::queuing_structure_size, size.bits), okay);
    const uint32_t address = page + function_page::queuing_structure_address + 8; // Of the high level.
    expect(place(), "unaligned", bench_.write(address, 4), slave_error);
    expect(place(), "aligned", bench_.write_64(address, structure), okay);
    expect(place(), "queuing structure", bench_.read_64(address), structure);
    spec::ScheduleRequest request;
    request.set_queue_pair_number(0x050000 | (QUEUE_PAIRS - 1));
    request.set_underlying_function(1);
    request.set_quality_of_service_level(spec::QualityOfServiceLevel::high);
    Vhca_front& rtl = bench_.rtl();
    std::memcpy(&rtl.queuing_append_unit, &request, sizeof(request));
    rtl.queuing_append = 1;
    bench_.until("queuing_append_ready", [&] { return rtl.queuing_append_ready != 0; });
    rtl.queuing_append = 0;
    rtl.queuing_take = 1;
    bench_.until("queuing_take_ready", [&] { return rtl.queuing_take_ready != 0; });
    rtl.queuing_take = 0;
    spec::ScheduleRequest taken;
    bench_.until("queuing_taken", [&] {
      std::memcpy(&taken, &rtl.queuing_taken_unit, sizeof(taken));
      return rtl.queuing_taken != 0;
    });
    expect(place(), "queue pair", std::memcmp(&taken, &request, sizeof(request)), 0);
    spec::QueuingStructureEntry entry;
    bench_.memory().read(structure, &entry, sizeof(entry));
    expect(place(), "entry", entry.queue_pair_number(), request.queue_pair_number());
  }

  // The ring of function 1 becomes unreachable: the device raises one event, and commands continue without
  // records.
  void lose_ring(uint32_t number) {
    const uint32_t page = bench_.page(1);
    bench_.memory().set_reachable(KickRecordRings::ring(1), false);
    bench_.send(vcbs_each, number);
    bench_.wait_for_all();
    bench_.steps(clock_limit);
    expect(place(), "events of DMA", bench_.faults(), 1);
    expect(place(), "faults", bench_.read_64(page + function_page::dma_faults), 1);
    const function_page::KickRecordControl control{bench_.read(page + function_page::kick_record_control)};
    expect(place(), "records of the function", control.enable(), 0);
    bench_.memory().set_reachable(KickRecordRings::ring(1), true);
    bench_.begin_ring(1);
  }

private:
  static constexpr uint64_t structure = 0x13'0000'0000;

  const Place& place() const { return bench_.place(); }

  HcaFrontBench& bench_;
};

} // namespace fpga_verbs::bench
