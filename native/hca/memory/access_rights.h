#pragma once

#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

constexpr uint32_t right(spec::AccessFlag flag) { return 1u << static_cast<uint32_t>(flag); }

// Rights that a peer may have.
constexpr uint32_t remote_rights = right(spec::AccessFlag::remote_write) |
                                   right(spec::AccessFlag::remote_read) |
                                   right(spec::AccessFlag::remote_atomic);

} // namespace fpga_verbs::hca
