#include "pci/dma_guard.h"

#include "pci/configuration_space.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::pci {

namespace {

constexpr const char* shell = "/bin/sh";
// File descriptors of the guard; configuration space stands at the command register (offset 4).
constexpr int memory_there = 3;
constexpr int configuration_there = 4;
constexpr int line_there = 5;
constexpr int pins_there = 6;
// $1 is the new value of the low byte of the command register. All commands are built into the shell, so no
// other program is needed. The function answers a configuration write after all its earlier writes. The first
// shell ends at once, and the process which is left belongs to init.
constexpr const char* program = R"(trap '' HUP INT QUIT TERM
{ read -r closed <&5 || printf "$1" >&4; } &
)";
constexpr const char* name = "fpga-verbs: ends the DMA of a PCI function whose process is killed";

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

// Waits for the first shell. False: it failed. The program's own handler of SIGCHLD may have taken its
// status.
bool has_ended_well(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      return errno == ECHILD;
  return status == 0;
}

} // namespace

std::unique_ptr<DmaGuard> DmaGuard::start(const Files& files, std::string& failure) {
  // The file position is shared with the other process, so reads and writes here name their offset.
  if (lseek(files.configuration, PCI_COMMAND, SEEK_SET) != PCI_COMMAND) {
    failure = std::string("the command register cannot be accessed: ") + std::strerror(errno);
    return nullptr;
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    failure = std::string("no pair of sockets is left: ") + std::strerror(errno);
    return nullptr;
  }
  // First duplicates the descriptors above the numbers that they get there: a descriptor here may have one of
  // those.
  struct Given {
    int number;
    int there;
  };
  std::vector<Given> given{
      {files.memory, memory_there}, {files.configuration, configuration_there}, {ends[0], line_there}};
  if (files.pins >= 0)
    given.push_back({files.pins, pins_there});
  int reason = 0;
  for (Given& each : given) {
    each.number = fcntl(each.number, F_DUPFD_CLOEXEC, pins_there + 1);
    if (each.number < 0)
      reason = errno;
  }
  close(ends[0]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const Given& each : given)
    posix_spawn_file_actions_adddup2(&actions, each.number, each.there);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  set_attributes(attributes);
  std::array<std::string, 5> words{shell, "-c", program, name, command_without_master(files.configuration)};
  std::array<char*, 6> arguments{};
  for (size_t i = 0; i < words.size(); ++i)
    arguments[i] = words[i].data();
  pid_t process = 0;
  bool has_started = false;
  if (reason != 0) { // the other would have nothing to end DMA by
    failure = std::string("no file descriptor is left: ") + std::strerror(reason);
  } else {
    reason = posix_spawn(&process, shell, &actions, &attributes, arguments.data(), environ);
    has_started = reason == 0 && has_ended_well(process);
    if (!has_started)
      failure = std::string(shell) +
                " cannot be started, which would end the DMA of the function if this process is killed: " +
                (reason == 0 ? "it failed" : std::strerror(reason));
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const Given& each : given)
    if (each.number >= 0)
      close(each.number);
  if (has_started)
    return std::unique_ptr<DmaGuard>(new DmaGuard(ends[1]));
  close(ends[1]);
  return nullptr;
}

// The guard holds the lock of the function: it has ended when its end of the line is closed.
DmaGuard::~DmaGuard() {
  constexpr std::array<char, 7> closed{'c', 'l', 'o', 's', 'e', 'd', '\n'};
  send(line_, closed.data(), closed.size(), MSG_NOSIGNAL); // fails where the other was killed
  char nothing = 0;
  while (read(line_, &nothing, sizeof nothing) < 0 && errno == EINTR) {
  }
  close(line_);
}

} // namespace fpga_verbs::pci
