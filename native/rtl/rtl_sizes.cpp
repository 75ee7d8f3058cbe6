#include "rtl/rtl_sizes.h"

namespace fpga_verbs::rtl {

namespace {

std::string must_be(const char* name, size_t has, size_t is) {
  if (has == is)
    return {};
  return std::string(name) + " is " + std::to_string(has) + "; expected: " + std::to_string(is) +
         ", which the RTL of this addon has";
}

std::string check(const char* name, size_t has, size_t most) {
  if (has <= most)
    return {};
  return std::string(name) + " is " + std::to_string(has) + "; expected: at most " + std::to_string(most) +
         ", which the RTL of this addon is made for";
}

} // namespace

hca::HcaParameters usual_parameters() {
  hca::HcaParameters parameters;
  parameters.transmit_virtual_lanes = lanes_of_rtl;
  parameters.virtual_collect_buffers = vcbs_of_rtl;
  parameters.physical_collect_buffers = pool_of_rtl;
  parameters.queue_pairs = queue_pairs_of_rtl;
  return parameters;
}

std::string check_sizes(const hca::HcaParameters& parameters) {
  const size_t credits =
      size_t{lanes_of_rtl} * spec::completion_credits_per_lane + spec::shared_completion_credits;
  for (const std::string& wrong :
       {check("transmitVirtualLanes", parameters.transmit_virtual_lanes, lanes_of_rtl),
        check("virtualCollectBuffers", parameters.virtual_collect_buffers, vcbs_of_rtl),
        must_be("physicalCollectBuffers", parameters.physical_collect_buffers, pool_of_rtl),
        must_be("dedicatedPhysicalCollectBuffers", parameters.dedicated_physical_collect_buffers,
                spec::dedicated_physical_collect_buffers),
        must_be("managementPhysicalCollectBuffers", parameters.management_physical_collect_buffers,
                spec::management_physical_collect_buffers),
        check("queuePairs", parameters.queue_pairs, queue_pairs_of_rtl),
        check("the sum of all execution credits", execution_credits(parameters), credits),
        check("the sum of all completion credits", completion_credits(parameters), credits)})
    if (!wrong.empty())
      return wrong;
  return {};
}

} // namespace fpga_verbs::rtl
