#pragma once

namespace fpga_verbs::verbs {

// The device node of a kernel adapter: programs see its name, and UCX opens it.
inline constexpr const char* device_node_name = "uverbs0";
inline constexpr const char* device_node_path = "/dev/infiniband/uverbs0";

} // namespace fpga_verbs::verbs
