// A library of its own, which `hca run` has loaded before all others: UCX passes a device over whose node in
// /dev/infiniband is no character device that it may read and write, though it never opens it. For this one
// path the answers are those of /dev/null; all other calls go on to the C library.
#include "libibverbs/device_node.h"
#include "libibverbs/exported.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>

namespace fpga_verbs::verbs {

namespace {

// A path that is missing is the C library's to refuse, though its header says that there is none.
const char* answering(const char* path) {
  const char* const volatile asked = path;
  return asked != nullptr && std::strcmp(asked, device_node_path) == 0 ? "/dev/null" : path;
}

// A function of the library that comes next, looked up at the first call.
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

// There before constructors run: programs call these in theirs.
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

// stat() and stat64() of programs that were linked with a C library before 2.33.
VERBS_EXPORT int __xstat(int version, const char* path, struct stat* found) {
  return next_xstat(version, answering(path), found);
}

VERBS_EXPORT int __xstat64(int version, const char* path, struct stat64* found) {
  return next_xstat64(version, answering(path), found);
}

} // namespace fpga_verbs::verbs
