// Queue pairs: made, connected, asked.
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <algorithm>
#include <cerrno>
#include <memory>

namespace fpga_verbs::verbs {

namespace {

constexpr uint32_t bit(spec::QueuePairAttribute attribute) { return 1u << static_cast<unsigned>(attribute); }

bool service_of(int type, spec::ServiceType& service) {
  switch (type) {
  case qpt_rc:
    service = spec::ServiceType::reliable_connection;
    return true;
  case qpt_uc:
    service = spec::ServiceType::unreliable_connection;
    return true;
  case qpt_ud:
    service = spec::ServiceType::unreliable_datagram;
    return true;
  default:
    return false;
  }
}

driver::CompletionQueue* queue_of(CompletionQueue* queue) {
  return queue == nullptr ? nullptr : &OwnCompletionQueue::of(queue).queue;
}

// Makes one, for both verbs that do.
OwnQueuePair* make_queue_pair(ProtectionDomain* domain, const QueuePairInit& init) {
  driver::QueuePairOptions options;
  if (!service_of(init.qp_type, options.service_type))
    return failed<OwnQueuePair>(
        driver::explain(EOPNOTSUPP, "qp_type is IBV_QPT_RC, IBV_QPT_UC or IBV_QPT_UD"));
  options.protection_domain = number_of(domain);
  options.send_completion_queue = queue_of(init.send_cq);
  options.receive_completion_queue = queue_of(init.recv_cq);
  if (init.srq != nullptr)
    options.shared_receive_queue = &static_cast<OwnSharedReceiveQueue*>(init.srq)->queue;
  options.send_entries = init.cap.max_send_wr;
  options.gather_entries = init.cap.max_send_sge;
  options.inline_bytes = init.cap.max_inline_data;
  options.receive_entries = init.srq != nullptr ? 0 : init.cap.max_recv_wr;
  options.scatter_entries = init.cap.max_recv_sge;
  options.signal_all = init.sq_sig_all != 0;
  auto made = std::make_unique<OwnQueuePair>(*OwnContext::of(domain->context).adapter, options);
  if (const int error = made->pair.create())
    return failed<OwnQueuePair>(error);
  QueuePair& shown = made->qp_base;
  shown.context = domain->context;
  shown.qp_context = init.qp_context;
  shown.pd = domain;
  shown.send_cq = init.send_cq;
  shown.recv_cq = init.recv_cq;
  shown.srq = init.srq;
  shown.handle = shown.qp_num = made->pair.number();
  shown.qp_type = init.qp_type;
  pthread_mutex_init(&shown.mutex, nullptr);
  pthread_cond_init(&shown.cond, nullptr);
  made->capabilities = init.cap;
  made->capabilities.max_send_wr = made->pair.send_entries();
  made->capabilities.max_recv_wr = made->pair.receive_entries();
  made->adapter.add(*made);
  return made.release();
}

} // namespace

VERBS_EXPORT QueuePair* ibv_create_qp(ProtectionDomain* domain, QueuePairInit* init) {
  OwnQueuePair* const made = make_queue_pair(domain, *init);
  if (made == nullptr)
    return nullptr;
  init->cap = made->capabilities;
  return &made->qp_base;
}

QueuePair* create_qp_ex(Context*, QueuePairInitEx* init) {
  constexpr uint32_t known = qp_init_pd | qp_init_create_flags | qp_init_send_ops_flags;
  constexpr uint64_t operations = 0x3ff; // RDMA WRITE to SEND with invalidate
  const bool asks_operations = (init->comp_mask & qp_init_send_ops_flags) != 0;
  if ((init->comp_mask & qp_init_pd) == 0 || init->pd == nullptr)
    return failed<QueuePair>(driver::explain(EINVAL, "ibv_create_qp_ex: IBV_QP_INIT_ATTR_PD is missing"));
  if ((init->comp_mask & ~known) != 0 ||
      ((init->comp_mask & qp_init_create_flags) != 0 && init->create_flags != 0) ||
      (asks_operations && (init->send_ops_flags & ~operations) != 0))
    return failed<QueuePair>(driver::explain(
        EOPNOTSUPP, "ibv_create_qp_ex: attributes, flags or operations that this device does not have"));
  const QueuePairInit usual{init->qp_context, init->send_cq, init->recv_cq,   init->srq,
                            init->cap,        init->qp_type, init->sq_sig_all};
  OwnQueuePair* const made = make_queue_pair(init->pd, usual);
  if (made == nullptr)
    return nullptr;
  init->cap = made->capabilities;
  made->is_extended = asks_operations;
  if (asks_operations)
    fill_send_operations(*made);
  return &made->qp_base;
}

VERBS_EXPORT QueuePairEx* ibv_qp_to_qp_ex(QueuePair* queue_pair) {
  OwnQueuePair& own = OwnQueuePair::of(queue_pair);
  return own.is_extended ? &own : nullptr;
}

// The bits of the mask, and the values of states and path MTUs, are those of libibverbs.
VERBS_EXPORT int ibv_modify_qp(QueuePair* queue_pair, QueuePairAttributes* wanted, int mask) {
  const auto attributes_mask = static_cast<uint32_t>(mask);
  spec::QueuePairAttributes attributes;
  const auto has = [=](spec::QueuePairAttribute attribute) {
    return (attributes_mask & bit(attribute)) != 0;
  };
  attributes.set_attribute_mask(attributes_mask);
  using enum spec::QueuePairAttribute;
  if (has(spec::QueuePairAttribute::state))
    attributes.set_state(static_cast<spec::QueuePairState>(wanted->qp_state));
  if (has(current_state))
    attributes.set_current_state(static_cast<spec::QueuePairState>(wanted->cur_qp_state));
  if (has(drained_event))
    attributes.set_drained_event(wanted->en_sqd_async_notify);
  if (has(access_flags))
    attributes.set_access_flags(wanted->qp_access_flags & access_own);
  if (has(partition_key_index))
    attributes.set_partition_key_index(wanted->pkey_index);
  if (has(port))
    attributes.set_port(wanted->port_num);
  if (has(queue_key))
    attributes.set_queue_key(wanted->qkey);
  if (has(address_vector)) {
    spec::AddressVector vector;
    if (const int error = address_vector_of(queue_pair->context, wanted->ah_attr, vector))
      return error;
    attributes.set_address_vector(
        std::span<const uint8_t, sizeof vector>(reinterpret_cast<const uint8_t*>(&vector), sizeof vector));
  }
  if (has(path_mtu))
    attributes.set_path_mtu(static_cast<spec::PathMtu>(wanted->path_mtu));
  if (has(timeout))
    attributes.set_timeout(wanted->timeout);
  if (has(retry_count))
    attributes.set_retry_count(wanted->retry_cnt);
  if (has(receiver_not_ready_retry))
    attributes.set_receiver_not_ready_retry(wanted->rnr_retry);
  if (has(receive_psn))
    attributes.set_receive_psn(wanted->rq_psn);
  if (has(send_psn))
    attributes.set_send_psn(wanted->sq_psn);
  if (has(max_read_atomic))
    attributes.set_max_read_atomic(wanted->max_rd_atomic);
  if (has(max_destination_read_atomic))
    attributes.set_max_destination_read_atomic(wanted->max_dest_rd_atomic);
  if (has(min_receiver_not_ready_timer))
    attributes.set_min_receiver_not_ready_timer(wanted->min_rnr_timer);
  if (has(destination_queue_pair))
    attributes.set_destination_queue_pair(wanted->dest_qp_num);
  const int error = OwnQueuePair::of(queue_pair).pair.modify(attributes);
  if (error == 0 && has(spec::QueuePairAttribute::state))
    queue_pair->state = wanted->qp_state;
  queue_pair->qp_num = OwnQueuePair::of(queue_pair).pair.virtual_number();
  return error;
}

VERBS_EXPORT int ibv_query_qp(QueuePair* queue_pair, QueuePairAttributes* attributes, int,
                              QueuePairInit* init) {
  OwnQueuePair& own = OwnQueuePair::of(queue_pair);
  spec::QueuePairAttributes found;
  if (const int error = own.pair.query(found))
    return error;
  *attributes = {};
  attributes->qp_state = attributes->cur_qp_state = static_cast<int>(found.state());
  attributes->path_mtu = static_cast<int>(found.path_mtu());
  attributes->qkey = found.queue_key();
  attributes->rq_psn = found.receive_psn();
  attributes->sq_psn = found.send_psn();
  attributes->dest_qp_num = found.destination_queue_pair();
  attributes->qp_access_flags = found.access_flags();
  attributes->cap = own.capabilities;
  attributes->pkey_index = static_cast<uint16_t>(found.partition_key_index());
  attributes->en_sqd_async_notify = static_cast<uint8_t>(found.drained_event());
  attributes->sq_draining =
      found.state() == spec::QueuePairState::send_queue_drained && found.in_flight() != 0 ? 1 : 0;
  attributes->max_rd_atomic = static_cast<uint8_t>(found.max_read_atomic());
  attributes->max_dest_rd_atomic = static_cast<uint8_t>(found.max_destination_read_atomic());
  attributes->min_rnr_timer = static_cast<uint8_t>(found.min_receiver_not_ready_timer());
  attributes->port_num = static_cast<uint8_t>(found.port());
  attributes->timeout = static_cast<uint8_t>(found.timeout());
  attributes->retry_cnt = static_cast<uint8_t>(found.retry_count());
  attributes->rnr_retry = static_cast<uint8_t>(found.receiver_not_ready_retry());
  spec::AddressVector vector;
  std::memcpy(&vector, found.address_vector().data(), sizeof vector);
  AddressAttributes& address = attributes->ah_attr;
  address.dlid = static_cast<uint16_t>(vector.destination_local_identifier());
  address.sl = static_cast<uint8_t>(vector.service_level());
  address.src_path_bits = static_cast<uint8_t>(vector.source_path_bits());
  address.static_rate = static_cast<uint8_t>(vector.static_rate());
  address.is_global = static_cast<uint8_t>(vector.is_global());
  address.port_num = static_cast<uint8_t>(vector.port());
  std::ranges::copy(vector.destination_gid(), address.grh.dgid.raw);
  address.grh.flow_label = vector.flow_label();
  address.grh.sgid_index = static_cast<uint8_t>(vector.gid_index());
  address.grh.hop_limit = static_cast<uint8_t>(vector.hop_limit());
  address.grh.traffic_class = static_cast<uint8_t>(vector.traffic_class());
  queue_pair->state = attributes->qp_state;
  if (init != nullptr)
    *init = {queue_pair->qp_context,
             queue_pair->send_cq,
             queue_pair->recv_cq,
             queue_pair->srq,
             own.capabilities,
             queue_pair->qp_type,
             own.pair.options().signal_all ? 1 : 0};
  return 0;
}

// Data of a WRITE is placed in order of addresses, the last byte last.
VERBS_EXPORT int ibv_query_qp_data_in_order(QueuePair*, int opcode, uint32_t) {
  return opcode == wr_rdma_write ? 1 : 0;
}

VERBS_EXPORT int ibv_query_ece(QueuePair*, void*) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_set_ece(QueuePair*, void*) { return EOPNOTSUPP; }

VERBS_EXPORT int ibv_destroy_qp(QueuePair* queue_pair) {
  OwnQueuePair& destroyed = OwnQueuePair::of(queue_pair);
  if (const int error = destroyed.pair.destroy())
    return error;
  destroyed.adapter.remove(destroyed);
  const auto is_about = [queue_pair](const AsyncEvent& event) {
    using enum spec::EventType;
    const auto type = static_cast<spec::EventType>(event.event_type);
    return type != completion_queue_error && type != shared_receive_queue_error &&
           type != shared_receive_queue_limit_reached && event.element.qp == queue_pair;
  };
  OwnContext::of(queue_pair->context).events.remove(is_about);
  wait_for_acknowledgements(queue_pair->mutex, queue_pair->cond, queue_pair->events_completed,
                            destroyed.events.taken);
  delete &destroyed;
  return 0;
}

} // namespace fpga_verbs::verbs
