#include "driver/explanation.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fpga_verbs::driver {

namespace {

thread_local std::string last;

bool is_wanted() {
  static const bool wanted = std::getenv("FPGA_VERBS_EXPLAIN") != nullptr;
  return wanted;
}

} // namespace

const std::string& last_explanation() { return last; }

int explain(int error, std::string sentence) {
  last = std::move(sentence);
  if (is_wanted())
    std::fprintf(stderr, "fpga-verbs: %s (%s)\n", last.c_str(), std::strerror(error));
  return error;
}

} // namespace fpga_verbs::driver
