#pragma once

#include "spec/enums.h"

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace fpga_verbs::hca {

// A set of queue pair attributes: bits of spec::QueuePairAttribute, as in an attribute mask.
class QueuePairAttributeSet {
public:
  constexpr QueuePairAttributeSet() = default;
  constexpr explicit QueuePairAttributeSet(uint32_t mask) : mask_(mask) {}
  constexpr QueuePairAttributeSet(std::initializer_list<spec::QueuePairAttribute> attributes) {
    for (const spec::QueuePairAttribute attribute : attributes)
      mask_ |= uint32_t{1} << static_cast<unsigned>(attribute);
  }

  constexpr uint32_t mask() const { return mask_; }
  constexpr bool has(spec::QueuePairAttribute attribute) const {
    return (mask_ >> static_cast<unsigned>(attribute) & 1) != 0;
  }

private:
  uint32_t mask_ = 0;
};

// Attributes that a state transition requires and allows (InfiniBand volume 1, 11.2.5.2).
struct TransitionAttributes {
  QueuePairAttributeSet required;
  QueuePairAttributeSet optional;
};

// The attributes of a transition for this service; none: there is no such transition.
std::optional<TransitionAttributes> find_transition(spec::ServiceType service_type, spec::QueuePairState from,
                                                    spec::QueuePairState to);

} // namespace fpga_verbs::hca
