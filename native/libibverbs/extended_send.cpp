// Posting by ibv_wr_*: the program builds work requests between wr_start and wr_complete, which posts them.
#include "driver/explanation.h"
#include "libibverbs/objects.h"

#include <cerrno>

namespace fpga_verbs::verbs {

namespace {

OwnQueuePair& own(QueuePairEx* queue_pair) { return *static_cast<OwnQueuePair*>(queue_pair); }

// wr_complete then reports the error and posts nothing.
void refuse(QueuePairEx* queue_pair, const char* what) {
  own(queue_pair).build_error = driver::explain(EINVAL, what);
}

// Starts a work request.
spec::CommandHeader& begin(QueuePairEx* queue_pair, spec::Opcode opcode) {
  BuiltRequest& built = own(queue_pair).built.emplace_back();
  built.request.id = queue_pair->wr_id;
  spec::CommandHeader& header = built.request.header;
  header.set_opcode(opcode);
  header.set_signaled((queue_pair->wr_flags & send_signaled) != 0 ? 1 : 0);
  header.set_fence((queue_pair->wr_flags & send_fence) != 0 ? 1 : 0);
  header.set_solicited((queue_pair->wr_flags & send_solicited) != 0 ? 1 : 0);
  return header;
}

void begin_remote(QueuePairEx* queue_pair, spec::Opcode opcode, uint32_t key, uint64_t address) {
  spec::CommandHeader& header = begin(queue_pair, opcode);
  header.set_remote_key(key);
  header.set_remote_address(address);
}

void begin_atomic(QueuePairEx* queue_pair, spec::Opcode opcode, uint32_t key, uint64_t address,
                  uint64_t compare_add, uint64_t swap) {
  begin_remote(queue_pair, opcode, key, address);
  spec::CommandHeader& header = own(queue_pair).built.back().request.header;
  header.set_compare_add(compare_add);
  header.set_swap(swap);
}

void bind(QueuePairEx* queue_pair, MemoryWindow*, uint32_t key, const BindInfo* info) {
  begin(queue_pair, spec::Opcode::bind_memory_window).set_remote_key(key);
  BuiltRequest& built = own(queue_pair).built.back();
  built.binding.set_address(info->addr);
  built.binding.set_length(info->length);
  built.binding.set_region_key(info->mr == nullptr ? 0 : info->mr->lkey);
  built.binding.set_access_flags(info->mw_access_flags & access_own);
}

// Of the most recently started work request.
BuiltRequest* last(QueuePairEx* queue_pair) {
  std::vector<BuiltRequest>& built = own(queue_pair).built;
  if (!built.empty())
    return &built.back();
  refuse(queue_pair, "data was set before an operation");
  return nullptr;
}

void set_datagram_address(QueuePairEx* queue_pair, AddressHandle* handle, uint32_t number, uint32_t key) {
  if (BuiltRequest* const built = last(queue_pair)) {
    built->request.header.set_address_handle(handle->handle);
    built->request.header.set_destination_queue_pair(number);
    built->request.header.set_queue_key(key);
  }
}

// Inline data belongs to the caller and is valid only during the call.
void set_inline_list(QueuePairEx* queue_pair, size_t count, const DataBuffer* list) {
  BuiltRequest* const built = last(queue_pair);
  if (built == nullptr)
    return;
  built->data.clear();
  for (size_t index = 0; index < count; ++index) {
    const auto* const bytes = static_cast<const uint8_t*>(list[index].addr);
    if (built->data.size() + list[index].length > own(queue_pair).capabilities.max_inline_data)
      return refuse(queue_pair, "more inline data than max_inline_data");
    built->data.insert(built->data.end(), bytes, bytes + list[index].length);
  }
  built->request.header.set_inline_data(1);
}

void set_inline(QueuePairEx* queue_pair, void* data, size_t bytes) {
  const DataBuffer buffer{data, bytes};
  set_inline_list(queue_pair, 1, &buffer);
}

void set_segments(QueuePairEx* queue_pair, size_t count, const ScatterGatherEntry* list) {
  if (BuiltRequest* const built = last(queue_pair)) {
    const std::span<const driver::Segment> segments = segments_of(list, static_cast<int>(count));
    built->segments.assign(segments.begin(), segments.end());
  }
}

void set_segment(QueuePairEx* queue_pair, uint32_t key, uint64_t address, uint32_t bytes) {
  const ScatterGatherEntry entry{address, bytes, key};
  set_segments(queue_pair, 1, &entry);
}

void start(QueuePairEx* queue_pair) {
  own(queue_pair).building.lock();
  own(queue_pair).build_error = 0;
}

void abandon(QueuePairEx* queue_pair) {
  own(queue_pair).built.clear();
  own(queue_pair).building.unlock();
}

int complete(QueuePairEx* queue_pair) {
  OwnQueuePair& posted = own(queue_pair);
  int error = posted.build_error;
  for (BuiltRequest& built : posted.built) {
    if (error != 0)
      break;
    driver::Segment piece;
    if (built.request.header.inline_data() != 0) {
      piece.set_address(reinterpret_cast<uintptr_t>(built.data.data()));
      piece.set_length(static_cast<uint32_t>(built.data.size()));
      built.request.inline_data = {&piece, 1};
    } else if (built.request.header.opcode() == spec::Opcode::bind_memory_window) {
      built.request.binding = &built.binding;
    } else {
      built.request.gather = built.segments;
    }
    error = posted.pair.post_send(built.request);
  }
  abandon(queue_pair);
  return error;
}

} // namespace

void fill_send_operations(QueuePairEx& queue_pair) {
  using enum spec::Opcode;
  queue_pair.wr_atomic_cmp_swp = [](QueuePairEx* each, uint32_t key, uint64_t address, uint64_t compare,
                                    uint64_t swap) {
    begin_atomic(each, atomic_compare_and_swap, key, address, compare, swap);
  };
  queue_pair.wr_atomic_fetch_add = [](QueuePairEx* each, uint32_t key, uint64_t address, uint64_t add) {
    begin_atomic(each, atomic_fetch_and_add, key, address, add, 0);
  };
  queue_pair.wr_bind_mw = bind;
  queue_pair.wr_local_inv = [](QueuePairEx* each, uint32_t key) {
    begin(each, local_invalidate).set_immediate_data(key);
  };
  queue_pair.wr_rdma_read = [](QueuePairEx* each, uint32_t key, uint64_t address) {
    begin_remote(each, rdma_read, key, address);
  };
  queue_pair.wr_rdma_write = [](QueuePairEx* each, uint32_t key, uint64_t address) {
    begin_remote(each, rdma_write, key, address);
  };
  queue_pair.wr_rdma_write_imm = [](QueuePairEx* each, uint32_t key, uint64_t address, uint32_t data) {
    begin_remote(each, rdma_write_with_immediate, key, address);
    own(each).built.back().request.header.set_immediate_data(data);
  };
  queue_pair.wr_send = [](QueuePairEx* each) { begin(each, send); };
  queue_pair.wr_send_imm = [](QueuePairEx* each, uint32_t data) {
    begin(each, send_with_immediate).set_immediate_data(data);
  };
  queue_pair.wr_send_inv = [](QueuePairEx* each, uint32_t key) {
    begin(each, send_with_invalidate).set_immediate_data(key);
  };
  queue_pair.wr_set_ud_addr = set_datagram_address;
  queue_pair.wr_set_inline_data = set_inline;
  queue_pair.wr_set_inline_data_list = set_inline_list;
  queue_pair.wr_set_sge = set_segment;
  queue_pair.wr_set_sge_list = set_segments;
  queue_pair.wr_start = start;
  queue_pair.wr_complete = complete;
  queue_pair.wr_abort = abandon;
  queue_pair.wr_send_tso = [](QueuePairEx* each, void*, uint16_t, uint16_t) {
    refuse(each, "the device has no segmentation of packets");
  };
  queue_pair.wr_set_xrc_srqn = [](QueuePairEx* each, uint32_t) { refuse(each, "the device has no XRC"); };
  queue_pair.wr_atomic_write = [](QueuePairEx* each, uint32_t, uint64_t, const void*) {
    refuse(each, "the device has no ATOMIC WRITE");
  };
}

} // namespace fpga_verbs::verbs
