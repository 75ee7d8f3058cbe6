#pragma once

#include "link/descriptor.h"
#include "link/sealed_memory.h"
#include "served/protocol.h"
#include "served/socket_path.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::served {

// The client's end of a socket to a server: requests, each of which waits for its reply. Not on a data path.
class ServedConnection {
public:
  // Waits for a server that is busy, for seconds. Nothing: `failure` says why, and what would be right.
  static std::optional<ServedConnection> make(const std::string& path, std::string& failure);
  // Does not wait. The connection is there when it gives reached.
  static Reached make(const std::string& path, std::optional<ServedConnection>& connection,
                      std::string& failure);

  // Waits for seconds. Nothing: the server is gone, or does not answer. With the reply comes a descriptor,
  // where it has one.
  std::optional<Reply> ask(const Request& request, link::Descriptor& descriptor);
  std::optional<Reply> ask(const Request& request);
  // The same of a reply with a list behind it, of which `list` takes the bytes.
  std::optional<Reply> ask(const Request& request, std::vector<std::byte>& list);

  // Asks without waiting. False: the server is gone.
  bool say(const Request& request);
  // Nothing: no reply is there.
  std::optional<Reply> take_reply(link::Descriptor& descriptor);

  // Wakes the server. False: it is gone.
  bool wake();

  // Whether the server is gone; a system call.
  bool is_gone() const;

  int socket() const { return socket_.get(); }

private:
  explicit ServedConnection(link::Descriptor socket) : socket_(std::move(socket)) {}

  link::Descriptor socket_;
};

} // namespace fpga_verbs::served
