#pragma once

#include "board/emulated_board.h"
#include "board/function_view.h"
#include "link/descriptor.h"
#include "served/protocol.h"
#include "served/served_client.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::served {

struct ServedBoardOptions {
  std::string path;            // of the socket, which nobody but this user may use
  unsigned first_function = 1; // that clients may open; those below are the server's own
  uint64_t memory_per_client = uint64_t{4} << 30;
};

// What happened to a client.
struct ServedNotice {
  enum class Kind : uint8_t { opened, closed, refused } kind = Kind::opened;
  unsigned underlying_function = 0;
  pid_t process = 0;
  std::string reason; // of refused: what it did
};

// A board for other processes: each opens one function by a socket, and reaches it by a ring of transactions.
// A thread serves them all in turn; whatever one of them does, or leaves undone, no other waits for it.
class ServedBoard {
public:
  // Null: `failure` says why, and what would be right.
  static std::unique_ptr<ServedBoard> make(std::shared_ptr<board::EmulatedBoard> board,
                                           const ServedBoardOptions& options, std::string& failure);
  ~ServedBoard();
  ServedBoard(const ServedBoard&) = delete;
  ServedBoard& operator=(const ServedBoard&) = delete;

  const ServedBoardOptions& options() const { return options_; }

  // What happened since the last call, oldest first; the newest 1,024 are kept.
  std::vector<ServedNotice> take_notices();

private:
  friend class ServedClient;

  ServedBoard(std::shared_ptr<board::EmulatedBoard> board, const ServedBoardOptions& options);
  Reply describe() const;
  std::shared_ptr<board::EmulatedFunction> open(uint32_t number, Reply& reply);
  std::optional<board::FunctionView> observe(uint32_t number, Reply& reply) const;
  void opened(const ServedClient& client);
  const ServedClient* client_of(unsigned underlying_function) const;

  void run();
  bool serve();
  void look_at_sockets(int timeout);
  void welcome();
  void sleep();
  bool may_sleep();
  void note(ServedNotice::Kind kind, const ServedClient& client);

  ServedBoardOptions options_;
  std::shared_ptr<board::EmulatedBoard> board_;
  link::Descriptor listening_;
  link::Descriptor stop_event_;
  std::list<ServedClient> clients_; // the thread's
  std::mutex mutex_;                // of the notices
  std::deque<ServedNotice> notices_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::served
