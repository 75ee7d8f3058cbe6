#include "test/fuzz/fuzz_targets.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// The environment variable FPGA_VERBS_FUZZ_TARGET selects the target of fuzz_targets.h that libFuzzer drives.

namespace {

const fpga_verbs::test::FuzzTarget* chosen() {
  const char* const name = std::getenv("FPGA_VERBS_FUZZ_TARGET");
  for (const fpga_verbs::test::FuzzTarget& target : fpga_verbs::test::fuzz_targets)
    if (name != nullptr && std::strcmp(name, target.name) == 0)
      return &target;
  std::fprintf(stderr, "FPGA_VERBS_FUZZ_TARGET is no target of native/test/fuzz/fuzz_targets.h\n");
  std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fpga_verbs::test::FuzzTarget* const target = chosen();
  const std::string wrong = target->run({data, size});
  if (wrong.empty())
    return 0;
  std::fprintf(stderr, "%s: %s\n", target->name, wrong.c_str());
  std::abort();
}
