#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/device_registers.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/base/register_pages.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/complete/completion_queue.h"
#include "hca/complete/event_queue.h"
#include "hca/kick/virtual_kick_port.h"
#include "hca/management/mailbox.h"
#include "hca/management/management_queue.h"
#include "hca/management/protection_domains.h"
#include "hca/management/resource_division.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/address_handles.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/send_queue/send_queue_port.h"
#include "hca/transmit/packet_templates.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// Executes management commands, one per step: creates, changes, queries and destroys objects, and answers
// each command once. A command that must wait until its queue pair or key is quiet is answered later; others
// continue. The only writer of the queue pairs' control parts.
class ResourceManager final : public Block {
public:
  // The blocks that it uses.
  struct Blocks {
    CollectBufferPort& collect_buffer;
    const PhysicalCollectBuffers& buffers;
    ManagementQueue& management_queue;
    DataLink<spec::ManagementUnit>& management_units;
    QueuePairStateCache& queue_pair_state_cache;
    VirtualQueuePairs& virtual_queue_pairs;
    const ContextMemory& context_memory;
    MemoryTranslation& memory_translation;
    EventQueue& event_queue;
    PortAttributes& port_attributes;
    AddressHandles& address_handles;
    SharedReceiveQueues& shared_receive_queues;
    MulticastGroups& multicast_groups;
    PacketTemplates& packet_templates;
    const DeviceCounters& counters;
    CompletionQueue& completion_queue;
    SendQueuePort& queue_pair_fetch;
    VirtualKickPort& virtual_kick;
    WaitingForRoom& waiting_for_room;
    // Links whose data units are not pinned: a reset waits until they have left.
    const DataLink<spec::KickUnit>& kicks_collected;
    const DataLink<spec::KickUnit>& kicks_scheduled;
    const DataLink<spec::KickUnit>& kicks_started;
    const DataLink<spec::PostNotice>& post_notices;
  };

  ResourceManager(const HcaParameters& parameters, HostPort& host, const Clock& clock,
                  const DeviceRegisters& device, Blocks blocks);

  // The registers that inspect_registers reads; before the first command.
  void inspect_pages(const RegisterPages& pages) { register_pages_ = &pages; }

  // Completes a command that waited for a queue pair or key to become quiet, or executes the next one.
  bool step() override;

  // The clock tick at which a command continues that waits for the end of a time-wait; ~0: none waits.
  uint64_t next_deadline() const { return binding_.empty() ? ~uint64_t{0} : next_binding(); }

  // Removes the function's protection domains and its pending commands. Other blocks remove its event and
  // completion queues, queue pairs, keys, page tables and management queues.
  void reset_function(unsigned underlying_function);
  void reset();

private:
  using Answer = spec::ManagementCompletion;

  static constexpr uint32_t no_table = ~uint32_t{0};

  // A command in hand.
  struct Command {
    unsigned underlying_function = 0;
    uint16_t sequence_number = 0; // of its place in the management send queue
    spec::ManagementCommand fields;
  };
  // A modify to RESET, or a destroy, that waits until its queue pair is quiet.
  struct Waiting {
    uint32_t queue_pair_number = 0;
    Command command;
  };
  // A deregistration, or the destruction of a window, that waits until no access with its key is in flight.
  struct WaitingKey {
    uint32_t key = 0;
    uint32_t page_table = no_table; // of a window none
    uint32_t protection_domain = 0;
    Command command;
  };
  // A modify to RESET whose queue pair is quiet, but to which unpinned data units may still refer. They would
  // be mistaken for new ones; they have passed when this many data units have left the links.
  using LinkCounts = std::array<uint64_t, 4>;
  struct Passing {
    Waiting waiting;
    LinkCounts left{};
  };
  // A modify to RTR that waits until packets of the number's former connection cannot come any more.
  struct Binding {
    Command command;
    uint64_t due = 0; // clock tick
  };
  struct Resumed {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
  };
  // A page list of an input mailbox and the table for it.
  struct PageList {
    uint32_t pages = 0; // 0: no list, no table
    uint32_t table = no_table;
  };

  void take_unit();
  void take_fetched();
  void take_quiet(const QueuePairStateCache::Named& quiet);
  bool has_passed(const Passing& passing) const;
  void carry_out(const Command& command);
  void complete(const Command& command, Answer answer);

