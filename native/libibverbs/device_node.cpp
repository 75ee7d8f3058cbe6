// A separate library, which `hca run` preloads: UCX skips a device whose node in /dev/infiniband is not a
// readable and writable character device, though it never opens the node. For this one path the library
// answers as for /dev/null; it forwards all other calls to the C library.
#include "libibverbs/device_node.h"
#include "libibverbs/exported.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>

namespace fpga_verbs::verbs {

namespace {

// The C library must refuse a null path, although its header excludes one.
const char* answering(const char* path) {
  const char* const volatile asked = path;
  return asked != nullptr && std::strcmp(asked, device_node_path) == 0 ? "/dev/null" : path;
}

// A function of the next library, looked up at the first call.
template <class... Arguments> class Next {
public:
  using Function = int(Arguments...);
  constexpr explicit Next(const char* name) : name_(name) {}

  int operator()(Arguments... arguments) {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      found_.store(found, std::memory_order_relaxed);
    }
    if (found != nullptr)
      return found(arguments...);
    errno = ENOSYS;
    return -1;
  }

private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

// Available before constructors run, because the constructors of programs call these.
constinit Next<const char*, int> next_access("access");
constinit Next<const char*, struct stat*> next_stat("stat");
constinit Next<const char*, struct stat64*> next_stat64("stat64");
constinit Next<int, const char*, struct stat*> next_xstat("__xstat");
constinit Next<int, const char*, struct stat64*> next_xstat64("__xstat64");

} // namespace

VERBS_EXPORT int access(const char* path, int mode) { return next_access(answering(path), mode); }

VERBS_EXPORT int stat(const char* path, struct stat* found) { return next_stat(answering(path), found); }

VERBS_EXPORT int stat64(const char* path, struct stat64* found) {
  return next_stat64(answering(path), found);
}

// stat() and stat64() for programs linked with a C library before 2.33.
VERBS_EXPORT int __xstat(int version, const char* path, struct stat* found) {
  return next_xstat(version, answering(path), found);
}

VERBS_EXPORT int __xstat64(int version, const char* path, struct stat64* found) {
  return next_xstat64(version, answering(path), found);
}

} // namespace fpga_verbs::verbs
