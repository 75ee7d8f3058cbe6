#pragma once

#include "board/emulated_board.h"
#include "link/descriptor.h"
#include "served/protocol.h"
#include "served/served_client.h"
#include "served/served_source.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::served {

struct ServedBoardOptions {
  std::string path;            // of the socket, which only this user may use
  unsigned first_function = 1; // that clients may open; those below are the server's own
  uint64_t memory_per_client = uint64_t{4} << 30;
  uint64_t open_within = 5'000'000'000; // nanoseconds; who has nothing open then is not waited for
  uint64_t idle_before_sleep = 500'000; // nanoseconds; until then its thread looks for work all the time
};

// Work of the server's thread. A unit is a transaction, a request, an entry set or cleared in a table of DMA
// addresses, or a page returned to the system. In a turn, the thread serves each client's ring and answers
// one request of each; the units of the longest turn bound a client's wait.
struct ServedWork {
  uint64_t turns = 0;
  uint64_t units = 0;
  uint64_t most_units_in_turn = 0;
};

// An event of a client.
struct ServedNotice {
  enum class Kind : uint8_t { opened, closed, refused } kind = Kind::opened;
  unsigned underlying_function = 0;
  pid_t process = 0;
  std::string reason; // of refused: what it did
};

// A board for other processes. Each opens one function through a socket and reaches it through a ring of
// transactions. One thread serves all of them in turn, and no client can make another one wait.
class ServedBoard {
public:
  // Null: `failure` gives the reason and what would be right.
  static std::unique_ptr<ServedBoard> make(std::shared_ptr<board::EmulatedBoard> board,
                                           const ServedBoardOptions& options, std::string& failure);
  // Serves the observation of `source`; no function can be opened.
  static std::unique_ptr<ServedBoard> observed(std::unique_ptr<ServedSource> source, const std::string& path,
                                               std::string& failure);
  ~ServedBoard();
  ServedBoard(const ServedBoard&) = delete;
  ServedBoard& operator=(const ServedBoard&) = delete;

  const ServedBoardOptions& options() const { return options_; }

  // Events since the last call, oldest first; the newest 1,024 are kept.
  std::vector<ServedNotice> take_notices();

  // Work so far.
  ServedWork work() const;

private:
  friend class ServedClient;

  ServedBoard(std::unique_ptr<ServedSource> source, const ServedBoardOptions& options);
  static std::unique_ptr<ServedBoard> start(std::unique_ptr<ServedSource> source,
                                            const ServedBoardOptions& options, std::string& failure);
  Reply describe() const;
  std::shared_ptr<board::EmulatedFunction> open(uint32_t number, Reply& reply);
  std::unique_ptr<board::ObserverView> observe(uint32_t number, Reply& reply);
  void opened(const ServedClient& client);
  void observed();
  void count_work(uint64_t units) { units_ += units; }
  MemoryReclaimer& reclaimer() { return reclaimer_; }
  const ServedClient* client_of(unsigned underlying_function) const;

  using Clients = std::list<ServedClient>;

  void run();
  void stop_listening();
  bool serve();
  void look_at_sockets(int timeout);
  void hear_all(const std::vector<pollfd>& polled);
  void welcome();
  template <class Counts> ServedClient* one_too_many(size_t most, Counts counts);
  Clients::iterator end(Clients::iterator client);
  bool gives_back() const;
  void give_back();
  void end_turn();
  void sleep();
  bool may_sleep();
  int timeout() const;
  void note(ServedNotice::Kind kind, const ServedClient& client);

  ServedBoardOptions options_;
  std::unique_ptr<ServedSource> source_; // outlives the clients
  link::Descriptor listening_;
  link::Descriptor event_; // the thread is to stop, or memory was given back
  MemoryReclaimer reclaimer_;
  // Used by the thread.
  Clients clients_;
  Clients leaving_; // their functions are not free yet
  uint64_t units_ = 0;
  uint64_t units_before_turn_ = 0;
  std::atomic<uint64_t> turns_{0}; // as the next two for all to read
  std::atomic<uint64_t> units_counted_{0};
  std::atomic<uint64_t> most_units_in_turn_{0};
  std::mutex mutex_; // of the notices
  std::deque<ServedNotice> notices_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::served
