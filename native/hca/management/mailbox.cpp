#include "hca/management/mailbox.h"

#include <algorithm>
#include <cassert>

namespace fpga_verbs::hca {

bool MailboxReader::begin_page() {
  spec::MailboxHeader header;
  const uint64_t page = next_;
  if (page == 0 || page % spec::page_bytes != 0 ||
      host_.read(underlying_function_, page, &header, sizeof header) == DmaStatus::fault)
    return false;
  if (!header.reserved_is_zero() || header.length() == 0 || header.length() > page_content)
    return false;
  next_ = header.next();
  place_ = page + spec::MailboxHeader::bytes;
  left_ = header.length();
  return true;
}

bool MailboxReader::read(void* destination, size_t bytes) {
  auto* to = static_cast<std::byte*>(destination);
  while (bytes != 0) {
    if (left_ == 0 && !begin_page())
      return false;
    const size_t portion = std::min<size_t>(bytes, left_);
    if (host_.read(underlying_function_, place_, to, portion) == DmaStatus::fault)
      return false;
    to += portion;
    bytes -= portion;
    place_ += portion;
    left_ -= static_cast<uint32_t>(portion);
  }
  return true;
}

bool write_mailbox(HostPort& host, unsigned underlying_function, uint64_t address, const void* content,
                   size_t bytes) {
  assert(bytes <= MailboxReader::page_content);
  spec::MailboxHeader header;
  if (host.read(underlying_function, address, &header, sizeof header) == DmaStatus::fault)
    return false;
  header.set_length(static_cast<uint32_t>(bytes));
  return host.write(underlying_function, address + sizeof header, content, bytes) == DmaStatus::ok &&
         host.write(underlying_function, address, &header, sizeof header) == DmaStatus::ok;
}

} // namespace fpga_verbs::hca
