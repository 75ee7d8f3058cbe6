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
  // Waits a few seconds for a busy server. Nothing: `failure` gives the reason and what would be right.
  static std::optional<ServedConnection> make(const std::string& path, std::string& failure);
  // Does not wait. The connection is complete if it returns reached.
  static Reached make(const std::string& path, std::optional<ServedConnection>& connection,
                      std::string& failure);

  // Waits a few seconds. Nothing: the server is gone or does not answer. Also returns the reply's descriptor,
  // if any.
  std::optional<Reply> ask(const Request& request, link::Descriptor& descriptor);
  std::optional<Reply> ask(const Request& request);
  // The same for a reply with a list behind it, whose bytes go to `list`.
  std::optional<Reply> ask(const Request& request, std::vector<std::byte>& list);

  // Sends a request without waiting. False: the server is gone.
  bool say(const Request& request);
  // Nothing: there is no reply yet.
  std::optional<Reply> take_reply(link::Descriptor& descriptor);

  // Wakes the server. False: the server is gone.
  bool wake();

  // Whether the server is gone; a system call.
  bool is_gone() const;

  int socket() const { return socket_.get(); }

private:
  explicit ServedConnection(link::Descriptor socket) : socket_(std::move(socket)) {}

  link::Descriptor socket_;
};

} // namespace fpga_verbs::served
