#pragma once

#include <string>

namespace fpga_verbs::driver {

// Why the last call of this thread failed, in a sentence: what libibverbs has no place for. With
// FPGA_VERBS_EXPLAIN set in the environment it goes to the standard error as well.
const std::string& last_explanation();

// Keeps the sentence, and gives `error` back: return explain(EINVAL, "…").
int explain(int error, std::string sentence);

} // namespace fpga_verbs::driver
