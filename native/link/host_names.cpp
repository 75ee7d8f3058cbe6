#include "link/host_names.h"

#include "link/address.h"
#include "link/descriptor_message.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

namespace fpga_verbs::link {

namespace {

constexpr int most_waiting = 64;

Descriptor new_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// An abstract address: its path starts with 0 and ends with its length.
struct AbstractAddress {
  explicit AbstractAddress(const std::string& path) {
    generic.sun_family = AF_UNIX;
    std::memcpy(generic.sun_path + 1, path.data(), path.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&generic); }

  sockaddr_un generic = {};
  socklen_t length = 0;
};

} // namespace

HostNames::HostNames(const std::string& fabric) {
  constexpr size_t digits = 6;
  constexpr size_t most = sizeof(sockaddr_un::sun_path) - 1 - digits;
  prefix_ = ("fpga-verbs/" + std::to_string(getuid()) + "/" + fabric).substr(0, most) + "/";
}

Descriptor HostNames::take(unsigned number) const {
  Descriptor made = new_socket();
  const AbstractAddress address(path_of(number));
  if (!made || bind(made.get(), address.get(), address.length) != 0 || listen(made.get(), most_waiting) != 0)
    return {};
  return made;
}

Descriptor HostNames::connect(unsigned number) const {
  Descriptor made = new_socket();
  const AbstractAddress address(path_of(number));
  if (!made || ::connect(made.get(), address.get(), address.length) != 0 || !is_of_this_user(made.get()))
    return {};
  return made;
}

// The kernel lists these sockets with an @ before the name.
std::vector<unsigned> HostNames::taken() const {
  std::vector<unsigned> numbers;
  std::ifstream listed("/proc/net/unix");
  for (std::string line; std::getline(listed, line);) {
    const size_t at = line.find('@' + prefix_);
    if (at == std::string::npos)
      continue;
    const std::string_view digits = std::string_view(line).substr(at + 1 + prefix_.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number < board_numbers)
      numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

} // namespace fpga_verbs::link
