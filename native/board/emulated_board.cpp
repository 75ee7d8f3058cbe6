#include "board/emulated_board.h"

#include "board/board_watch.h"
#include "board/emulated_function.h"
#include "board/neighbors.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t nanoseconds_per_microsecond = 1000;

const char* name(ProgressMode mode) {
  switch (mode) {
  case ProgressMode::shared:
    return "shared";
  case ProgressMode::own:
    return "own";
  case ProgressMode::stepped:
    return "stepped";
  }
  return "";
}

TransactionSizes sizes_of(const EmulatedBoardOptions& options) {
  return {options.stores == StoreModel::uncached ? 8u : 64u, options.double_word_only ? 4u : 64u};
}

} // namespace

std::shared_ptr<EmulatedBoard> EmulatedBoard::make(const EmulatedBoardOptions& options,
                                                   const DeviceFactory& make_device, std::string& failure) {
  std::unique_ptr<BoardPorts> ports = BoardPorts::make(options.ports, failure);
  if (ports == nullptr)
    return nullptr;
  std::shared_ptr<EmulatedBoard> board(new EmulatedBoard(options, std::move(ports), make_device));
  board->ports_->attach(*board);
  return board;
}

EmulatedBoard::EmulatedBoard(const EmulatedBoardOptions& options, std::unique_ptr<BoardPorts> ports,
                             const DeviceFactory& make_device)
    : options_(options), ports_(std::move(ports)), host_clock_(options.clock_frequency),
      clock_(options.progress == ProgressMode::stepped
                 ? static_cast<const hca::Clock&>(ports_->steps()->clock())
                 : host_clock_),
      faults_(options.seed), packets_(clock_),
      impaired_links_(ports_->links(), attachments_.links, options.ports.link_layer, clock_,
                      options.clock_frequency, options.seed, ports_->board_number()),
      host_(options.underlying_functions, options.dma_latency, options.seed, faults_, counters_, clock_),
      device_(make_device({host_, clock_, attachments_, ports_->board_number()})),
      device_side_(ring_, *device_, clock_, faults_, trace_, counters_, wakeups_, sizes_of(options)),
      progress_(make_progress()) {
  if (options.impairment != LinkImpairment{})
    impair(options.impairment);
  for (const auto& [probability, bits] :
       {std::pair(options.bit_errors, 1U), std::pair(options.double_bit_errors, 2U)})
    if (probability > 0) {
      FaultRule rule;
      rule.kind = FaultKind::flip_bits;
      rule.probability = probability;
      rule.count = 0;
      rule.bits = bits;
      inject(rule);
    }
}

EmulatedBoard::~EmulatedBoard() { ports_->detach(); }

// Called under the locks of another board: the thread that drives that board gets to this one later, or wakes
// a thread.
void EmulatedBoard::notify() {
  wakeups_.note([this] {
    Neighbors& neighbors = Neighbors::here();
    if (neighbors.collects())
      neighbors.add(weak_from_this());
    else
      progress_->attend(Attendance::wake);
  });
}

std::unique_ptr<Progress> EmulatedBoard::make_progress() {
  switch (options_.progress) {
  case ProgressMode::shared:
    return std::make_unique<SharedProgress>(device_side_, ring_, host_clock_, wakeups_);
  case ProgressMode::own:
    return std::make_unique<OwnProgress>(device_side_, ring_, host_clock_, wakeups_, options_.device_cpu,
                                         options_.sleep_after * nanoseconds_per_microsecond);
  case ProgressMode::stepped:
    break;
  }
  auto stepped = std::make_unique<SteppedProgress>(device_side_, wakeups_, ports_->steps());
  stepped_ = stepped.get();
  return stepped;
}

bool EmulatedBoard::advance() { return progress_->poll(ports_->has_arrived()); }

BoardFacts EmulatedBoard::facts_of(unsigned underlying_function) const {
  const bool is_uncached = options_.stores == StoreModel::uncached;
  BoardFacts facts;
  facts.backend = "emu";
  facts.progress = name(options_.progress);
  facts.clock = options_.progress == ProgressMode::stepped ? "virtual" : HostTime::source();
  facts.mapping = is_uncached ? CommandMapping::uncached : CommandMapping::write_combining;
  facts.store_bytes = options_.double_word_only ? 4 : is_uncached ? 8 : 64;
  facts.underlying_function = underlying_function;
  facts.interrupt_vectors = Interrupts::vectors;
  return facts;
}

