// Protection domains, memory regions and windows.
#include "driver/explanation.h"
#include "driver/mapped_ranges.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <cerrno>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace fpga_verbs::verbs {

namespace {

// Whether the program has mapped a whole range of memory, writable if required: the check that the kernel
// makes when it pins pages. A missing page would end the process at the device's access.
bool is_mapped(const void* memory, size_t bytes, bool writable) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  std::vector<driver::MappedRange> ranges;
  if (!driver::find_mapped(begin, begin + bytes, ranges))
    return true;           // nothing tells
  uintptr_t known = begin; // up to here
  for (const driver::MappedRange& range : ranges) {
    const int wanted = PROT_READ | (writable ? PROT_WRITE : 0);
    if (range.begin > known || (range.protection & wanted) != wanted)
      return false;
    known = range.end;
  }
  return known >= begin + bytes;
}

int check_range(const void* memory, size_t bytes, unsigned access) {
  constexpr size_t most = size_t{1} << 48;
  if (bytes == 0 || bytes > most || reinterpret_cast<uintptr_t>(memory) + bytes < bytes)
    return driver::explain(EINVAL, "a memory region has 1 to 2^48 B, within the address space");
  if ((access & access_on_demand) != 0)
    return driver::explain(EOPNOTSUPP, "IBV_ACCESS_ON_DEMAND: the device has no page requests; register "
                                       "without it");
  if ((access & ~(access_own | access_hugetlb | access_optional)) != 0)
    return driver::explain(EINVAL, "access flags that this device does not have");
  const bool may_write = (access & 1u << static_cast<unsigned>(spec::AccessFlag::local_write)) != 0;
  if (!is_mapped(memory, bytes, may_write))
    return driver::explain(EFAULT, std::string("part of the memory is not mapped, or not for ") +
                                       (may_write ? "writing" : "reading"));
  return 0;
}

int register_memory(ProtectionDomain* domain, OwnMemoryRegion& region) {
  const uint64_t base = (region.access & access_zero_based) != 0 ? 0 : region.base;
  return driver_of(domain->context)
      .register_memory(number_of(domain), region.addr, region.length, base, region.access & access_own,
                       region.registered);
}

void show(OwnMemoryRegion& region, ProtectionDomain* domain) {
  region.context = domain->context;
  region.pd = domain;
  region.handle = region.lkey = region.rkey = region.registered.key;
}

} // namespace

VERBS_EXPORT ProtectionDomain* ibv_alloc_pd(Context* context) {
  auto made = std::make_unique<OwnProtectionDomain>();
  if (const int error = driver_of(context).create_protection_domain(made->number))
    return failed<ProtectionDomain>(error);
  made->context = context;
  made->handle = made->number;
  return made.release();
}

VERBS_EXPORT int ibv_dealloc_pd(ProtectionDomain* domain) {
  auto* const own = static_cast<OwnProtectionDomain*>(domain);
  if (own->users.load() != 0)
    return driver::explain(EBUSY, "the protection domain has address handles or parent domains");
  if (own->parent != nullptr)
    own->parent->users.fetch_sub(1);
  else if (const int error = driver_of(domain->context).destroy_protection_domain(own->number))
    return error;
  delete own;
  return 0;
}

// Threads have no resources of their own, so a thread domain needs none.
ThreadDomain* alloc_td(Context* context, void*) { return new ThreadDomain{context}; }
int dealloc_td(ThreadDomain* domain) {
  delete domain;
  return 0;
}

ProtectionDomain* alloc_parent_domain(Context* context, ParentDomainInit* init) {
  if (init->comp_mask != 0 || init->pd == nullptr)
    return failed<ProtectionDomain>(
        driver::explain(init->pd == nullptr ? EINVAL : EOPNOTSUPP,
                        "a parent domain needs a protection domain, and takes no allocators"));
  auto made = std::make_unique<OwnProtectionDomain>();
  made->parent = static_cast<OwnProtectionDomain*>(init->pd);
  made->parent->users.fetch_add(1);
  made->number = made->parent->number;
  made->context = context;
  made->handle = made->number;
  return made.release();
}

