#include "served/socket_path.h"

#include "link/descriptor_message.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <utility>

namespace fpga_verbs::served {

using link::Descriptor;

namespace {

constexpr int most_waiting = 64;

bool address_of(const std::string& path, sockaddr_un& address, std::string& failure) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    failure = "the path of a socket has 1 to " + std::to_string(sizeof address.sun_path - 1) + " characters";
    return false;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

// Nonblocking: connect() would wait for as long as a server accepts nothing.
Descriptor new_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool bind_to(int socket, const sockaddr_un& address) {
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool connect_to(int socket, const sockaddr_un& address) {
  return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A socket in the file system without a listener.
bool is_left_over(const std::string& path, const sockaddr_un& address) {
  struct stat state = {};
  if (lstat(path.c_str(), &state) != 0 || !S_ISSOCK(state.st_mode) || state.st_uid != getuid())
    return false;
  const Descriptor attempt = new_socket();
  return attempt && !connect_to(attempt.get(), address) && errno == ECONNREFUSED;
}

} // namespace

Descriptor SocketPath::listen(const std::string& path, std::string& failure) {
  constexpr mode_t owner_alone = S_IRUSR | S_IWUSR;
  sockaddr_un address = {};
  if (!address_of(path, address, failure))
    return {};
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A socket has the mode of its file from the creation of the file on.
  bool bound = made && fchmod(made.get(), owner_alone) == 0 && bind_to(made.get(), address);
  if (!bound && errno == EADDRINUSE) {
    if (!is_left_over(path, address)) {
      failure = "the path already exists; end the server that uses it, or use another path";
      return {};
    }
    bound = unlink(path.c_str()) == 0 && bind_to(made.get(), address);
  }
  if (bound && ::listen(made.get(), most_waiting) == 0)
    return made;
  failure = std::strerror(errno);
  return {};
}

Descriptor SocketPath::accept(int listening) {
  Descriptor made(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return made && link::is_of_this_user(made.get()) ? std::move(made) : Descriptor();
}

Reached SocketPath::connect(const std::string& path, Descriptor& socket, std::string& failure) {
  sockaddr_un address = {};
  if (!address_of(path, address, failure))
    return Reached::failed;
  Descriptor made = new_socket();
  if (!made || !connect_to(made.get(), address)) {
    const int reason = errno;
    if (reason == ENOENT || reason == ECONNREFUSED) {
      failure = "no server serves a board there; start: hca serve " + path;
      return Reached::absent;
    }
    failure = reason == EAGAIN ? "its server is busy: it accepts no connection; check whether it is stopped"
                               : std::strerror(reason);
    return reason == EAGAIN ? Reached::busy : Reached::failed;
  }
  if (!link::is_of_this_user(made.get())) {
    failure = "the server is not of this user";
    return Reached::failed;
  }
  socket = std::move(made);
  return Reached::reached;
}

} // namespace fpga_verbs::served
