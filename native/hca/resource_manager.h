#pragma once

#include "hca/block.h"
#include "hca/collect_buffer.h"
#include "hca/context_memory.h"
#include "hca/data_link.h"
#include "hca/device_registers.h"
#include "hca/event_queue.h"
#include "hca/host_port.h"
#include "hca/management_queue.h"
#include "hca/memory_translation.h"
#include "hca/parameters.h"
#include "hca/protection_domains.h"
#include "hca/queue_pair_state_cache.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Carries out management commands, one a step: makes, changes, shows and unmakes objects, and answers each
// command once. A command that has to wait until its queue pair is quiet is answered then; others go on.
class ResourceManager final : public Block {
public:
  // The blocks that it works on. It is the writer of the queue pairs' control parts, and tells
  // queue_pair_fetch by post_notices when a queue pair may send again or has to be flushed.
  struct Blocks {
    QueuePairStateCache& queue_pair_state_cache;
    MemoryTranslation& memory_translation;
    EventQueue& event_queue;
    CollectBuffer& collect_buffer;
    ManagementQueue& management_queue;
    DataLink<spec::ManagementUnit, 16>& management_units;
    DataLink<spec::PostNotice, 16>& post_notices;
  };

  ResourceManager(const HcaParameters& parameters, HostPort& host, const DeviceRegisters& device,
                  Blocks blocks);

  // Answers for a queue pair that has become quiet, or carries out the next command.
  bool step() override;

  // Forgets the function's objects, waiting commands and those that have not been taken yet: what is in
  // event_queue, queue_pair_state_cache and memory_translation they forget themselves.
  void reset_function(unsigned underlying_function);
  void reset();

private:
  // A command in hand.
  struct Command {
    unsigned underlying_function = 0;
    uint16_t sequence_number = 0;
    spec::ManagementCommand fields;
  };
  // A modify or destroy that waits until its queue pair is quiet.
  struct Waiting {
    bool is_used = false;
    uint32_t queue_pair_number = 0;
    Command command;
  };
  using Answer = spec::ManagementCompletion;
  using Status = spec::ManagementStatus;

  void carry_out_unit();
  void carry_out_fetched();
  void carry_out_quiet(uint32_t queue_pair_number);
  void carry_out(const Command& command);
  void answer(const Command& command, Answer& answer);

  // One for each opcode. Nothing: the answer comes later.
  std::optional<Answer> dispatch(const Command& command);
  Answer query_function(const Command& command);
  Answer query_resources(const Command& command);
  Answer create_event_queue(const Command& command);
  Answer destroy_event_queue(const Command& command);
  Answer create_protection_domain(const Command& command);
  Answer destroy_protection_domain(const Command& command);
  Answer create_queue_pair(const Command& command);
  std::optional<Answer> modify_queue_pair(const Command& command);
  Answer query_queue_pair(const Command& command);
  std::optional<Answer> destroy_queue_pair(const Command& command);

  bool wait_until_quiet(const Command& command, uint32_t queue_pair_number);
  void finish_reset(unsigned underlying_function, uint32_t queue_pair_number);
  void finish_destroy(unsigned underlying_function, uint32_t queue_pair_number);
  void notify_queue_pair_fetch(const QueuePairParts& queue_pair, uint32_t queue_pair_number);

  const HcaParameters& parameters_;
  HostPort& host_;
  const DeviceRegisters& device_;
  Blocks blocks_;
  ProtectionDomains protection_domains_;
  std::vector<Waiting> waiting_;
  bool fetch_first_ = false; // page and doorbell take turns
};

} // namespace fpga_verbs::hca
