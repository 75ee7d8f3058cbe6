#include "driver/driver.h"

#include "driver/explanation.h"
#include "driver/signals_blocked.h"
#include "spec/registers.h"

#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <utility>

namespace fpga_verbs::driver {

namespace {

namespace registers = spec::underlying_function;

constexpr unsigned asynchronous_events_log2 = 8;
constexpr int look_after = 1000; // milliseconds
constexpr int poll_pause = 1;    // milliseconds, without interrupts
// Time after which the rest of a started command does not arrive any more: the driver writes it in one go.
constexpr uint64_t half_written_seconds = 1;
constexpr std::chrono::seconds reset_time_limit{1};

template <class Structure> std::span<uint8_t> bytes_of(Structure& structure) {
  return {reinterpret_cast<uint8_t*>(&structure), sizeof structure};
}

} // namespace

std::unique_ptr<Driver> Driver::open(const std::string& device, int& error) {
  const SignalsBlocked blocked; // signals of the program are for its own threads
  std::unique_ptr<Driver> made(new Driver);
  std::string failure;
  made->backend_ = open_backend(device, error, failure);
  if (made->backend_ == nullptr) {
    explain(error, failure);
    return nullptr;
  }
  made->function_ = DeviceFunction::make(*made->backend_, error);
  if (made->function_ == nullptr)
    return nullptr;
  error = made->begin();
  return error == 0 ? std::move(made) : nullptr;
}

int Driver::begin() {
  if (function_->read64(registers::management_completion_queue_address) != 0)
    return explain(EBUSY, "underlying function " + std::to_string(function_->underlying_function()) +
                              " already has a driver; open another one");
  if (const int error = enable())
    return error;
  if (!management_.begin(*function_))
    return ENOMEM;
  const auto asked = management_.execute(spec::ManagementOpcode::query_function, 0, {}, bytes_of(limits_));
  if (asked.error != 0)
    return asked.error;
  if (!collect_buffers_.begin(*function_))
    return ENOMEM;
  if (const int error = give_queuing_structures())
    return error;
  if (const int error = events_.begin(*function_, management_, 0, asynchronous_events_log2))
    return error;
  return completions_.begin(*function_, management_, completion_event_queue,
                            log2_of(limits_.completion_queues() + 1));
}

// Gives the device its memory and enables it, unless a driver has done so; for function 0 only.
int Driver::enable() {
  const auto is_enabled = [this] {
    return registers::Status{function_->read(registers::status)}.enabled() != 0;
  };
  if (is_enabled())
    return 0;
  if (function_->underlying_function() != 0)
    return explain(ENODEV, "the device is not enabled; open its underlying function 0 first");
  const DeviceMemory memory =
      function_->allocate(function_->read64_identity(spec::identity::context_memory_needed));
  if (!memory)
    return ENOMEM;
  function_->write64_control(spec::control::context_memory_address, memory.address);
  function_->write64_control(spec::control::context_memory_bytes, memory.bytes);
  function_->write64_control(spec::control::half_written_limit,
                             function_->read64_identity(spec::identity::clock_frequency) *
                                 half_written_seconds);
  spec::control::Control control;
  control.set_enable(1);
  function_->write_control(spec::control::control, control.bits);
  has_enabled_ = true;
  return is_enabled() ? 0 : explain(EIO, "the device did not accept its context memory");
}

// A queue pair is in the queuing structure of its level at most once; with one entry each it cannot overflow.
int Driver::give_queuing_structures() {
  const unsigned entries_log2 = log2_of(limits_.queue_pairs());
  for (unsigned level = 0; level < spec::quality_of_service_levels; ++level) {
    const DeviceMemory structure = function_->allocate(sizeof(spec::QueuingStructureEntry) << entries_log2);
    if (!structure)
      return ENOMEM;
    function_->write64(registers::queuing_structure_address +
                           level * registers::queuing_structure_address_stride,
                       structure.address);
  }
  registers::QueuingStructureSize size;
  size.set_entries_log2(entries_log2);
  function_->write(registers::queuing_structure_size, size.bits);
  return 0;
}

Driver::~Driver() {
  if (thread_.joinable()) {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  if (function_ != nullptr && !function_->is_lost())
    reset();
}

void Driver::reset() {
  if (has_enabled_) {
    spec::control::Control control;
    control.set_reset(1);
    function_->write_control(spec::control::control, control.bits);
  } else {
    registers::Reset request;
    request.set_reset(1);
    function_->write(registers::reset, request.bits);
  }
  const auto given_up = std::chrono::steady_clock::now() + reset_time_limit;
  while (registers::Status{function_->read(registers::status)}.reset_in_progress() != 0 &&
         std::chrono::steady_clock::now() < given_up)
    if (!backend_->advance())
      sched_yield();
}

// Events.

int Driver::listen(EventListener& listener) {
  const SignalsBlocked blocked;
  stop_ = link::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_ || (function_->has_interrupts() && (function_->interrupt_event(0) < 0 ||
                                                 function_->interrupt_event(completion_event_queue) < 0)))
    return explain(errno, "no descriptor is left for the events of the device");
  listener_ = &listener;
  thread_ = std::thread([this] { run(); });
  return 0;
}

void Driver::run() {
  enum { stopped, completed, happened, removed };
  std::array<pollfd, 4> polled{
      pollfd{stop_.get(), POLLIN, 0}, pollfd{function_->interrupt_event(completion_event_queue), POLLIN, 0},
      pollfd{function_->interrupt_event(0), POLLIN, 0},
      pollfd{function_->removal_event(), backend_->removal_condition(), 0}}; // -1: is passed over
  const auto clear = [](const pollfd& event) {
    uint64_t count = 0;
    if (event.revents != 0) [[maybe_unused]]
      const ssize_t taken = read(event.fd, &count, sizeof count);
  };
  const bool has_interrupts = function_->has_interrupts();
  const int pause = has_interrupts ? look_after : poll_pause;
  int quiet = 0; // milliseconds, since something came or the driver has looked
  while (!function_->is_lost()) {
    if (has_interrupts) {
      completions_.arm();
      events_.arm();
    }
    const int ready = poll(polled.data(), polled.size(), pause);
    if (polled[stopped].revents != 0)
      return;
    clear(polled[completed]);
    clear(polled[happened]);
    take_completions();
    take_events();
    quiet = ready == 0 ? quiet + pause : 0;
    if (is_removed(polled[removed]))
      function_->lose(function_->removal_reason());
    if (quiet < look_after)
      continue;
    quiet = 0;
    function_->look();
    queue_pairs_.visit([](QueuePair& queue_pair) { queue_pair.look(); });
  }
  lose();
  poll(polled.data(), 1, -1);
}

bool Driver::is_removed(const pollfd& removal) const {
  return (removal.revents & (backend_->removal_condition() | POLLHUP | POLLERR)) != 0;
}

// The program learns of the removal before the driver returns the function.
void Driver::lose() {
  collect_buffers_.stop();
  queue_pairs_.visit([](QueuePair& queue_pair) { queue_pair.lose(); });
  spec::EventQueueEntry event;
  event.set_type(spec::EventType::device_fatal);
  listener_->happened(event);
  function_->give_up();
}

void Driver::take_completions() {
  while (const auto event = completions_.poll())
    if (event->type() == spec::EventType::completion)
      listener_->completed(event->object());
}

void Driver::take_events() {
  while (const auto event = events_.poll())
    handle_event(*event);
}

void Driver::handle_event(const spec::EventQueueEntry& event) {
  using enum spec::EventType;
  const auto fail = [](QueuePair& queue_pair) { queue_pair.failed(); };
  switch (event.type()) {
  case management_completion:
  case completion:
    return;
  case virtual_collect_buffer_error:
  case half_written_command:
    if (CollectBuffer* const buffer = collect_buffers_.find(event.object())) {
      buffer->cancel();
      queue_pairs_.visit([buffer](QueuePair& queue_pair) { queue_pair.recover(*buffer); });
    }
    return;
  case queue_pair_fatal:
  case queue_pair_request_error:
  case queue_pair_access_error:
    queue_pairs_.visit_one(event.object(), fail);
    break;
  case port_error:
    queue_pairs_.visit(fail); // the device may be disabled, which puts all in error without a word of each
    break;
  default:
    break;
  }
  if (event.type() < completion)
    listener_->happened(event);
}

// Objects.

int Driver::query_port(unsigned port, PortFacts& facts) {
  return management_.execute(spec::ManagementOpcode::query_port, port, {}, bytes_of(facts)).error;
}

int Driver::create_protection_domain(uint32_t& number) {
  const auto made = management_.execute(spec::ManagementOpcode::create_protection_domain);
  number = made.number;
  return made.error;
}

int Driver::destroy_protection_domain(uint32_t number) {
  return management_.execute(spec::ManagementOpcode::destroy_protection_domain, number).error;
}

int Driver::create_address_handle(uint32_t protection_domain, const spec::AddressVector& address,
                                  uint32_t& number) {
  spec::CreateAddressHandleInput input;
  input.set_protection_domain(protection_domain);
  input.set_address_vector(
      std::span<const uint8_t, sizeof address>(reinterpret_cast<const uint8_t*>(&address), sizeof address));
  const auto made =
      management_.execute(spec::ManagementOpcode::create_address_handle, 0, MailboxInput(input).bytes());
  number = made.number;
  return made.error;
}

int Driver::destroy_address_handle(uint32_t number) {
  return management_.execute(spec::ManagementOpcode::destroy_address_handle, number).error;
}

int Driver::create_memory_window(uint32_t protection_domain, unsigned type, uint32_t& key) {
  spec::CreateMemoryWindowInput input;
  input.set_window_type(type);
  input.set_protection_domain(protection_domain);
  const auto made =
      management_.execute(spec::ManagementOpcode::create_memory_window, 0, MailboxInput(input).bytes());
  key = made.number;
  return made.error;
}

int Driver::destroy_memory_window(uint32_t key) {
  return management_.execute(spec::ManagementOpcode::destroy_memory_window, key).error;
}

int Driver::register_memory(uint32_t protection_domain, void* memory, uint64_t bytes, uint64_t base,
                            unsigned access_flags, RegisteredMemory& made) {
  const bool may_write = (access_flags & 1u << static_cast<unsigned>(spec::AccessFlag::local_write)) != 0;
  std::vector<DmaPiece> pieces;
  if (const int error =
          function_->map(memory, bytes, may_write ? board::DmaRights::read_write : board::DmaRights::read,
                         pieces, made.mapping))
    return error;
  const int error = register_pieces(protection_domain, pieces, bytes, base, access_flags, made.key);
  if (error != 0)
    function_->unmap(made.mapping);
  return error;
}

// Of one piece the smallest page that holds it whole, which keeps the list short; if none does, the largest
// ones. Of more, the largest that begin where they meet.
int Driver::register_pieces(uint32_t protection_domain, std::span<const DmaPiece> pieces, uint64_t bytes,
                            uint64_t base, unsigned access_flags, uint32_t& key) {
  constexpr unsigned smallest_page_log2 = 12;
  constexpr unsigned largest_page_log2 = 31;
  const auto last_page = [](const DmaPiece& piece, unsigned log2) {
    return (piece.address + piece.bytes - 1) >> log2;
  };
  const DmaPiece& first = pieces.front();
  uint64_t meeting = 0; // the bits of all addresses where they do
  for (size_t piece = 1; piece < pieces.size(); ++piece)
    meeting |= pieces[piece].address | (pieces[piece - 1].address + pieces[piece - 1].bytes);
  unsigned page_log2 = smallest_page_log2;
  while (page_log2 < largest_page_log2 && ((meeting >> page_log2) & 1) == 0 &&
         (pieces.size() > 1 || first.address >> page_log2 != last_page(first, page_log2)))
    ++page_log2;
  uint64_t pages = 0;
  for (const DmaPiece& piece : pieces)
    pages += last_page(piece, page_log2) - (piece.address >> page_log2) + 1;
  spec::RegisterMemoryInput input;
  input.set_access_flags(access_flags);
  input.set_page_log2(page_log2);
  input.set_protection_domain(protection_domain);
  input.set_base(base);
  input.set_length(bytes);
  input.set_pages(static_cast<uint32_t>(pages));
  input.set_first_page_offset(static_cast<uint32_t>(first.address & ((uint64_t{1} << page_log2) - 1)));
  MailboxInput content(input);
  for (const DmaPiece& piece : pieces) {
    for (uint64_t page = piece.address >> page_log2; page <= last_page(piece, page_log2); ++page) {
      spec::PageTableEntry entry;
      entry.set_page((page << page_log2) / spec::page_bytes);
      entry.set_valid(1);
      content.add(entry);
    }
  }
  const auto made = management_.execute(spec::ManagementOpcode::register_memory, 0, content.bytes());
  key = made.number;
  return made.error;
}

int Driver::deregister_memory(const RegisteredMemory& memory) {
  const int error = management_.execute(spec::ManagementOpcode::deregister_memory, memory.key).error;
  if (error == 0)
    function_->unmap(memory.mapping);
  return error;
}

} // namespace fpga_verbs::driver
