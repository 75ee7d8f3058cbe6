#include "served/served_function.h"

#include "board/board_clock.h"
#include "board/processor.h"
#include "spec/parameters.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fpga_verbs::served {

using board::DmaMemory;
using link::Descriptor;

namespace {

constexpr uint32_t all_ones = ~uint32_t{0};
// A waiting thread first spins, because the answer may arrive within a microsecond; then yields, because the
// server may need the processor; then sleeps.
constexpr unsigned looks_before_yield = 128;    // for the answer of a read
constexpr unsigned looks_before_sleep = 160;    // the last ones a yield each
constexpr unsigned looks_between_yields = 64;   // of who waits for room
constexpr unsigned polls_between_yields = 16;   // in vain
constexpr unsigned yields_between_checks = 256; // looks whether the server is there
constexpr uint64_t timeout = 5'000'000'000;     // nanoseconds; who does not serve for so long is gone

// Of a process that has a function open itself, and shares its observation.
OpenFailure not_shared(const Request& request) {
  if (request.kind == RequestKind::observe)
    return {"EINVAL", "function " + std::to_string(request.number) +
                          " cannot be observed there: the process has another one open; observe that one"};
  return {"EINVAL", "its functions cannot be opened there: a process has it open, and others observe it; "
                    "expected: a command that observes"};
}

OpenFailure refusal(const Request& request, const Reply& reply) {
  const std::string function = "underlying function " + std::to_string(request.number);
  if (reply.status == Status::not_served && reply.first_function >= reply.functions)
    return not_shared(request);
  const std::string served =
      std::to_string(std::max(1U, reply.first_function)) + " to " + std::to_string(reply.functions - 1);
  switch (reply.status) {
  case Status::taken:
    return {"EBUSY", function + " is open in process " + std::to_string(reply.value) +
                         "; open another one of " + served};
  case Status::all_taken:
    return {"EBUSY", "every underlying function is open; end a process that has one of " + served};
  case Status::not_served:
    return {"EINVAL", function + " is not for clients; open one of " + served};
  case Status::exhausted:
    return {"ENOMEM", "the server has no memory left"};
  case Status::ok:
  case Status::invalid:
    break;
  }
  return {"ENODEV", "the server is of another version"};
}

} // namespace

std::shared_ptr<ServedFunction> ServedFunction::ask(const std::string& path, const Request& request,
                                                    OpenFailure& failure) {
  std::optional<ServedConnection> connection = ServedConnection::make(path, failure.text);
  if (!connection)
    return nullptr;
  Descriptor descriptor;
  const std::optional<Reply> reply = connection->ask(request, descriptor);
  if (!reply) {
    failure = connection->is_gone()
                  ? OpenFailure{"ENODEV", "the server ended during the request; restart it"}
                  : OpenFailure{"ETIMEDOUT", "the server does not answer; check whether it is stopped"};
    return nullptr;
  }
  std::optional<link::SealedMemory> page =
      link::SealedMemory::adopt(std::move(descriptor), sizeof(ServedPage));
  if (reply->status != Status::ok || !page) {
    failure = refusal(request, *reply);
    return nullptr;
  }
  page->drop_descriptor();
  std::shared_ptr<ServedFunction> made(new ServedFunction(std::move(*connection), std::move(*page), *reply));
  made->observes_ = request.kind == RequestKind::observe;
  return made;
}

ServedFunction::ServedFunction(ServedConnection connection, link::SealedMemory page, const Reply& opened)
    : connection_(std::move(connection)), page_memory_(std::move(page)),
      producer_(*static_cast<ServedPage*>(page_memory_.data()), opened.number) {
  facts_.backend = "serve";
  facts_.progress = "own"; // whatever the server's is: it does not advance on the threads of a client
  facts_.clock = {opened.clock.data(), strnlen(opened.clock.data(), opened.clock.size())};
  facts_.mapping = static_cast<board::CommandMapping>(opened.mapping);
  facts_.store_bytes = opened.store_bytes;
  facts_.underlying_function = opened.number;
  facts_.interrupt_vectors = opened.interrupt_vectors;
}

// Writes have reached the device when a later read is answered. An observer writes nothing.
ServedFunction::~ServedFunction() {
  if (!observes_)
    read32(0, 0);
}

