// Devices: the list, opening and closing.
#include "driver/explanation.h"
#include "libibverbs/device_node.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace fpga_verbs::verbs {

namespace {

// The board of programs that name none: it connects the boards of all programs of this user in this network
// namespace.
constexpr const char* usual_device = "emu:?linkLayer=infiniband&link=host:default";

void set_text(char* to, size_t room, const std::string& text) {
  const size_t bytes = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), bytes);
  to[bytes] = 0;
}

// Never freed: threads may use it until the process ends.
OwnDevice& the_device() {
  static OwnDevice* const device = [] {
    auto* const made = new OwnDevice{};
    const char* const named = std::getenv("FPGA_VERBS_DEVICE");
    made->device_string = named != nullptr && *named != 0 ? named : usual_device;
    made->node_type = node_ca;
    made->transport_type = transport_ib;
    set_text(made->name, sizeof made->name, "fpga0");
    set_text(made->dev_name, sizeof made->dev_name, device_node_name);
    set_text(made->dev_path, sizeof made->dev_path,
             std::string("/sys/class/infiniband_verbs/") + device_node_name);
    set_text(made->ibdev_path, sizeof made->ibdev_path, "/sys/class/infiniband/fpga0");
    return made;
  }();
  return *device;
}

// Null: errno has the reason.
std::shared_ptr<Adapter> adapter_of(OwnDevice& device) {
  const std::scoped_lock lock(device.mutex);
  if (device.adapter == nullptr || device.adapter->process() != getpid())
    device.adapter = Adapter::open(device);
  return device.adapter;
}

} // namespace

VERBS_EXPORT Device** ibv_get_device_list(int* count) {
  auto** const list = static_cast<Device**>(std::calloc(2, sizeof(Device*)));
  if (list == nullptr)
    return failed<Device*>(ENOMEM);
  list[0] = &the_device();
  if (count != nullptr)
    *count = 1;
  return list;
}

VERBS_EXPORT void ibv_free_device_list(Device** list) { std::free(list); }

VERBS_EXPORT const char* ibv_get_device_name(Device* device) { return device->name; }

VERBS_EXPORT int ibv_get_device_index(Device*) { return 0; }

VERBS_EXPORT uint64_t ibv_get_device_guid(Device* device) {
  const std::shared_ptr<Adapter> adapter = adapter_of(*static_cast<OwnDevice*>(device));
  return adapter == nullptr ? 0 : adapter->node_guid();
}

VERBS_EXPORT Context* ibv_open_device(Device* device) {
  auto made = std::make_unique<OwnContext>();
  made->adapter = adapter_of(*static_cast<OwnDevice*>(device));
  if (made->adapter == nullptr || !made->events.begin()) {
    const int error = errno;
    std::fprintf(stderr, "fpga-verbs: %s: %s\n", device->name, driver::last_explanation().c_str());
    return failed<Context>(error);
  }
  fill_operations(made->shown);
  Context& shown = made->shown.context;
  shown.device = device;
  shown.cmd_fd = -1;
  shown.async_fd = made->events.descriptor();
  shown.num_comp_vectors = 1;
  pthread_mutex_init(&shown.mutex, nullptr);
  shown.abi_compat = reinterpret_cast<void*>(UINTPTR_MAX);
  made->adapter->add(*made);
  return &made.release()->shown.context;
}

VERBS_EXPORT int ibv_close_device(Context* context) {
  const std::unique_ptr<OwnContext> closed(&OwnContext::of(context));
  auto& device = *static_cast<OwnDevice*>(context->device);
  closed->adapter->remove(*closed);
  pthread_mutex_destroy(&context->mutex);
  const std::scoped_lock lock(device.mutex);
  closed->adapter.reset();
  // The last one closes the board: the device accesses no memory of the program any more.
  if (device.adapter.use_count() == 1)
    device.adapter.reset();
  return 0;
}

VERBS_EXPORT Context* ibv_import_device(int) { return failed<Context>(EOPNOTSUPP); }
VERBS_EXPORT ProtectionDomain* ibv_import_pd(Context*, uint32_t) {
  return failed<ProtectionDomain>(EOPNOTSUPP);
}
VERBS_EXPORT void ibv_unimport_pd(ProtectionDomain*) {}
VERBS_EXPORT MemoryRegion* ibv_import_mr(ProtectionDomain*, uint32_t) {
  return failed<MemoryRegion>(EOPNOTSUPP);
}
VERBS_EXPORT void ibv_unimport_mr(MemoryRegion*) {}
VERBS_EXPORT void* ibv_import_dm(Context*, uint32_t) { return failed<void>(EOPNOTSUPP); }
VERBS_EXPORT void ibv_unimport_dm(void*) {}

// Children do not inherit the memory of the device's queues. Registered memory stays private to the parent,
// whose board accesses it through the parent's mapping.
VERBS_EXPORT int ibv_fork_init() { return 0; }
VERBS_EXPORT int ibv_is_fork_initialized() {
  constexpr int unneeded = 2;
  return unneeded;
}
VERBS_EXPORT int ibv_dontfork_range(void*, size_t) { return 0; }
VERBS_EXPORT int ibv_dofork_range(void*, size_t) { return 0; }

void fill_operations(ExtendedContext& context) {
  context.sz = sizeof context;
  context.query_port = query_port;
  context.alloc_parent_domain = alloc_parent_domain;
  context.alloc_td = alloc_td;
  context.dealloc_td = dealloc_td;
  context.modify_cq = modify_cq;
  context.query_rt_values = query_rt_values;
  context.create_cq_ex = create_cq_ex;
  context.query_device_ex = query_device_ex;
  context.create_qp_ex = create_qp_ex;
  context.get_srq_num = get_srq_num;
  context.create_srq_ex = create_srq_ex;
  ContextOps& operations = context.context.ops;
  operations.alloc_mw = alloc_mw;
  operations.bind_mw = bind_mw;
  operations.dealloc_mw = dealloc_mw;
  operations.poll_cq = poll_cq;
  operations.req_notify_cq = req_notify_cq;
  operations.post_srq_recv = post_srq_recv;
  operations.post_send = post_send;
  operations.post_recv = post_recv;
}

} // namespace fpga_verbs::verbs
