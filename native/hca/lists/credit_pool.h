#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

enum class CreditSource : uint8_t { none, own, shared };

// Credits of one kind, divided among owners. Each owner has its own credits, and all draw on shared ones up
// to a cap. A credit returns to where it came from. A division below the credits in use takes effect as they
// return.
class CreditPool {
public:
  CreditPool(size_t owners, uint32_t own, uint32_t shared, uint32_t shared_cap)
      : shared_(shared), count_(owners), owners_(owners, Owner{own, shared_cap, 0, 0}) {}

  size_t owners() const { return count_; }

  // Changes the division: the credits of one owner; the shared credits and the maximum that an owner may
  // hold.
  void set_own(size_t owner, uint32_t credits) { at(owner).own = credits; }
  void set_shared(uint32_t credits) { shared_ = credits; }
  void set_shared_cap(size_t owner, uint32_t cap) { at(owner).shared_cap = cap; }
  uint32_t own(size_t owner) const { return at(owner).own; }
  uint32_t shared() const { return shared_; }
  uint32_t shared_cap(size_t owner) const { return at(owner).shared_cap; }

  // Source of the owner's next credit: its own first, then the shared ones, otherwise none.
  CreditSource available(size_t owner) const {
    const Owner& from = at(owner);
    if (from.own_held < from.own)
      return CreditSource::own;
    return shared_held_ < shared_ && from.shared_held < from.shared_cap ? CreditSource::shared
                                                                        : CreditSource::none;
  }

  // Takes a credit from the source that available() returns, which must not be none, and returns that source.
  CreditSource take(size_t owner) {
    const CreditSource source = available(owner);
    assert(source != CreditSource::none);
    hold(owner, source);
    return source;
  }

  // Takes a credit from a source that another block has selected, whatever the current division.
  void hold(size_t owner, CreditSource source) {
    if (source == CreditSource::own) {
      ++at(owner).own_held;
      return;
    }
    ++at(owner).shared_held;
    ++shared_held_;
  }

  void give_back(size_t owner, CreditSource source) {
    assert(source == CreditSource::own ? at(owner).own_held > 0
                                       : source == CreditSource::shared && at(owner).shared_held > 0);
    if (source == CreditSource::own) {
      --at(owner).own_held;
      return;
    }
    --at(owner).shared_held;
    --shared_held_;
  }

  uint32_t own_held(size_t owner) const { return at(owner).own_held; }
  uint32_t shared_held(size_t owner) const { return at(owner).shared_held; }
  uint32_t shared_held() const { return shared_held_; }

private:
  struct Owner {
    uint32_t own;
    uint32_t shared_cap;
    uint32_t own_held;
    uint32_t shared_held;
  };

  Owner& at(size_t owner) {
    assert(owner < count_);
    return owners_[owner];
  }
  const Owner& at(size_t owner) const {
    assert(owner < count_);
    return owners_[owner];
  }

  uint32_t shared_;
  uint32_t shared_held_ = 0;
  size_t count_; // of owners
  std::vector<Owner> owners_;
};

} // namespace fpga_verbs::hca
