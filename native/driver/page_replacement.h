#pragma once

#include <cstddef>

namespace fpga_verbs::driver {

// Puts shared memory in the place of pages of the program, which keep address, content and protection
// (PROT_…). A thread that writes there meanwhile waits, some microseconds; one that blocks SIGSEGV is ended
// by it, and a system call that writes there gives EFAULT. `shared`: a mapping of shared memory of as many
// bytes, which stays. Gives 0, or errno: some of the pages may be replaced. Thread-safe.
int replace_pages(void* pages, size_t bytes, void* shared, int protection);

// The same with private memory in the place of private pages of a file, which are then no pages of the file
// any more.
int detach_from_file(void* pages, size_t bytes, int protection);

// A child has private copies of such pages: of all that lie in /memfd:NAME, at the addresses where they are
// mapped when the process forks. Once.
void copy_in_children(const char* name);

} // namespace fpga_verbs::driver
