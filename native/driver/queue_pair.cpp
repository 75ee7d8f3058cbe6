#include "driver/queue_pair.h"

#include "driver/explanation.h"
#include "driver/queue_pair_table.h"
#include "spec/registers.h"

#include <algorithm>
#include <cerrno>

namespace fpga_verbs::driver {

namespace {

uint32_t pages_of(const DeviceMemory& memory) {
  return static_cast<uint32_t>(memory.bytes / spec::page_bytes);
}

template <class Structure> std::span<uint8_t> bytes_of(Structure& structure) {
  return {reinterpret_cast<uint8_t*>(&structure), sizeof structure};
}

int out_of_range(const char* attribute, uint32_t value, uint32_t least, uint32_t most) {
  return explain(EINVAL, std::string(attribute) + " is " + std::to_string(least) + " to " +
                             std::to_string(most) + ", not " + std::to_string(value));
}

} // namespace

QueuePair* QueuePairTable::find(uint32_t number) const {
  QueuePair* const found = at(number);
  return found != nullptr && found->number() == number ? found : nullptr;
}

QueuePair::~QueuePair() {
  send_queue_.free(parts_.function);
  if (receive_queue_)
    receive_queue_->free(parts_.function);
}

int QueuePair::create() {
  const QueuePairOptions& wanted = options_;
  const uint32_t most = spec::queue_entries_maximum;
  if (wanted.send_entries > most)
    return out_of_range("max_send_wr", wanted.send_entries, 1, most);
  if (wanted.receive_entries > most)
    return out_of_range("max_recv_wr", wanted.receive_entries, 0, most);
  if (wanted.gather_entries > spec::gather_entries)
    return out_of_range("max_send_sge", wanted.gather_entries, 0, spec::gather_entries);
  if (wanted.scatter_entries > spec::gather_entries)
    return out_of_range("max_recv_sge", wanted.scatter_entries, 0, spec::gather_entries);
  if (wanted.inline_bytes > spec::command_payload_bytes)
    return out_of_range("max_inline_data", wanted.inline_bytes, 0, spec::command_payload_bytes);
  if (!send_queue_.begin(parts_.function, std::max(wanted.send_entries, 1u), wanted.gather_entries,
                         wanted.inline_bytes))
    return parts_.function.allocation_error();
  spec::CreateQueuePairInput input;
  if (wanted.shared_receive_queue != nullptr) {
    input.set_shared_receive_queue(wanted.shared_receive_queue->number());
  } else if (wanted.receive_entries != 0) {
    ReceiveQueue& queue = receive_queue_.emplace();
    if (!queue.begin(parts_.function, wanted.receive_entries, wanted.scatter_entries))
      return parts_.function.allocation_error();
    const WorkQueueArea& area = queue.memory().area();
    input.set_receive_queue_log2(area.entries_log2());
    input.set_receive_queue_pages(pages_of(area.references()));
    input.set_receive_entry_pages(pages_of(area.area()));
    input.set_receive_tail_address(queue.memory().tail_address());
  }
  const auto number_of = [](const CompletionQueue* queue) { return queue == nullptr ? 0 : queue->number(); };
  input.set_service_type(wanted.service_type);
  input.set_signal_all(wanted.signal_all ? 1 : 0);
  input.set_send_queue_log2(send_queue_.area().entries_log2());
  input.set_protection_domain(wanted.protection_domain);
  input.set_send_completion_queue(number_of(wanted.send_completion_queue));
  input.set_receive_completion_queue(number_of(wanted.receive_completion_queue));
  input.set_send_queue_pages(pages_of(send_queue_.area().references()));
  input.set_send_entry_pages(pages_of(send_queue_.area().area()));
  MailboxInput content(input);
  content.add_pages(send_queue_.area().references()).add_pages(send_queue_.area().area());
  if (receive_queue_)
    content.add_pages(receive_queue_->memory().area().references())
        .add_pages(receive_queue_->memory().area().area());
  const auto made = parts_.management.execute(spec::ManagementOpcode::create_queue_pair, 0, content.bytes());
  number_ = made.number;
  virtual_number_ = made.number;
  if (made.error == 0)
    parts_.queue_pairs.put(number_, this);
  return made.error;
}

int QueuePair::destroy() {
  const int error = parts_.management.execute(spec::ManagementOpcode::destroy_queue_pair, number_).error;
  if (error != 0)
    return error;
  for (CompletionQueue* const queue : {options_.send_completion_queue, options_.receive_completion_queue})
    if (queue != nullptr)
      queue->forget(*this);
  parts_.queue_pairs.put(number_, nullptr);
  return 0;
}

int QueuePair::modify(const spec::QueuePairAttributes& attributes) {
  const std::scoped_lock lock(send_mutex_, receive_mutex_);
  const int error =
      parts_.management
          .execute(spec::ManagementOpcode::modify_queue_pair, number_, MailboxInput(attributes).bytes())
          .error;
  const uint32_t state_bit = 1u << static_cast<unsigned>(spec::QueuePairAttribute::state);
  if (error != 0 || (attributes.attribute_mask() & state_bit) == 0)
    return error;
  state_.store(attributes.state());
  if (parts_.function.is_lost())
    lose(); // as it was told before
  flushing_.store(attributes.state() == spec::QueuePairState::error);
  if (attributes.state() != spec::QueuePairState::reset)
    return 0;
  for (CompletionQueue* const queue : {options_.send_completion_queue, options_.receive_completion_queue})
    if (queue != nullptr)
      queue->forget(*this);
  send_queue_.reset();
  if (receive_queue_)
    receive_queue_->reset();
  const uint32_t number_bit = 1u << static_cast<unsigned>(spec::QueuePairAttribute::new_number);
  if ((attributes.attribute_mask() & number_bit) == 0)
    return 0;
  spec::QueuePairAttributes found;
  if (const int unknown = query(found))
    return unknown;
  virtual_number_ = found.virtual_queue_pair();
  return 0;
}

int QueuePair::query(spec::QueuePairAttributes& attributes) {
  return parts_.management
      .execute(spec::ManagementOpcode::query_queue_pair, number_, {}, bytes_of(attributes))
      .error;
}

int QueuePair::change_multicast(spec::ManagementOpcode opcode, std::span<const uint8_t, 16> gid) {
  spec::MulticastInput input;
  input.set_gid(gid);
  return parts_.management.execute(opcode, number_, MailboxInput(input).bytes()).error;
}

int QueuePair::post_send(const SendRequest& request) {
  const std::scoped_lock lock(send_mutex_);
  if (state() < spec::QueuePairState::ready_to_send)
    return refuse("a send needs a queue pair in RTS, not ");
  if (const int error = send_queue_.put(number_, request))
    return error;
  send_queue_.write(buffer_);
  return 0;
}

// A post, for the state check; `sentence` ends with the name of the state.
int QueuePair::refuse(const char* sentence) const {
  return parts_.function.is_lost() ? parts_.function.explain_loss()
                                   : explain(EINVAL, std::string(sentence) + name(state()));
}

int QueuePair::post_receive(uint64_t id, std::span<const Segment> scatter) {
  const std::scoped_lock lock(receive_mutex_);
  if (!receive_queue_)
    return explain(EINVAL, options_.shared_receive_queue != nullptr
                               ? "the queue pair receives from a shared receive queue; post there"
                               : "the queue pair was created without a receive queue (max_recv_wr 0)");
  if (state() == spec::QueuePairState::reset)
    return refuse("a receive needs a queue pair in INIT or a later state, not ");
  return receive_queue_->put(id, scatter);
}

void QueuePair::publish_receives() {
  {
    const std::scoped_lock lock(receive_mutex_);
    if (receive_queue_)
      receive_queue_->store_tail();
  }
  if (flushing_.load())
    failed();
}

uint64_t QueuePair::complete(const Completion& completion) {
  const auto number = static_cast<uint16_t>(completion.entry.sequence_number());
  const bool is_receive = completion.is_receive();
  // On an unreliable service a failed send moves the queue pair to SQE, in which it continues to receive.
  const bool is_reliable = options_.service_type == spec::ServiceType::reliable_connection;
  if (completion.entry.status() != spec::CompletionStatus::success && !flushing_.load() &&
      (is_reliable || is_receive))
    failed();
  if (!is_receive)
    return send_queue_.complete(number);
  if (receive_queue_)
    return receive_queue_->complete(number);
  return options_.shared_receive_queue == nullptr ? 0 : options_.shared_receive_queue->complete(number);
}

// A poster that stores its tail after this thread has read the tail finds the mark, and notifies the device
// itself.
void QueuePair::failed() {
  flushing_.store(true);
  if (!receive_queue_)
    return;
  spec::underlying_function::ReceiveDoorbell doorbell;
  doorbell.set_queue(number_);
  doorbell.set_tail(receive_queue_->next());
  parts_.function.write64(spec::underlying_function::receive_doorbell, doorbell.bits);
}

void QueuePair::recover(const CollectBuffer& buffer) {
  if (&buffer == &buffer_)
    start();
}

void QueuePair::look() {
  const uint32_t mark = send_queue_.mark();
  if (send_queue_.outstanding() != 0 && mark == mark_)
    start();
  mark_ = mark;
}

void QueuePair::start() {
  if (send_queue_.outstanding() != 0)
    send_queue_.start(number_, buffer_);
}

} // namespace fpga_verbs::driver
