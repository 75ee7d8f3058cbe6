#pragma once

#include "spec/parameters.h"
#include "spec/queues.h"

#include <bit>
#include <cstdint>

namespace fpga_verbs::hca {

constexpr unsigned queue_log2_maximum = std::bit_width(spec::queue_entries_maximum) - 1;

// Number of pages for the references of a work queue.
constexpr uint32_t reference_pages(unsigned entries_log2) {
  return ((spec::WorkQueueReference::bytes << entries_log2) + spec::page_bytes - 1) / spec::page_bytes;
}

} // namespace fpga_verbs::hca
