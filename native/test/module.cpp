#include "test/bit_mask_port.h"
#include "test/collect_buffer_port.h"
#include "test/completion_queue_port.h"
#include "test/fuzz_port.h"
#include "test/hca_port.h"
#include "test/hostile_client_port.h"
#include "test/icrc_port.h"
#include "test/linked_list_queue_port.h"
#include "test/order_port.h"
#include "test/packet_port.h"
#include "test/pci_port.h"
#include "test/poll_pace_port.h"
#include "test/receive_queue_port.h"
#include "test/register_file_board.h"
#include "test/resource_manager_port.h"
#include "test/responder_port.h"
#include "test/secded_port.h"
#include "test/served_client_port.h"
#include "test/served_ring_port.h"
#include "test/spec_formats_port.h"
#include "test/transaction_ring_port.h"
#include "test/vfio_stand_in.h"
#include "test/wire_port.h"

#include <napi.h>

#include <malloc.h>

namespace fpga_verbs::test {

namespace {

// Bytes that the process has allocated by malloc.
Napi::Value allocated_bytes(const Napi::CallbackInfo& info) {
  const struct mallinfo2 facts = mallinfo2();
  return Napi::Number::New(info.Env(), static_cast<double>(facts.uordblks + facts.hblkhd));
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
  exports.Set("BitMaskPort", BitMaskPort::define(env));
  exports.Set("CollectBufferPort", CollectBufferPort::define(env));
  exports.Set("CompletionQueuePort", CompletionQueuePort::define(env));
  exports.Set("HcaPort", HcaPort::define(env));
  exports.Set("LinkedListQueuePort", LinkedListQueuePort::define(env));
  exports.Set("OrderPort", OrderPort::define(env));
  exports.Set("PollPacePort", PollPacePort::define(env));
  exports.Set("ReceiveQueuePort", ReceiveQueuePort::define(env));
  exports.Set("ResourceManagerPort", ResourceManagerPort::define(env));
  exports.Set("ResponderPort", ResponderPort::define(env));
  exports.Set("WirePort", WirePort::define(env));
  exports.Set("allocatedBytes", Napi::Function::New<allocated_bytes>(env, "allocatedBytes"));
  exports.Set("secdedEncode", Napi::Function::New<secded_encode>(env, "secdedEncode"));
  exports.Set("secdedDecode", Napi::Function::New<secded_decode>(env, "secdedDecode"));
  exports.Set("encodeFormat", Napi::Function::New<encode_spec_format>(env, "encodeFormat"));
  exports.Set("decodeFormat", Napi::Function::New<decode_spec_format>(env, "decodeFormat"));
  exports.Set("reservedIsZero", Napi::Function::New<spec_format_reserved_is_zero>(env, "reservedIsZero"));
  define_fuzz_port(env, exports);
  define_hostile_client_port(env, exports);
  define_icrc_port(env, exports);
  define_packet_port(env, exports);
  define_pci_port(env, exports);
  define_register_file_board(env, exports);
  define_served_client_port(env, exports);
  define_served_ring_port(env, exports);
  define_transaction_ring_port(env, exports);
  define_vfio_stand_in(env, exports);
  return exports;
}

NODE_API_MODULE(fpga_verbs_test, start)

} // namespace

} // namespace fpga_verbs::test
