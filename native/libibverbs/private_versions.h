#pragma once

// Private version nodes of rdma-core: the number is that of the first release that has the node. All nodes
// have all symbols: what a release lacks, none of its libraries asks for.

#define IN_NODE(name, own, mark, release)                                                                    \
  extern "C" __attribute__((alias(#own), visibility("default"))) decltype(own) own##_##release;              \
  asm(".symver " #own "_" #release "," #name mark "IBVERBS_PRIVATE_" #release);

// Exports what this source calls `own` as `name` in each of them.
#define IN_PRIVATE_NODES(name, own)                                                                          \
  IN_NODE(name, own, "@@", 34)                                                                               \
  IN_NODE(name, own, "@", 57)                                                                                \
  IN_NODE(name, own, "@", 59) IN_NODE(name, own, "@", 64) IN_NODE(name, own, "@", 65)
