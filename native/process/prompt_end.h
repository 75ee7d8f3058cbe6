#pragma once

#include <string>

namespace fpga_verbs::process {

// The process ends when SIGINT or SIGTERM asks for it, whatever its threads do: within `milliseconds` of the
// first signal where it has not ended of itself, and at once at a second signal. `last_words` go to standard
// error then, and `exit_code` is the process's. The handlers that the signals have stay: they are called
// first. For the process of a command, whose main thread may be inside a system call or a long computation.
void promise_prompt_end(unsigned milliseconds, std::string last_words, int exit_code);

} // namespace fpga_verbs::process
