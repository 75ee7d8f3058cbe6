// Posting, by ibv_post_send and ibv_post_recv.
#include "driver/explanation.h"
#include "libibverbs/objects.h"

#include <array>
#include <cerrno>

namespace fpga_verbs::verbs {

namespace {

// By ibv_wr_opcode.
constexpr std::array<spec::Opcode, 10> opcodes{
    spec::Opcode::rdma_write,
    spec::Opcode::rdma_write_with_immediate,
    spec::Opcode::send,
    spec::Opcode::send_with_immediate,
    spec::Opcode::rdma_read,
    spec::Opcode::atomic_compare_and_swap,
    spec::Opcode::atomic_fetch_and_add,
    spec::Opcode::local_invalidate,
    spec::Opcode::bind_memory_window,
    spec::Opcode::send_with_invalidate,
};

void set_flags(spec::CommandHeader& header, unsigned flags) {
  header.set_signaled((flags & send_signaled) != 0 ? 1 : 0);
  header.set_fence((flags & send_fence) != 0 ? 1 : 0);
  header.set_solicited((flags & send_solicited) != 0 ? 1 : 0);
}

// Operands of an operation, beside its data.
void set_operands(spec::CommandHeader& header, const SendRequest& request) {
  switch (request.opcode) {
  case wr_rdma_write_with_imm:
    header.set_immediate_data(request.imm_data);
    [[fallthrough]];
  case wr_rdma_write:
  case wr_rdma_read:
    header.set_remote_address(request.wr.rdma.remote_addr);
    header.set_remote_key(request.wr.rdma.rkey);
    break;
  case wr_send_with_imm:
    header.set_immediate_data(request.imm_data);
    break;
  case wr_send_with_inv:
  case wr_local_inv:
    header.set_immediate_data(request.imm_data); // the key, in the same place
    break;
  case wr_atomic_cmp_and_swp:
  case wr_atomic_fetch_and_add:
    header.set_remote_address(request.wr.atomic.remote_addr);
    header.set_remote_key(request.wr.atomic.rkey);
    header.set_compare_add(request.wr.atomic.compare_add);
    header.set_swap(request.wr.atomic.swap);
    break;
  default:
    break;
  }
}

spec::BindEntry binding_of(const BindInfo& info) {
  spec::BindEntry binding;
  binding.set_address(info.addr);
  binding.set_length(info.length);
  binding.set_region_key(info.mr == nullptr ? 0 : info.mr->lkey);
  binding.set_access_flags(info.mw_access_flags & access_own);
  return binding;
}

int post(OwnQueuePair& own, const SendRequest& request) {
  if (request.opcode < 0 || static_cast<size_t>(request.opcode) >= opcodes.size())
    return driver::explain(EINVAL, "the device has no operation of this opcode (" +
                                       std::to_string(request.opcode) + ")");
  driver::SendRequest command;
  command.id = request.wr_id;
  command.header.set_opcode(opcodes[static_cast<size_t>(request.opcode)]);
  set_flags(command.header, request.send_flags);
  set_operands(command.header, request);
  if (own.qp_base.qp_type == qpt_ud) {
    command.header.set_address_handle(request.wr.ud.ah == nullptr ? 0 : request.wr.ud.ah->handle);
    command.header.set_destination_queue_pair(request.wr.ud.remote_qpn);
    command.header.set_queue_key(request.wr.ud.remote_qkey);
  }
  const std::span<const driver::Segment> list = segments_of(request.sg_list, request.num_sge);
  spec::BindEntry binding;
  if (request.opcode == wr_bind_mw) {
    binding = binding_of(request.more.bind_mw.bind_info);
    command.header.set_remote_key(request.more.bind_mw.rkey);
    command.binding = &binding;
  } else if ((request.send_flags & send_inline) != 0) {
    command.header.set_inline_data(1);
    command.inline_data = list;
  } else {
    command.gather = list;
  }
  return own.pair.post_send(command);
}

} // namespace

int post_send(QueuePair* queue_pair, SendRequest* request, SendRequest** bad) {
  OwnQueuePair& own = OwnQueuePair::of(queue_pair);
  for (; request != nullptr; request = request->next) {
    if (const int error = post(own, *request)) {
      *bad = request;
      return error;
    }
  }
  return 0;
}

int post_recv(QueuePair* queue_pair, ReceiveRequest* request, ReceiveRequest** bad) {
  driver::QueuePair& pair = OwnQueuePair::of(queue_pair).pair;
  int error = 0;
  for (; request != nullptr; request = request->next) {
    error = pair.post_receive(request->wr_id, segments_of(request->sg_list, request->num_sge));
    if (error != 0) {
      *bad = request;
      break;
    }
  }
  pair.publish_receives();
  return error;
}

} // namespace fpga_verbs::verbs
