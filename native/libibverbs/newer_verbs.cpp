// Verbs of rdma-core 59 to 65, IBVERBS_1.15 to 1.18: registration by a structure, buffers that the library
// allocates, the speed of a port. Cache hints, device memory and completion counters are not supported.
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace fpga_verbs::verbs {

extern "C" {
MemoryRegion* ibv_reg_mr_iova2(ProtectionDomain*, void*, size_t, uint64_t, unsigned);
int ibv_query_port(Context*, uint8_t, PortAttributes*);
}

namespace {

// Memory of ibv_alloc_buf. Programs hold a pointer to it and do not access its members.
struct Buffer {
  ProtectionDomain* domain;
  void* memory;
  size_t bytes;
};

// As ibv_mr_init_attr.
struct MemoryRegionInit {
  enum : uint64_t {
    has_base = 1,
    has_memory = 2,
    has_file = 4,
    has_file_offset = 8,
    has_hint = 16,
    has_buffer = 32
  };
  size_t length;
  int access;
  uint64_t comp_mask;
  uint64_t iova;
  void* addr;
  int fd;
  uint64_t fd_offset;
  void* dmah;
  Buffer* buf;
};

bool lies_in(const Buffer& buffer, const void* memory, size_t bytes) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(buffer.memory);
  return offset <= buffer.bytes && bytes <= buffer.bytes - offset;
}

int check(const ProtectionDomain* domain, const MemoryRegionInit& init) {
  using F = MemoryRegionInit;
  if ((init.comp_mask & F::has_buffer) != 0) {
    if ((init.comp_mask & (F::has_file | F::has_file_offset)) != 0)
      return driver::explain(EINVAL, "IBV_REG_MR_MASK_BUF and an fd exclude each other");
    if (init.buf == nullptr || init.buf->domain != domain)
      return driver::explain(EINVAL,
                             "buf must be used with the protection domain that it was allocated from");
    if ((init.comp_mask & F::has_memory) != 0 && !lies_in(*init.buf, init.addr, init.length))
      return driver::explain(EINVAL, "addr and length lie within buf, which has " +
                                         std::to_string(init.buf->bytes) + " B");
  }
  constexpr uint64_t known = F::has_base | F::has_memory | F::has_buffer;
  if ((init.comp_mask & ~known) != 0)
    return driver::explain(EOPNOTSUPP,
                           "comp_mask can be IBV_REG_MR_MASK_ADDR, _IOVA and _BUF: the device has "
                           "no dmabuf memory and takes no cache hints");
  return (init.comp_mask & F::has_memory) != 0
             ? 0
             : driver::explain(EINVAL, "comp_mask has IBV_REG_MR_MASK_ADDR");
}

} // namespace

VERBS_EXPORT MemoryRegion* ibv_reg_mr_ex(ProtectionDomain* domain, MemoryRegionInit* init) {
  if (const int error = check(domain, *init))
    return failed<MemoryRegion>(error);
  const bool has_base = (init->comp_mask & MemoryRegionInit::has_base) != 0;
  return ibv_reg_mr_iova2(domain, init->addr, init->length,
                          has_base ? init->iova : reinterpret_cast<uintptr_t>(init->addr),
                          static_cast<unsigned>(init->access));
}

VERBS_EXPORT void* ibv_alloc_buf(ProtectionDomain* domain, size_t bytes, Buffer** buffer) {
  auto made = std::make_unique<Buffer>(Buffer{domain, nullptr, bytes});
  if (bytes == 0)
    return failed<void>(driver::explain(EINVAL, "a buffer has 1 B or more"));
  if (const int error = posix_memalign(&made->memory, spec::page_bytes, bytes))
    return failed<void>(error);
  *buffer = made.release();
  return (*buffer)->memory;
}

VERBS_EXPORT void ibv_free_buf(Buffer* buffer) {
  std::free(buffer->memory);
  delete buffer;
}

VERBS_EXPORT MemoryRegion* ibv_reg_buf_mr(ProtectionDomain* domain, Buffer* buffer, void* memory,
                                          size_t bytes, int access) {
  MemoryRegionInit init{};
  init.length = bytes;
  init.access = access;
  init.comp_mask = MemoryRegionInit::has_memory | MemoryRegionInit::has_buffer;
  init.addr = memory;
  init.buf = buffer;
  return ibv_reg_mr_ex(domain, &init);
}

VERBS_EXPORT int ibv_export_buf_dmabuf_fd(Buffer*) {
  errno = driver::explain(ENODATA, "the buffer is ordinary memory, with no dmabuf behind it");
  return -1;
}

// Number of lanes times the speed of each (InfiniBand volume 1, 14.2.5.6).
VERBS_EXPORT int ibv_query_port_speed(Context* context, uint32_t port, uint64_t* speed) {
  struct Code {
    unsigned value;
    uint64_t meaning;
  };
  constexpr Code widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  constexpr Code speeds[] = {{1, 25},   {2, 50},   {4, 100},  {8, 100}, // of a lane, 100 Mb/s
                             {16, 140}, {32, 250}, {64, 500}, {128, 1000}};
  PortAttributes attributes;
  if (port > UINT8_MAX)
    return driver::explain(EINVAL, "the device has no port " + std::to_string(port));
  if (const int error = ibv_query_port(context, static_cast<uint8_t>(port), &attributes))
    return error;
  const auto meaning_of = [](const auto& codes, unsigned value) {
    for (const Code& code : codes)
      if (code.value == value)
        return code.meaning;
    return uint64_t{0};
  };
  *speed = meaning_of(widths, attributes.active_width) * meaning_of(speeds, attributes.active_speed);
  return 0;
}

// Hints to caches, device memory, counters of completions.

VERBS_EXPORT void* ibv_alloc_dmah(Context*, void*) {
  return failed<void>(driver::explain(EOPNOTSUPP, "the device takes no cache hints"));
}
VERBS_EXPORT int ibv_dealloc_dmah(void*) { return EOPNOTSUPP; }

VERBS_EXPORT int ibv_dm_export_dmabuf_fd(void*) {
  errno = driver::explain(EOPNOTSUPP, "the device has no memory of its own for programs");
  return -1;
}

VERBS_EXPORT int _ibv_query_comp_cntr_caps(Context*, void*, size_t) { return EOPNOTSUPP; }
VERBS_EXPORT void* ibv_create_comp_cntr(Context*, void*) {
  return failed<void>(driver::explain(EOPNOTSUPP, "the device has no completion counters"));
}
VERBS_EXPORT int ibv_destroy_comp_cntr(void*) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_qp_attach_comp_cntr(QueuePair*, void*, void*) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_set_comp_cntr(void*, uint64_t) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_set_err_comp_cntr(void*, uint64_t) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_inc_comp_cntr(void*, uint64_t) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_inc_err_comp_cntr(void*, uint64_t) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_read_comp_cntr(void*, uint64_t*) { return EOPNOTSUPP; }
VERBS_EXPORT int ibv_read_err_comp_cntr(void*, uint64_t*) { return EOPNOTSUPP; }

} // namespace fpga_verbs::verbs