// Puts a message into the ring as soon as there is room. False: the server is gone.
template <class Push> bool ServedFunction::push(Push push) {
  uint64_t since = 0;
  for (unsigned looks = 1; !gone_ && !push(); ++looks) {
    wake();
    if (looks % looks_between_yields == 0)
      sched_yield();
    if (looks % (looks_between_yields * yields_between_checks) == 0)
      look_for_server(since);
    board::relax_processor();
  }
  idle_ = 0;
  return !gone_;
}

// `since`: time of the first check in this wait; 0: this is the first.
void ServedFunction::look_for_server(uint64_t& since) {
  const uint64_t now = board::HostTime::now();
  if (since == 0)
    since = now;
  gone_ = now - since > timeout || connection_.is_gone();
}

void ServedFunction::wake() {
  if (producer_.should_wake() && !connection_.wake())
    gone_ = connection_.is_gone(); // else its socket is full, and it has not slept for long
}

uint32_t ServedFunction::read32(unsigned bar, uint64_t offset) {
  if (!push([&] { return producer_.push_read(bar, offset); }))
    return all_ones;
  wake();
  return wait_for_answer() ? producer_.answer() : all_ones;
}

// False: the server is gone.
bool ServedFunction::wait_for_answer() {
  constexpr timespec between_looks{.tv_sec = 0, .tv_nsec = 20'000'000};
  std::atomic<uint32_t>& answered = page().answered;
  uint64_t since = 0;
  for (unsigned looks = 0; !gone_; ++looks) {
    const uint32_t seen = answered.load(std::memory_order_seq_cst);
    if (seen == producer_.reads())
      return true;
    if (looks < looks_before_sleep) {
      if (looks < looks_before_yield)
        board::relax_processor();
      else
        sched_yield();
      continue;
    }
    page().client_sleeps.store(1, std::memory_order_seq_cst);
    if (answered.load(std::memory_order_seq_cst) == seen)
      syscall(SYS_futex, &answered, FUTEX_WAIT, seen, &between_looks, nullptr, 0);
    page().client_sleeps.store(0, std::memory_order_relaxed);
    if (answered.load(std::memory_order_seq_cst) == seen)
      look_for_server(since);
  }
  return false;
}

void ServedFunction::write32(unsigned bar, uint64_t offset, uint32_t value) {
  push([&] { return producer_.push_write(bar, offset, &value, sizeof value); });
  wake();
}

void ServedFunction::write64(unsigned bar, uint64_t offset, uint64_t value) {
  push([&] { return producer_.push_write(bar, offset, &value, sizeof value); });
  wake();
}

void ServedFunction::write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  store_command(bar, offset, source, bytes);
  fence();
}

void ServedFunction::store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  constexpr size_t tail = 8;
  const size_t whole = (bytes + tail - 1) / tail * tail;
  push([&] { return producer_.push_write(bar, offset, source, whole); });
}

// The server keeps the order of the ring.
void ServedFunction::fence() { wake(); }

// The server runs the device. A thread that polls without success yields to it now and then.
bool ServedFunction::advance() {
  if (++idle_ % polls_between_yields == 0)
    sched_yield();
  return false;
}

DmaMemory ServedFunction::allocate_dma(size_t bytes, uint64_t& address, std::string& failure) {
  Descriptor descriptor;
  const std::optional<Reply> reply =
      connection_.ask({.kind = RequestKind::allocate, .value = bytes}, descriptor);
  failure = reply ? "no memory of the server is left" : "the server of the board is gone: there is no memory";
  if (!reply || reply->status != Status::ok)
    return {};
  constexpr size_t page = spec::page_bytes;
  const size_t whole = (bytes + page - 1) / page * page;
  std::optional<link::SealedMemory> memory = link::SealedMemory::adopt(std::move(descriptor), whole);
  if (!memory) {
    unmap_dma(reply->value);
    return {};
  }
  memory->drop_descriptor();
  void* const data = memory->data();
  madvise(data, whole, MADV_DONTFORK); // a child has no function of its own
  address = reply->value;
  return {data, whole, std::make_shared<link::SealedMemory>(std::move(*memory))};
}