  // One function for each opcode. Nothing: the answer follows when the queue pair or the key is quiet.
  std::optional<Answer> dispatch(const Command& command);
  Answer query_function(const Command& command);
  Answer allocate_resources(const Command& command);
  Answer query_resources(const Command& command);
  Answer create_event_queue(const Command& command);
  Answer destroy_event_queue(const Command& command);
  Answer create_completion_queue(const Command& command);
  Answer resize_completion_queue(const Command& command);
  Answer moderate_completion_queue(const Command& command);
  Answer destroy_completion_queue(const Command& command);
  Answer query_port(const Command& command);
  Answer set_global_identifier(const Command& command);
  Answer set_partition_key(const Command& command);
  Answer create_address_handle(const Command& command);
  Answer destroy_address_handle(const Command& command);
  Answer change_multicast(const Command& command); // attach, detach
  Answer create_protection_domain(const Command& command);
  Answer destroy_protection_domain(const Command& command);
  Answer register_memory(const Command& command);
  std::optional<Answer> deregister_memory(const Command& command);
  Answer create_memory_window(const Command& command);
  std::optional<Answer> destroy_memory_window(const Command& command);
  Answer create_shared_receive_queue(const Command& command);
  Answer modify_shared_receive_queue(const Command& command);
  Answer query_shared_receive_queue(const Command& command);
  Answer destroy_shared_receive_queue(const Command& command);
  Answer create_queue_pair(const Command& command);
  std::optional<Answer> modify_queue_pair(const Command& command);
  Answer query_queue_pair(const Command& command);
  std::optional<Answer> destroy_queue_pair(const Command& command);
  Answer inspect_queue_pairs(const Command& command);
  Answer inspect_regions(const Command& command);
  Answer inspect_registers(const Command& command);
  static bool may_inspect(const Command& command, uint32_t functions);
  template <class Facts, class Inspect> Answer inspect(const Command& command, Inspect inspect);

  // Returns the current division, and applies a new one. VCBs that change owner are closed in between.
  ResourceDivision division() const;
  void divide(const ResourceDivision& division);
  // Notifies functions of changes to their share. The requester knows them, except VCBs, whose pages it has
  // mapped.
  void report_changes(const ResourceDivision& before, const ResourceDivision& after, unsigned requester);
  Answer query_share(const Command& command, unsigned function);
  Answer query_shared(const Command& command);
  Answer query_lane(const Command& command, unsigned lane);

  // Checks the command's fields. Returns the error answer, or none.
  std::optional<Answer> check(const Command& command) const;
  // Reads the format at the start of the input mailbox; nothing: success.
  static std::optional<Answer> read_input(const Command& command, MailboxReader& reader, void* input,
                                          uint32_t bytes);
  // Answers with content for the output mailbox.
  Answer output(const Command& command, const void* content, uint32_t bytes);

  // Creates tables from the page lists that follow `format_bytes` of the mailbox; nothing: all are created,
  // otherwise none.
  std::optional<Answer> create_tables(unsigned underlying_function, MailboxReader& reader,
                                      uint32_t format_bytes, std::span<PageList> lists);
  std::optional<Answer> copy_list(MailboxReader& reader, const PageList& list, uint32_t first_bit);
  void destroy_tables(std::span<const PageList> lists);

  // Checks the completion queues that a queue pair names. Returns the error answer, or none.
  std::optional<Answer> check_completion_queues(unsigned underlying_function,
                                                const spec::CreateQueuePairInput& input) const;
  void add_completion_queue_users(const spec::QueuePairControl& control);
  void remove_completion_queue_users(const spec::QueuePairControl& control);

  void enter_state(const Command& command, spec::QueuePairControl& control, bool drained_event);
  void wait_until_quiet(const Command& command);
  bool go_on_binding();
  std::optional<Answer> wait_for_number(const Command& command, const spec::QueuePairControl& control,
                                        const spec::QueuePairAttributes& input);
  std::optional<Answer> change_number(spec::QueuePairControl& control, uint32_t queue_pair_number);
  Answer all_numbers_wait();
  void end_shared_receive(unsigned underlying_function, uint32_t queue_pair_number);
  void finish_destroy(const Waiting& waiting);
  void finish_reset(const Waiting& waiting);
  void finish_deregister(uint32_t key);
  void finish_drain(const QueuePairStateCache::Named& quiet);

  uint64_t next_binding() const;

  const HcaParameters& parameters_;
  HostPort& host_;
  const Clock& clock_;
  const DeviceRegisters& device_;
  Blocks blocks_;
  const RegisterPages* register_pages_ = nullptr;
  ProtectionDomains protection_domains_;
  std::vector<Waiting> waiting_;
  std::vector<WaitingKey> waiting_keys_;
  std::vector<Passing> passing_; // in the order in which they became quiet
  std::vector<Binding> binding_;
  std::optional<Resumed> resumed_; // to be announced to queue_pair_fetch
  bool fetch_next_ = false;        // commands of page and send queue take turns
};

} // namespace fpga_verbs::hca
