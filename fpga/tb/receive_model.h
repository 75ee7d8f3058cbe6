#pragma once

#include "bench.h"
#include "context_host.h"
#include "context_writers.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/receive.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/respond/responder_resources.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// An EventPort that keeps the events.
class KeptEvents final : public hca::EventPort {
public:
  void report(const spec::EventUnit& event) override { events.push_back(event); }
  std::vector<spec::EventUnit> events;
};

// A responder part with the fields of queue pair and connection alike.
struct ResponderPart {
  spec::QueuePairResponder responder;
};

// The surroundings of receive in the device model, for the blocks of all queue pairs.
class ReceiveModel {
public:
  explicit ReceiveModel(uint32_t queue_pairs) : parameters(make_parameters(queue_pairs)) {
    if (!context_memory_.open(0, context_bytes))
      std::abort();
  }

  hca::HcaParameters parameters;
  hca::Counters counters;
  KeptEvents events;

private:
  static constexpr uint64_t context_bytes = 8 << 20;
  static hca::HcaParameters make_parameters(uint32_t queue_pairs) {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
    parameters.page_table_entries = 1024;
    parameters.memory_keys = 16;
    return parameters;
  }

  ContextHost host_{context_bytes};
  hca::ContextMemory context_memory_{parameters, counters, host_, events};
  hca::MemoryTranslation translation_{parameters, context_memory_};
  hca::SharedReceiveQueues shared_receive_queues_;

public:
  hca::PacketMemory packets;
  hca::QueuePairStateCache queue_pairs{parameters, counters, context_memory_};
  hca::ResponderResources resources{parameters.queue_pairs};
  // The bench never steps it, and it has prefetched nothing: the bench answers the questions of receive.
  hca::DataLink<spec::QueuePairNotice> no_questions{2};
  hca::DataLink<spec::QueuePairNotice> no_answers{2};
  hca::DescriptorFetch descriptors{parameters,   counters, host_,        queue_pairs, shared_receive_queues_,
                                   translation_, events,   no_questions, no_answers};
};

// Receive of the device model for a single queue pair, so that each follows the pace of its RTL.
class ModelReceive {
public:
  explicit ModelReceive(ReceiveModel& model)
      : receive_(model.parameters, model.counters, model.packets, model.queue_pairs, model.descriptors,
                 model.events, model.resources, arrived_, flushes_, fetched_, wanted_, accepted_) {}

  enum class Left : uint8_t { accepted, wanted, dropped };
  struct Outcome {
    Left left = Left::dropped;
    spec::ReceiveUnit unit; // accepted
  };

  Outcome take_packet(uint16_t packet, unsigned underlying_function, uint32_t number) {
    spec::PacketUnit unit;
    unit.set_packet(packet);
    unit.set_underlying_function(underlying_function);
    unit.set_queue_pair_number(number);
    arrived_.push(unit);
    return step();
  }
  Outcome take_flush(unsigned underlying_function, uint32_t number) {
    flushes_.push(notice(underlying_function, number, spec::QueuePairNoticeKind::flush));
    return step();
  }
  Outcome take_fetched(unsigned underlying_function, uint32_t number, bool is_taken) {
    fetched_.push(notice(underlying_function, number,
                         is_taken ? spec::QueuePairNoticeKind::descriptor_taken
                                  : spec::QueuePairNoticeKind::no_descriptor));
    return step();
  }

  static spec::QueuePairNotice notice(unsigned underlying_function, uint32_t number,
                                      spec::QueuePairNoticeKind kind) {
    spec::QueuePairNotice notice;
    notice.set_underlying_function(underlying_function);
    notice.set_queue_pair_number(number);
    notice.set_kind(kind);
    return notice;
  }

  const char* verify() const { return receive_.verify(); }

private:
  Outcome step() {
    receive_.step();
    Outcome outcome;
    if (!accepted_.empty()) {
      outcome = {.left = Left::accepted, .unit = accepted_.front()};
      accepted_.pop();
    } else if (!wanted_.empty()) {
      outcome.left = Left::wanted;
      wanted_.pop();
    }
    return outcome;
  }

  hca::DataLink<spec::PacketUnit> arrived_{2};
  hca::DataLink<spec::QueuePairNotice> flushes_{2};
  hca::DataLink<spec::QueuePairNotice> fetched_{2};
  hca::DataLink<spec::QueuePairNotice> wanted_{2};
  hca::DataLink<spec::ReceiveUnit> accepted_{2};
  hca::Receive receive_;
};

} // namespace fpga_verbs::bench