const char* ServedFunction::foreign_memory_refusal() const {
  return "the server of the board cannot reach memory of this process; expected: memory of allocate()";
}

bool ServedFunction::unmap_dma(uint64_t address) {
  const std::optional<Reply> reply = connection_.ask({.kind = RequestKind::release, .value = address});
  return reply && reply->status == Status::ok;
}

namespace {

// A watch on a ring of the server. The server learns of the end of the last watch of a kind: it sees them as
// one.
class ServedWatch final : public board::Watch {
public:
  ServedWatch(ServedConnection& connection, board::WatchKind kind, unsigned& watches,
              board::WatchMemory memory)
      : connection_(connection), kind_(kind), watches_(watches), memory_(std::move(memory)),
        reader_(memory_.header(), memory_.words()) {
    ++watches_;
  }
  ~ServedWatch() override {
    if (--watches_ == 0)
      connection_.say({.kind = RequestKind::unwatch, .number = static_cast<uint32_t>(kind_)});
  }
  ServedWatch(const ServedWatch&) = delete;
  ServedWatch& operator=(const ServedWatch&) = delete;

  board::WatchReader& reader() override { return reader_; }
  std::span<const uint8_t> preamble() const override { return memory_.preamble(); }

private:
  ServedConnection& connection_;
  board::WatchKind kind_;
  unsigned& watches_; // of this kind
  board::WatchMemory memory_;
  board::WatchReader reader_;
};

} // namespace

std::unique_ptr<board::Watch> ServedFunction::watch(board::WatchKind kind) {
  Descriptor descriptor;
  const std::optional<Reply> reply =
      connection_.ask({.kind = RequestKind::watch, .number = static_cast<uint32_t>(kind)}, descriptor);
  if (!reply || reply->status != Status::ok)
    return nullptr;
  std::optional<board::WatchMemory> memory = board::WatchMemory::adopt(std::move(descriptor), kind);
  return memory ? std::make_unique<ServedWatch>(connection_, kind, watches_[static_cast<size_t>(kind)],
                                                std::move(*memory))
                : nullptr;
}

template <class Facts> uint32_t ServedFunction::list(const Request& request, std::vector<Facts>& found) {
  std::vector<std::byte> bytes;
  const std::optional<Reply> reply = connection_.ask(request, bytes);
  if (!reply || reply->status != Status::ok || bytes.size() != reply->number * sizeof(Facts))
    return 0;
  const size_t before = found.size();
  found.resize(before + reply->number);
  if (!bytes.empty())
    std::memcpy(found.data() + before, bytes.data(), bytes.size());
  return static_cast<uint32_t>(reply->value);
}

// Many are in the ring at once: the caller wakes the server, and waits for it, once for all of them.
void ServedFunction::access(unsigned bar, std::span<board::RegisterAccess> accesses) {
  for (size_t done = 0; done < accesses.size();) {
    const size_t begin = done;
    uint32_t reads = 0;
    for (; done < accesses.size() && reads < ServedPage::most_reads; ++done) {
      const board::RegisterAccess& access = accesses[done];
      const uint64_t offset = access.offset();
      if (access.is_write())
        push([&] { return producer_.push_write(bar, offset, &access.value, sizeof access.value); });
      else
        reads += push([&] { return producer_.push_read(bar, offset); });
    }
    wake();
    const bool answered = wait_for_answer();
    for (board::RegisterAccess& access : accesses.subspan(begin, done - begin))
      if (!access.is_write())
        access.value = answered ? producer_.answer(--reads) : all_ones;
  }
}

uint32_t ServedFunction::queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) {
  return list({.kind = RequestKind::queue_pairs, .number = from}, found);
}

uint32_t ServedFunction::regions(uint32_t from, std::vector<hca::RegionFacts>& found) {
  return list({.kind = RequestKind::regions, .number = from}, found);
}

int ServedFunction::interrupt_event(unsigned vector) {
  if (vector >= facts_.interrupt_vectors)
    return -1;
  Descriptor& event = events_[vector];
  if (!event)
    connection_.ask({.kind = RequestKind::interrupt, .number = vector}, event);
  return event.get();
}

} // namespace fpga_verbs::served
