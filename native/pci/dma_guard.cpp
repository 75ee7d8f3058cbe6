#include "pci/dma_guard.h"

#include "pci/configuration_space.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fpga_verbs::pci {

namespace {

constexpr const char* shell = "/bin/sh";
// Its file descriptors 3 and 4 are memory and configuration space, the latter at the command register (offset
// 4). $1 is the new value of the low byte of that register. All commands are built into the shell, so no
// other program is needed. The function answers a configuration write after all its earlier writes.
constexpr const char* program = R"(trap '' HUP INT QUIT TERM
read -r closed || printf "$1" >&4
)";
constexpr const char* name = "fpga-verbs: ends the DMA of a PCI function whose process is killed";
constexpr int memory_there = 3;
constexpr int configuration_there = 4;

// Quoted as printf of a shell reads it.
std::string command_without_master(int configuration) {
  const uint16_t command = read_command_register(configuration, 0).value_or(0);
  const auto low = static_cast<unsigned>((command & ~PCI_COMMAND_MASTER & 0xff) | PCI_COMMAND_MEMORY);
  std::string octal = "\\000";
  for (unsigned digit = 0; digit < 3; ++digit)
    octal[3 - digit] = static_cast<char>('0' + ((low >> (3 * digit)) & 7));
  return octal;
}

// In a session of its own, so that signals of a terminal do not reach it; it would handle them as usual.
void set_attributes(posix_spawnattr_t& attributes) {
  sigset_t signals;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
}

} // namespace

std::unique_ptr<DmaGuard> DmaGuard::start(int configuration, int memory, std::string& failure) {
  // The file position is shared with the other process, so reads and writes here name their offset.
  if (lseek(configuration, PCI_COMMAND, SEEK_SET) != PCI_COMMAND) {
    failure = std::string("the command register is not reached: ") + std::strerror(errno);
    return nullptr;
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    failure = std::string("no pair of sockets is left: ") + std::strerror(errno);
    return nullptr;
  }
  // First duplicates the descriptors above the numbers that they get there: a descriptor here may have one of
  // those.
  constexpr int beyond = configuration_there + 1;
  const std::array<int, 3> given{fcntl(ends[0], F_DUPFD_CLOEXEC, beyond),
                                 fcntl(memory, F_DUPFD_CLOEXEC, beyond),
                                 fcntl(configuration, F_DUPFD_CLOEXEC, beyond)};
  const int reason = errno;
  close(ends[0]);
  if (std::ranges::min(given) < 0) { // the other would have nothing to end DMA by
    for (const int descriptor : given)
      close(descriptor);
    close(ends[1]);
    failure = std::string("no file descriptor is left: ") + std::strerror(reason);
    return nullptr;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, given[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, given[1], memory_there);
  posix_spawn_file_actions_adddup2(&actions, given[2], configuration_there);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  set_attributes(attributes);
  std::array<std::string, 5> words{shell, "-c", program, name, command_without_master(configuration)};
  std::array<char*, 6> arguments{};
  for (size_t i = 0; i < words.size(); ++i)
    arguments[i] = words[i].data();
  pid_t process = 0;
  const int error = posix_spawn(&process, shell, &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const int descriptor : given)
    close(descriptor);
  if (error == 0)
    return std::unique_ptr<DmaGuard>(new DmaGuard(process, ends[1]));
  close(ends[1]);
  failure = std::string(shell) +
            " cannot be started, which would end the DMA of the function if this process is killed: " +
            std::strerror(error);
  return nullptr;
}

DmaGuard::~DmaGuard() {
  constexpr std::array<char, 7> closed{'c', 'l', 'o', 's', 'e', 'd', '\n'};
  send(line_, closed.data(), closed.size(), MSG_NOSIGNAL); // fails where the other was killed
  close(line_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace fpga_verbs::pci
