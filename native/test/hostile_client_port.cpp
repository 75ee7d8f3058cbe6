#include "test/hostile_client_port.h"

#include "link/descriptor.h"
#include "link/one_way_signal.h"
#include "test/hostile_client.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fpga_verbs::test {

using link::Descriptor;

namespace {

constexpr int ready_within = 60'000; // milliseconds

// In the child process: it ends with its parent, and keeps open only the pipe.
void live(const HostileWay& way, int told) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int descriptor = 3; descriptor < 1024; ++descriptor)
    if (descriptor != told)
      close(descriptor);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  try {
    be_hostile(way, [told] {
      if (write(told, "r", 1) != 1)
        _exit(1);
    });
  } catch (const std::exception& error) {
    [[maybe_unused]] const ssize_t said = write(told, error.what(), std::string(error.what()).size());
  }
  _exit(1);
}

// (path, function, way, seed): starts a process and waits until it is ready; returns its number.
Napi::Value start(const Napi::CallbackInfo& info) {
  const HostileWay way{.name = info[2].As<Napi::String>(),
                       .path = info[0].As<Napi::String>(),
                       .function = info[1].As<Napi::Number>().Uint32Value(),
                       .seed = info[3].As<Napi::Number>().Uint32Value()};
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Napi::Error::New(info.Env(), "no pipe");
  const Descriptor heard(ends[0]);
  Descriptor told(ends[1]);
  const pid_t child = fork();
  if (child == 0)
    live(way, told.get());
  told = {};
  std::array<char, 200> said{};
  pollfd polled{heard.get(), POLLIN, 0};
  int found = 0;
  do // a signal of the previous process that stops may interrupt it
    found = poll(&polled, 1, ready_within);
  while (found < 0 && errno == EINTR);
  const bool spoke = found == 1;
  const ssize_t length = spoke ? read(heard.get(), said.data(), said.size()) : -1;
  if (length == 1)
    return Napi::Number::New(info.Env(), child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  throw Napi::Error::New(
      info.Env(), way.name + ": " +
                      (length < 0 ? "is not ready" : std::string(said.data(), static_cast<size_t>(length))));
}

// (process): ends it; returns the signal that ended it, or 0.
Napi::Value end(const Napi::CallbackInfo& info) {
  const pid_t child = info[0].As<Napi::Number>().Int32Value();
  int status = 0;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return Napi::Number::New(info.Env(), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

// (descriptor): clears O_NONBLOCK and fills the buffer, if another process may write here. Returns whether it
// may.
Napi::Value block(const Napi::CallbackInfo& info) {
  const int descriptor = info[0].As<Napi::Number>().Int32Value();
  std::array<char, 64> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (readlink(link.c_str(), name.data(), name.size() - 1) < 0)
    return Napi::Boolean::New(info.Env(), false);
  int type = 0;
  socklen_t length = sizeof type;
  const bool is_event = std::string(name.data()) == "anon_inode:[eventfd]";
  const bool is_signal =
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
  if (!is_event && !is_signal)
    return Napi::Boolean::New(info.Env(), false);
  const int flags = fcntl(descriptor, F_GETFL);
  if (is_event) {
    eventfd_t count = 0;
    fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    eventfd_read(descriptor, &count);
    eventfd_write(descriptor, UINT64_MAX - 1);
  } else {
    constexpr int least = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  }
  fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
  return Napi::Boolean::New(info.Env(), true);
}

// Raises a signal `times` times, while the other end does all that could delay the server: it reads nothing,
// waits, and sends; then the other end is closed. Returns how many signals the other end could take.
Napi::Value signal_without_reader(const Napi::CallbackInfo& info) {
  const unsigned times = info[0].As<Napi::Number>().Uint32Value();
  Descriptor far_end;
  const auto signal = link::OneWaySignal::make(far_end);
  fcntl(far_end.get(), F_SETFL, 0);
  const uint64_t word = 1;
  for (unsigned i = 0; i < times; ++i) {
    signal->raise();
    send(far_end.get(), &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  unsigned taken = 0;
  uint64_t count = 0;
  while (recv(far_end.get(), &count, sizeof count, MSG_DONTWAIT) == sizeof count && count == 1)
    ++taken;
  far_end = {};
  for (unsigned i = 0; i < times; ++i)
    signal->raise();
  return Napi::Number::New(info.Env(), taken);
}

} // namespace

void define_hostile_client_port(Napi::Env env, Napi::Object exports) {
  exports.Set("hostileStart", Napi::Function::New<start>(env, "hostileStart"));
  exports.Set("hostileEnd", Napi::Function::New<end>(env, "hostileEnd"));
  exports.Set("hostileBlock", Napi::Function::New<block>(env, "hostileBlock"));
  exports.Set("signalWithoutReader", Napi::Function::New<signal_without_reader>(env, "signalWithoutReader"));
}

} // namespace fpga_verbs::test