std::shared_ptr<EmulatedFunction> EmulatedBoard::open(unsigned underlying_function) {
  if (underlying_function >= options_.underlying_functions)
    return nullptr;
  const Exclusive exclusive(*progress_);
  return make_function(underlying_function);
}

std::shared_ptr<EmulatedFunction> EmulatedBoard::open_free() {
  const Exclusive exclusive(*progress_);
  for (unsigned number = 1; number < options_.underlying_functions; ++number)
    if (handles_[number] == 0)
      return make_function(number);
  return nullptr;
}

std::shared_ptr<EmulatedFunction> EmulatedBoard::make_function(unsigned underlying_function) {
  ++handles_[underlying_function];
  return std::make_shared<EmulatedFunction>(shared_from_this(), underlying_function);
}

void EmulatedBoard::post(const Transaction& transaction) {
  while (!ring_.push_partial_write(transaction.underlying_function, transaction.bar, transaction.offset,
                                   transaction.byte_enables, transaction.data.data(), transaction.length))
    progress_->make_room();
  progress_->posted();
}

uint64_t EmulatedBoard::now() {
  if (stepped_ == nullptr)
    return host_clock_.now();
  const Exclusive exclusive(*progress_);
  return clock_.now();
}

BoardCounters EmulatedBoard::counters() {
  const Exclusive exclusive(*progress_);
  return counters_;
}

unsigned EmulatedBoard::inject(const FaultRule& rule) {
  const Exclusive exclusive(*progress_);
  if (rule.kind == FaultKind::slow_dma)
    host_.slow_down();
  return faults_.add(rule);
}

std::optional<uint64_t> EmulatedBoard::injected(unsigned number) {
  const Exclusive exclusive(*progress_);
  return faults_.happened(number);
}

bool EmulatedBoard::clear_fault(unsigned number) {
  const Exclusive exclusive(*progress_);
  const bool removed = faults_.remove(number);
  device_side_.release_held();
  return removed;
}

void EmulatedBoard::clear_faults() {
  const Exclusive exclusive(*progress_);
  faults_.clear();
  device_side_.release_held();
}

unsigned EmulatedBoard::impair(const LinkImpairment& rule) {
  const Exclusive exclusive(*progress_);
  return impaired_links_.add(rule);
}

std::optional<LinkImpairmentCounters> EmulatedBoard::impaired(unsigned number) {
  const Exclusive exclusive(*progress_);
  return impaired_links_.counters(number);
}

bool EmulatedBoard::clear_impairment(unsigned number) {
  const Exclusive exclusive(*progress_);
  return impaired_links_.remove(number);
}

void EmulatedBoard::clear_impairments() {
  const Exclusive exclusive(*progress_);
  impaired_links_.clear();
}

bool EmulatedBoard::arrive(unsigned port, std::span<const uint8_t> packet) {
  {
    const Exclusive exclusive(*progress_);
    if (!impaired_links_.arrive(port, packet))
      return false;
  }
  notify();
  return true;
}

const char* EmulatedBoard::verify(bool at_rest) {
  const Exclusive exclusive(*progress_);
  return at_rest ? device_->verify_at_rest() : device_->verify();
}

void EmulatedBoard::start_trace(size_t capacity) {
  const Exclusive exclusive(*progress_);
  trace_.start(capacity);
}

void EmulatedBoard::stop_trace() {
  const Exclusive exclusive(*progress_);
  trace_.stop();
}

std::vector<Transaction> EmulatedBoard::take_trace() {
  const Exclusive exclusive(*progress_);
  return trace_.take();
}

uint64_t EmulatedBoard::trace_dropped() {
  const Exclusive exclusive(*progress_);
  return trace_.dropped();
}

std::deque<DmaFault> EmulatedBoard::take_dma_faults() {
  const Exclusive exclusive(*progress_);
  return host_.take_faults();
}

void EmulatedBoard::start_packet_trace(size_t capacity) {
  const Exclusive exclusive(*progress_);
  packets_.trace.start(capacity);
  attach_tap();
}

