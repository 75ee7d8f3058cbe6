#pragma once

#include "hca/base/host_port.h"
#include "spec/mailboxes.h"
#include "spec/parameters.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// Reads the content of an input mailbox, a chain of nonempty pages, from front to back.
class MailboxReader {
public:
  static constexpr uint32_t page_content = spec::page_bytes - spec::MailboxHeader::bytes;

  // `address`: DMA address of the first page, page-aligned.
  MailboxReader(HostPort& host, unsigned underlying_function, uint64_t address)
      : host_(host), underlying_function_(underlying_function), next_(address) {}

  // Reads the next `bytes` of content. False: a page is missing, misaligned, empty, overfull or unreachable;
  // the reader is then unusable.
  bool read(void* destination, size_t bytes);

private:
  bool begin_page();

  HostPort& host_;
  unsigned underlying_function_;
  uint64_t next_;      // the page after the current one; 0: none
  uint64_t place_ = 0; // DMA address of the next byte
  uint32_t left_ = 0;  // bytes left in the current page
};

// Writes `bytes` of content, at most MailboxReader::page_content, into the first page of an output mailbox at
// a page-aligned address. False: the page is unreachable.
bool write_mailbox(HostPort& host, unsigned underlying_function, uint64_t address, const void* content,
                   size_t bytes);

} // namespace fpga_verbs::hca
