#include "test/sanitize/many_threads.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

// The native library without Node, for sanitizers: many threads use boards, in every mode of progress.
// Arguments: messages of each connection, seed.
int main(int count, char** arguments) {
  using fpga_verbs::board::ProgressMode;
  const auto number = [&](int index, unsigned otherwise) {
    return count > index ? static_cast<unsigned>(std::strtoul(arguments[index], nullptr, 10)) : otherwise;
  };
  const unsigned messages = number(1, 100);
  const unsigned seed = number(2, 1);
  constexpr std::array ways{std::pair{ProgressMode::shared, "shared"}, std::pair{ProgressMode::own, "own"},
                            std::pair{ProgressMode::stepped, "stepped"}};
  bool failed = false;
  for (const auto& [progress, name] : ways) {
    const std::string wrong =
        fpga_verbs::test::run_many_threads({.progress = progress, .messages = messages, .seed = seed});
    std::printf("many threads, %s progress, seed %u: %s\n", name, seed,
                wrong.empty() ? "all is well" : wrong.c_str());
    std::fflush(stdout);
    failed = failed || !wrong.empty();
  }
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
