#pragma once

namespace fpga_verbs::verbs {

// The device node that an adapter of the kernel has: programs are told its name, and UCX looks for it.
inline constexpr const char* device_node_name = "uverbs0";
inline constexpr const char* device_node_path = "/dev/infiniband/uverbs0";

} // namespace fpga_verbs::verbs
