#pragma once

#include "board/board_watch.h"
#include "board/emulated_function.h"
#include "board/observer_view.h"
#include "link/descriptor.h"
#include "link/sealed_memory.h"
#include "served/memory_reclaimer.h"
#include "served/protocol.h"
#include "served/served_consumer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fpga_verbs::served {

class ServedBoard;

// A process at the other end of a server's socket: its open function, its ring, and its DMA memory. Or an
// observer of a function, which has no effect on it. Each call does a bounded amount of work and counts its
// units: ServedWork.
class ServedClient {
public:
  // `since`: HostTime of now.
  ServedClient(link::Descriptor socket, uint64_t since);
  ~ServedClient();
  ServedClient(const ServedClient&) = delete;
  ServedClient& operator=(const ServedClient&) = delete;

  int socket() const { return socket_.get(); }
  pid_t process() const { return process_; }
  uint64_t since() const { return since_; }
  // Null: no function is open.
  const board::EmulatedFunction* function() const { return function_.get(); }
  bool observes() const { return view_ != nullptr; }
  bool has_function() const { return function_ != nullptr || view_ != nullptr; }
  // For a client that has a function open or observes it.
  unsigned underlying_function() const {
    return view_ != nullptr ? view_->underlying_function() : function_->facts().underlying_function;
  }

  // Reads messages from the socket, up to the first request. False: the client is gone or has violated the
  // protocol; `reason` says which.
  bool take_messages(ServedBoard& board);

  // Whether its messages are read now; not while the server returns its large memory.
  bool is_heard() const { return reclaiming_->load() == 0; }

  // Takes up to `limit` transactions from the ring and returns their number. It takes none from a client that
  // writes malformed messages.
  unsigned serve(unsigned limit);

  bool announce_sleep() { return !consumer_ || consumer_->announce_sleep(); }
  void call_off_sleep() {
    if (consumer_)
      consumer_->call_off_sleep();
  }

  // The reason why the server disconnected it; "": the client closed.
  const std::string& reason() const { return reason_; }
  bool is_refused() const { return !reason_.empty() || (consumer_ && *consumer_->malformed() != '\0'); }
  void refuse(const char* reason = "");

  // Disconnects the client and resets its function.
  void leave();
  // Releases a part of the client's resources, after which it can be destroyed. False: all are released.
  bool give_back(ServedBoard& board);
  // For a client that leaves: whether give_back() can make progress now.
  bool can_give_back() const { return !memory_.empty() || reclaiming_->load() == 0; }

private:
  using Memory = std::map<uint64_t, link::SealedMemory>; // by DMA address

  bool reply_to(const Request& request, ServedBoard& board);
  bool open(uint32_t number, ServedBoard& board);
  bool observe(uint32_t number, ServedBoard& board);
  bool watch(uint32_t kind);
  bool unwatch(uint32_t kind);
  template <class Facts>
  bool list(uint32_t from, uint32_t (board::Observation::*find)(uint32_t, std::vector<Facts>&),
            ServedBoard& board);
  bool allocate(uint64_t bytes, ServedBoard& board);
  bool release(uint64_t address, ServedBoard& board);
  void unmap(Memory::iterator memory, ServedBoard& board);
  bool interrupt(uint32_t vector);
  bool send(const Reply& reply, int descriptor = -1);
  void execute(const ServedTransaction& transaction);
  void look(const ServedTransaction& transaction);

  link::Descriptor socket_;
  pid_t process_ = 0;
  uint64_t since_;
  std::string reason_;
  std::optional<link::SealedMemory> page_;
  std::optional<ServedConsumer> consumer_;
  Memory memory_;
  size_t memory_bytes_ = 0;
  MemoryReclaimer::Pending reclaiming_ = std::make_shared<std::atomic<unsigned>>(0);
  ServedTransaction transaction_;
  std::unique_ptr<board::ObserverView> view_; // of an observer
  std::array<std::unique_ptr<board::BoardWatch>, board::watch_kinds> watches_;
  std::shared_ptr<board::EmulatedFunction> function_; // goes first: no DMA comes to the memory after it
};

} // namespace fpga_verbs::served