void EmulatedBoard::stop_packet_trace() {
  const Exclusive exclusive(*progress_);
  packets_.trace.stop();
  attach_tap();
}

std::vector<PortPacket> EmulatedBoard::take_packets() {
  const Exclusive exclusive(*progress_);
  return packets_.trace.take();
}

PacketCapture::Source EmulatedBoard::capture_source() const {
  PacketCapture::Source source{.board_number = board_number(),
                               .ports = options_.ports.ports,
                               .link_layer = options_.ports.link_layer,
                               .clock_frequency = options_.clock_frequency};
  if (stepped_ == nullptr) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const uint64_t now = static_cast<uint64_t>(std::chrono::nanoseconds(since_1970).count());
    source.begin = now - host_clock_.nanoseconds(host_clock_.now());
  }
  return source;
}

int EmulatedBoard::start_capture(const std::string& path) {
  const Exclusive exclusive(*progress_);
  const int failure = packets_.capture.start(path, capture_source());
  attach_tap();
  return failure;
}

std::unique_ptr<BoardWatch> EmulatedBoard::watch(unsigned underlying_function, WatchKind kind) {
  if (kind == WatchKind::packets && underlying_function != 0)
    return nullptr;
  const Exclusive exclusive(*progress_);
  const std::vector<uint8_t> preamble =
      kind == WatchKind::packets ? PacketCapture::head(capture_source()) : std::vector<uint8_t>();
  const WatchMemory* const memory = watches_.begin(underlying_function, kind, preamble);
  if (memory == nullptr)
    return nullptr;
  follow_watches();
  return std::make_unique<BoardWatch>(shared_from_this(), underlying_function, kind, *memory);
}

void EmulatedBoard::pause_watch(unsigned underlying_function, WatchKind kind) {
  const Exclusive exclusive(*progress_);
  watches_.pause(underlying_function, kind);
  follow_watches();
}

void EmulatedBoard::resume_watch(unsigned underlying_function, WatchKind kind) {
  const Exclusive exclusive(*progress_);
  watches_.resume(underlying_function, kind);
  follow_watches();
}

std::optional<WatchMemory> EmulatedBoard::end_watch(unsigned underlying_function, WatchKind kind) {
  const Exclusive exclusive(*progress_);
  std::optional<WatchMemory> memory = watches_.end(underlying_function, kind);
  follow_watches();
  return memory;
}

void EmulatedBoard::follow_watches() {
  device_->watch(watches_.watched());
  packets_.capture.watch(watches_.watches_packets() ? &watches_ : nullptr, capture_source());
  attach_tap();
}

int EmulatedBoard::stop_capture() {
  const Exclusive exclusive(*progress_);
  const int failure = packets_.capture.stop();
  attach_tap();
  return failure;
}

bool EmulatedBoard::captures() {
  const Exclusive exclusive(*progress_);
  return packets_.capture.has_file();
}

int EmulatedBoard::attach_memory(unsigned underlying_function, const std::string& path, size_t bytes,
                                 const std::optional<RemappingRoot>& root) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return errno;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int reason = errno;
  close(file);
  if (memory == MAP_FAILED)
    return reason;
  DmaMemory mapped(memory, bytes, {memory, [bytes](void* begin) { munmap(begin, bytes); }});
  const Exclusive exclusive(*progress_);
  AttachedMemory& attached = attached_[underlying_function];
  IommuDomain& domain = host_.domain(underlying_function);
  if (attached.memory || !domain.map_at(0, memory, bytes, DmaRights::read_write))
    return EBUSY;
  attached.memory = std::move(mapped);
  if (root) {
    attached.tables.emplace(static_cast<uint8_t*>(memory), bytes, *root);
    domain.follow(&*attached.tables);
  }
  return 0;
}

void EmulatedBoard::detach_memory(unsigned underlying_function) {
  const Exclusive exclusive(*progress_);
  AttachedMemory& attached = attached_[underlying_function];
  IommuDomain& domain = host_.domain(underlying_function);
  if (attached.memory)
    domain.unmap(0);
  domain.follow(nullptr);
  attached.tables.reset();
  attached.memory = {};
}

} // namespace fpga_verbs::board
