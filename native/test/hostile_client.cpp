#include "test/hostile_client.h"

#include "board/random.h"
#include "board/watch_memory.h"
#include "link/descriptor_message.h"
#include "link/sealed_memory.h"
#include "served/served_connection.h"
#include "served/served_producer.h"
#include "spec/parameters.h"

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <span>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::test {

using board::Random;
using board::TransactionLine;
using link::Descriptor;
using link::SealedMemory;
using served::Reply;
using served::Request;
using served::RequestKind;
using served::ServedConnection;
using served::ServedPage;
using Ready = std::function<void()>;

namespace {

constexpr unsigned collect_buffer_bar = 2;
constexpr uint64_t gibibyte = uint64_t{1} << 30;

ServedConnection connect(const std::string& path) {
  std::string failure;
  std::optional<ServedConnection> made = ServedConnection::make(path, failure);
  if (!made)
    throw std::runtime_error(failure);
  return std::move(*made);
}

// A client that implements the protocol itself, and keeps the descriptor of its ring.
class Client {
public:
  explicit Client(const HostileWay& way, RequestKind kind = RequestKind::open)
      : connection_(connect(way.path)) {
    const std::optional<Reply> reply = connection_.ask({.kind = kind, .number = way.function}, page_file_);
    void* const page =
        mmap(nullptr, sizeof(ServedPage), PROT_READ | PROT_WRITE, MAP_SHARED, page_file_.get(), 0);
    if (!reply || page == MAP_FAILED)
      throw std::runtime_error("the function is not opened");
    page_ = static_cast<ServedPage*>(page);
    producer_.emplace(*page_, way.function);
  }
  ~Client() {
    if (page_ != nullptr)
      munmap(page_, sizeof(ServedPage));
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ServedConnection& connection() { return connection_; }
  int socket() const { return connection_.socket(); }
  ServedPage& page() { return *page_; }
  int page_file() const { return page_file_.get(); }

  // Does not wait for the reply.
  bool request(const Request& request) const {
    return link::send_message(socket(), std::as_bytes(std::span(&request, 1)));
  }

  // A valid command, if there is room.
  void write(Random& random) {
    std::array<uint8_t, board::message_bytes> data;
    for (uint8_t& byte : data)
      byte = static_cast<uint8_t>(random.next());
    const uint64_t offset = random.below(spec::virtual_collect_buffers) * spec::virtual_collect_buffer_stride;
    if (random.chance(0.1))
      producer_->push_read(0, random.below(1000) * 4);
    else
      producer_->push_write(collect_buffer_bar, offset, data.data(), 8 * (1 + random.below(data.size() / 8)));
    wake();
  }

  void wake() {
    if (producer_->should_wake())
      connection_.wake();
  }

private:
  ServedConnection connection_;
  Descriptor page_file_;
  ServedPage* page_ = nullptr;
  std::optional<served::ServedProducer> producer_;
};

// Allocates and frees as much memory as it may have, in many requests at a time, each a page smaller than a
// block.
void ask_for_memory(const HostileWay& way, const Ready& ready) {
  constexpr unsigned at_once = 16;
  constexpr uint64_t bytes = gibibyte / 4 - spec::page_bytes;
  Client client(way);
  for (bool is_first = true;; is_first = false) {
    std::array<uint64_t, at_once> addresses{};
    for (unsigned i = 0; i < at_once; ++i)
      client.request({.kind = RequestKind::allocate, .value = bytes});
    if (is_first)
      ready();
    for (uint64_t& address : addresses) {
      Reply reply;
      Descriptor memory;
      pollfd polled{client.socket(), POLLIN, 0};
      poll(&polled, 1, -1);
      link::receive_message(client.socket(), std::as_writable_bytes(std::span(&reply, 1)),
                            std::span(&memory, 1), MSG_DONTWAIT);
      address = reply.value;
    }
    for (const uint64_t address : addresses)
      client.request({.kind = RequestKind::release, .value = address});
    for (unsigned i = 0; i < at_once; ++i) {
      Reply reply;
      pollfd polled{client.socket(), POLLIN, 0};
      poll(&polled, 1, -1);
      link::receive_message(client.socket(), std::as_writable_bytes(std::span(&reply, 1)), {}, MSG_DONTWAIT);
    }
  }
}

// Allocates memory of every size, uses some of it, and waits until it is killed.
void keep_memory(const HostileWay& way, const Ready& ready) {
  Client client(way);
  std::vector<SealedMemory> kept;
  const auto take = [&](uint64_t bytes) {
    Descriptor memory;
    client.connection().ask({.kind = RequestKind::allocate, .value = bytes}, memory);
    if (auto adopted = SealedMemory::adopt(std::move(memory), bytes))
      kept.push_back(std::move(*adopted));
  };
  take(3 * gibibyte);
  for (unsigned i = 0; i < 1000; ++i)
    take(uint64_t{4096} << (i % 6));
  for (const SealedMemory& memory : kept)
    std::memset(memory.data(), 1, std::min(memory.bytes(), size_t{16} << 20));
  ready();
  pause();
}

// Sends messages with descriptors, which no request has: every number that a message can carry.
void bring_descriptors(const HostileWay& way, const Ready& ready) {
  constexpr int most = 253; // SCM_MAX_FD
  Client client(way);
  std::vector<int> unwanted;
  for (int i = 0; i < most; ++i)
    unwanted.push_back(memfd_create("unwanted", MFD_CLOEXEC));
  const Request request{.kind = RequestKind::wake};
  iovec part{.iov_base = const_cast<Request*>(&request), .iov_len = sizeof request};
  std::vector<std::byte> control(CMSG_SPACE(most * sizeof(int)));
  for (bool is_first = true;; is_first = false) {
    // The server ends a connection that sends one, so each goes over a connection of its own, beside the main
    // one.
    for (size_t count = 1; count <= unwanted.size(); count = count < 8 ? count + 1 : count * 2 + 1) {
      const ServedConnection other = connect(way.path);
      msghdr header = {};
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(count * sizeof(int));
      cmsghdr* const rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(count * sizeof(int));
      std::memcpy(CMSG_DATA(rights), unwanted.data(), count * sizeof(int));
      for (unsigned times = 0; times < 20; ++times)
        sendmsg(other.socket(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
      constexpr int refused_within = 30'000; // milliseconds
      pollfd gone{other.socket(), POLLRDHUP, 0};
      if (poll(&gone, 1, refused_within) != 1)
        throw std::runtime_error("a message with descriptors is taken");
    }
    if (is_first)
      ready();
  }
}

// Opens more connections than the server may have room for, and sends nothing on them, or part of a message.
void be_idle(const HostileWay& way, const Ready& ready) {
  constexpr unsigned connections = 200;
  std::vector<ServedConnection> idle;
  for (unsigned i = 0; i < connections; ++i)
    idle.push_back(connect(way.path));
  ready();
  pause();
}

void look_on(const HostileWay& way, const Ready& ready) {
  constexpr unsigned looks = 100;
  std::vector<std::unique_ptr<Client>> all;
  for (unsigned i = 0; i < looks; ++i)
    all.push_back(std::make_unique<Client>(way, RequestKind::observe));
  ready();
  pause();
}

// Requests everything that an observer may request, endlessly, and reads nothing.
void watch_without_reading(const HostileWay& way, const Ready& ready) {
  constexpr unsigned at_once = 16;
  Client client(way, RequestKind::observe);
  Random random(way.seed);
  for (unsigned round = 0;; ++round) {
    unsigned replies = 0;
    for (unsigned i = 0; i < at_once; ++i) {
      constexpr std::array kinds{RequestKind::watch, RequestKind::unwatch, RequestKind::queue_pairs,
                                 RequestKind::regions};
      const auto number = static_cast<uint32_t>(random.chance(0.2) ? random.next() : random.below(4));
      const RequestKind kind = kinds[random.below(kinds.size())];
      client.request({.kind = kind, .number = number});
      replies += kind != RequestKind::unwatch;
    }
    if (round == 10)
      ready();
    for (; replies != 0; --replies) {
      std::array<std::byte, sizeof(Reply) + served::longest_list> reply;
      Descriptor memory;
      pollfd polled{client.socket(), POLLIN, 0};
      poll(&polled, 1, -1);
      link::receive_message(client.socket(), reply, std::span(&memory, 1), MSG_DONTWAIT);
    }
  }
}

// The ring that the server writes for observers.
Descriptor watch(Client& client, board::WatchKind kind) {
  Descriptor memory;
  const std::optional<Reply> reply =
      client.connection().ask({.kind = RequestKind::watch, .number = static_cast<uint32_t>(kind)}, memory);
  if (!reply || reply->status != served::Status::ok || !memory)
    throw std::runtime_error("nothing is watched");
  return memory;
}

// Starts and stops watching.
void stop_while_watching(const HostileWay& way, const Ready& ready) {
  Client client(way, RequestKind::observe);
  const Descriptor kicks = watch(client, board::WatchKind::kicks);
  const Descriptor events = watch(client, board::WatchKind::events);
  ready();
  std::raise(SIGSTOP);
}

// Starts and stops watching again and again, and keeps the memory that it has mapped each time.
void keep_what_it_watched(const HostileWay& way, const Ready& ready) {
  constexpr unsigned times = 100;
  Client client(way, RequestKind::observe);
  std::vector<board::WatchMemory> kept;
  std::set<ino_t> rings;
  for (unsigned i = 0; i < times; ++i) {
    for (const board::WatchKind kind : {board::WatchKind::kicks, board::WatchKind::completions}) {
      Descriptor memory = watch(client, kind);
      struct stat found{};
      fstat(memory.get(), &found);
      rings.insert(found.st_ino);
      kept.push_back(*board::WatchMemory::adopt(std::move(memory), kind));
      client.request({.kind = RequestKind::unwatch, .number = static_cast<uint32_t>(kind)});
    }
    if (rings.size() > 2)
      throw std::runtime_error("an observer has more rings than it has kinds that it watched");
  }
  ready();
  pause();
}

// Tries to write, truncate and empty read-only memory in every way, through each of its descriptors.
void write_what_it_watches(const HostileWay& way, const Ready& ready) {
  Client client(way, RequestKind::observe);
  const Descriptor memory = watch(client, board::WatchKind::kicks);
  const std::string again = "/proc/self/fd/" + std::to_string(memory.get());
  const Descriptor reopened(open(again.c_str(), O_RDWR | O_CLOEXEC));
  constexpr int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  const uint64_t nothing = 0;
  for (bool is_first = true;; is_first = false) {
    for (const int file : {memory.get(), reopened.get()}) {
      const bool changed =
          mmap(nullptr, spec::page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED ||
          pwrite(file, &nothing, sizeof nothing, 0) > 0 || fallocate(file, punch, 0, spec::page_bytes) == 0 ||
          ftruncate(file, 0) == 0 || ftruncate(file, off_t{1} << 40) == 0;
      if (changed)
        throw std::runtime_error("an observer changes what it watches");
    }
    void* const read = mmap(nullptr, spec::page_bytes, PROT_READ, MAP_SHARED, memory.get(), 0);
    if (read == MAP_FAILED || mprotect(read, spec::page_bytes, PROT_READ | PROT_WRITE) == 0)
      throw std::runtime_error("an observer makes its mapping one to write");
    munmap(read, spec::page_bytes);
    if (is_first)
      ready();
  }
}

void come_and_go(const HostileWay& way, const Ready& ready) {
  Random random(way.seed);
  for (bool is_first = true;; is_first = false) {
    try {
      Client client(way);
      for (uint64_t i = random.below(20); i != 0; --i)
        client.write(random);
      if (is_first)
        ready();
    } catch (const std::runtime_error&) { // the server has not freed the previous one yet
      std::this_thread::yield();
    }
  }
}

// Changes lines while the server reads them, and reconnects when the server disconnects it.
void tear_its_ring(const HostileWay& way, const Ready& ready) {
  Random random(way.seed);
  for (bool is_first = true;;) {
    try {
      Client client(way);
      std::atomic<bool> stop{false};
      std::thread tearing([&, seed = random.next()] {
        Random torn(seed);
        while (!stop.load(std::memory_order_relaxed)) {
          auto* const bytes = reinterpret_cast<volatile uint8_t*>(&client.page());
          // The head of a transaction, in any line; sometimes random bytes.
          const uint64_t line = torn.below(ServedPage::lines) * sizeof(TransactionLine);
          bytes[torn.chance(0.01) ? torn.below(sizeof(ServedPage)) : line + 4 + torn.below(12)] =
              static_cast<uint8_t>(torn.next());
        }
      });
      for (unsigned i = 0; i < 2000 && !client.connection().is_gone(); ++i)
        client.write(random);
      stop.store(true);
      tearing.join();
      if (is_first)
        ready();
      is_first = false;
    } catch (const std::runtime_error&) {
      std::this_thread::yield();
    }
  }
}

// Truncates its ring and its memory again and again, and wakes the server endlessly.
void punch_holes(const HostileWay& way, const Ready& ready) {
  Random random(way.seed);
  Client client(way);
  constexpr int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  for (unsigned i = 0;; ++i) {
    client.write(random);
    client.connection().wake();
    fallocate(client.page_file(), punch, 0, sizeof(ServedPage));
    [[maybe_unused]] const int cut = ftruncate(client.page_file(), 0);
    if (i == 100)
      ready();
  }
}

// Many of its threads sleep on the word by which the server wakes the one that waits for an answer.
void sleep_on_answers(const HostileWay& way, const Ready& ready) {
  constexpr unsigned sleepers = 200;
  Random random(way.seed);
  Client client(way);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < sleepers; ++i)
    threads.emplace_back([&] {
      for (;;) {
        client.page().client_sleeps.store(1);
        syscall(SYS_futex, &client.page().answered, FUTEX_WAIT, client.page().answered.load(), nullptr,
                nullptr, 0);
      }
    });
  for (unsigned i = 0;; ++i) {
    client.write(random);
    if (i == 100)
      ready();
  }
}

// Stops in the middle of a command.
void stop_itself(const HostileWay& way, const Ready& ready) {
  Random random(way.seed);
  Client client(way);
  for (uint64_t i = 0; i < 1000; ++i)
    client.write(random);
  client.request({.kind = RequestKind::allocate, .value = gibibyte});
  ready();
  std::raise(SIGSTOP);
}

const std::map<std::string, void (*)(const HostileWay&, const Ready&)> ways{
    {"asks for memory", ask_for_memory},
    {"keeps memory", keep_memory},
    {"brings descriptors", bring_descriptors},
    {"is idle", be_idle},
    {"looks on", look_on},
    {"watches without reading", watch_without_reading},
    {"stops while it watches", stop_while_watching},
    {"writes what it watches", write_what_it_watches},
    {"keeps what it watched", keep_what_it_watched},
    {"comes and goes", come_and_go},
    {"tears its ring", tear_its_ring},
    {"punches holes", punch_holes},
    {"sleeps on answers", sleep_on_answers},
    {"stops itself", stop_itself},
};

} // namespace

void be_hostile(const HostileWay& way, const std::function<void()>& ready) {
  if (const auto found = ways.find(way.name); found != ways.end())
    found->second(way, ready);
}

} // namespace fpga_verbs::test