VERBS_EXPORT MemoryRegion* ibv_reg_mr_iova2(ProtectionDomain* domain, void* memory, size_t bytes,
                                            uint64_t base, unsigned access) {
  if (const int error = check_range(memory, bytes, access))
    return failed<MemoryRegion>(error);
  auto made = std::make_unique<OwnMemoryRegion>();
  made->addr = memory;
  made->length = bytes;
  made->base = base;
  made->access = access;
  if (const int error = register_memory(domain, *made))
    return failed<MemoryRegion>(error);
  show(*made, domain);
  return made.release();
}

VERBS_EXPORT MemoryRegion* ibv_reg_mr_iova(ProtectionDomain* domain, void* memory, size_t bytes,
                                           uint64_t base, int access) {
  return ibv_reg_mr_iova2(domain, memory, bytes, base, static_cast<unsigned>(access));
}

VERBS_EXPORT MemoryRegion* ibv_reg_mr(ProtectionDomain* domain, void* memory, size_t bytes, int access) {
  return ibv_reg_mr_iova2(domain, memory, bytes, reinterpret_cast<uintptr_t>(memory),
                          static_cast<unsigned>(access));
}

VERBS_EXPORT MemoryRegion* ibv_reg_dmabuf_mr(ProtectionDomain*, uint64_t, size_t, uint64_t, int, int) {
  return failed<MemoryRegion>(driver::explain(EOPNOTSUPP, "dmabuf memory cannot be registered"));
}

// The new key differs: the region shows it. An error leaves the old region unchanged.
VERBS_EXPORT int ibv_rereg_mr(MemoryRegion* shown, int flags, ProtectionDomain* domain, void* memory,
                              size_t bytes, int access) {
  enum : int { translation = 1, protection_domain = 2, rights = 4, input_error = -1 };
  auto* const region = static_cast<OwnMemoryRegion*>(shown);
  OwnMemoryRegion wanted = *region;
  if ((flags & translation) != 0) {
    wanted.addr = memory;
    wanted.length = bytes;
    wanted.base = reinterpret_cast<uintptr_t>(memory);
  }
  if ((flags & rights) != 0)
    wanted.access = static_cast<unsigned>(access);
  ProtectionDomain* const its = (flags & protection_domain) != 0 ? domain : region->pd;
  int error = (flags & ~(translation | protection_domain | rights)) != 0 || flags == 0 || its == nullptr
                  ? EINVAL
                  : check_range(wanted.addr, wanted.length, wanted.access);
  if (error == 0)
    error = register_memory(its, wanted);
  if (error == 0) {
    error = driver_of(region->context).deregister_memory(region->registered);
    if (error != 0)
      driver_of(region->context).deregister_memory(wanted.registered);
  }
  if (error != 0) {
    errno = error;
    return input_error;
  }
  *region = wanted;
  show(*region, its);
  return 0;
}

VERBS_EXPORT int ibv_dereg_mr(MemoryRegion* region) {
  auto* const own = static_cast<OwnMemoryRegion*>(region);
  if (const int error = driver_of(region->context).deregister_memory(own->registered))
    return error;
  delete own;
  return 0;
}

MemoryWindow* alloc_mw(ProtectionDomain* domain, int type) {
  auto made = std::make_unique<MemoryWindow>();
  if (const int error = driver_of(domain->context)
                            .create_memory_window(number_of(domain), static_cast<unsigned>(type), made->rkey))
    return failed<MemoryWindow>(error);
  made->context = domain->context;
  made->pd = domain;
  made->handle = made->rkey;
  made->type = type;
  return made.release();
}

int dealloc_mw(MemoryWindow* window) {
  if (const int error = driver_of(window->context).destroy_memory_window(window->handle))
    return error;
  delete window;
  return 0;
}

// Type 1: the library chooses the new key and stores it in the window.
int bind_mw(QueuePair* queue_pair, MemoryWindow* window, Bind* bind) {
  constexpr uint32_t variant = 0xff;
  const uint32_t key = (window->rkey & ~variant) | ((window->rkey + 1) & variant);
  SendRequest request{};
  request.wr_id = bind->wr_id;
  request.opcode = wr_bind_mw;
  request.send_flags = bind->send_flags;
  request.more.bind_mw.mw = window;
  request.more.bind_mw.rkey = key;
  request.more.bind_mw.bind_info = bind->bind_info;
  SendRequest* bad = nullptr;
  if (const int error = post_send(queue_pair, &request, &bad))
    return error;
  window->rkey = key;
  return 0;
}

} // namespace fpga_verbs::verbs
