#include "hca/hca.h"

#include "hca/collect/scoreboard.h"
#include "hca/hca_blocks.h"
#include "hca/hca_turns.h"
#include "hca/management/object_inspection.h"
#include "spec/registers.h"

#include <algorithm>
#include <bit>

namespace fpga_verbs::hca {

namespace {

// Whether a write to a function's register page is for its management page. Transactions start and end at
// multiples of 64 B, so none crosses the border.
bool is_management_page(uint32_t offset) {
  constexpr uint32_t begin = spec::underlying_function::management_page;
  constexpr uint32_t end = begin + spec::underlying_function::management_page_count *
                                       spec::underlying_function::management_page_stride;
  static_assert(begin % 64 == 0 && end % 64 == 0);
  return offset >= begin && offset < end;
}

} // namespace

const BlockMakers& model_blocks() {
  static constexpr BlockMakers makers;
  return makers;
}

Hca::Hca(const HcaParameters& parameters, HostPort& host, const Clock& clock,
         const PortAttachments& attachments, const BlockMakers& makers)
    : parameters_(parameters), host_(host), clock_(clock), attachments_(attachments), makers_(makers),
      blocks_(make_blocks()) {}

Hca::~Hca() = default;

std::unique_ptr<HcaBlocks> Hca::make_blocks() {
  auto blocks = std::make_unique<HcaBlocks>(parameters_, counters_, host_, clock_, attachments_, makers_);
  blocks->pass_by_empty_links(passes_by_);
  return blocks;
}

void Hca::change_passing_by(bool on) {
  passes_by_ = on;
  blocks_->pass_by_empty_links(on);
}

bool Hca::can_accept_write() const { return blocks_->collect_buffer.can_accept_write(); }

void Hca::write(const BarWrite& write) {
  ++counters_.device.transactions;
  forget_deadline();
  switch (write.region) {
  case spec::RegionType::virtual_collect_buffer:
    if (blocks_->device.enabled)
      blocks_->collect_buffer.write(write);
    else
      ++counters_.device.writes_unclaimed;
    return;
  case spec::RegionType::underlying_function:
    if (write.page >= parameters_.underlying_functions)
      break;
    if (is_management_page(write.offset)) {
      if (blocks_->device.disabled)
        ++counters_.function[write.page].writes_dropped;
      else
        blocks_->collect_buffer.write_management_page(write.page, write);
    } else {
      blocks_->function_registers[write.page].write(write);
    }
    carry_out_resets();
    return;
  case spec::RegionType::control:
    blocks_->control_registers.write(write);
    carry_out_resets();
    blocks_->follow_enable();
    return;
  case spec::RegionType::identity:
    if (write.page >= parameters_.underlying_functions)
      break;
    blocks_->identity_registers[write.page].write(write);
    return;
  default:
    break;
  }
  ++counters_.device.writes_unclaimed;
}

bool Hca::write_burst(const BarWrite& burst) {
  return burst.region == spec::RegionType::virtual_collect_buffer && blocks_->device.enabled &&
         blocks_->collect_buffer.write_burst(burst);
}

uint32_t Hca::read(spec::RegionType region, unsigned page, uint32_t offset) {
  forget_deadline();
  if (page >= parameters_.underlying_functions)
    return 0;
  switch (region) {
  case spec::RegionType::identity:
    return blocks_->identity_registers[page].read(offset);
  case spec::RegionType::control:
    return blocks_->control_registers.read(offset);
  case spec::RegionType::underlying_function:
    return blocks_->function_registers[page].read(offset);
  default:
    return 0;
  }
}

unsigned Hca::run(unsigned limit) {
  if (rested_)
    look_at_clock();
  unsigned done = 0;
  for (;;) {
    const unsigned portion = std::min(limit - done, steps_to_look_);
    const unsigned worked = blocks_->run(portion);
    done += worked;
    steps_to_look_ -= worked;
    rested_ = worked < portion;
    if (rested_)
      deadline_ = blocks_->next_deadline();
    if (rested_ || done == limit)
      return done;
    look_at_clock();
  }
}

void Hca::look_at_clock() {
  constexpr unsigned steps_between_looks = 32;
  steps_to_look_ = steps_between_looks;
  const uint64_t now = blocks_->sample_clock();
  // Steps since the last rest may have moved a deadline forward.
  if (!rested_ || deadline_ <= now)
    blocks_->wake_due(now);
}

void Hca::notify_port() { blocks_->notify_port(); }

uint64_t Hca::next_deadline_of_blocks() const { return blocks_->next_deadline(); }

void Hca::reset() {
  counters_ = {};
  const std::unique_ptr<HcaBlocks> before = std::move(blocks_);
  blocks_ = make_blocks();
  blocks_->virtual_queue_pairs.outlast_reset(before->virtual_queue_pairs);
  watch(watched_);
  forget_deadline();
}

void Hca::watch(const Watched& watched) {
  watched_ = watched;
  blocks_->kick_records.watch(watched.port, watched.kicks);
  blocks_->event_queue.watch(watched.port, watched.events);
  blocks_->completion_queue.watch(watched.port, watched.completions);
}

uint32_t Hca::inspect_queue_pairs(const Inspection& inspection, std::vector<QueuePairFacts>& found) {
  return hca::inspect_queue_pairs(blocks_->queue_pair_state_cache, blocks_->virtual_queue_pairs, inspection,
                                  found);
}

uint32_t Hca::inspect_regions(const Inspection& inspection, std::vector<RegionFacts>& found) {
  return hca::inspect_regions(blocks_->memory_translation.keys(), inspection, found);
}

void Hca::reset_function(unsigned underlying_function) {
  blocks_->reset_function(underlying_function);
  forget_deadline();
}

void Hca::carry_out_resets() {
  if (blocks_->device.device_reset_requested)
    return reset();
  for (uint32_t& left = blocks_->device.function_resets_requested; left != 0; left &= left - 1)
    reset_function(static_cast<unsigned>(std::countr_zero(left)));
}

size_t Hca::held_data_units() const { return blocks_->ready.any() ? blocks_->scrubber.held() : 0; }
unsigned Hca::owner_of_data_unit(size_t rank) const { return blocks_->scrubber.owner_of_held(rank); }
void Hca::flip_bits(size_t rank, uint64_t random, unsigned bits) {
  blocks_->scrubber.flip_held(rank, random, bits);
}

const char* Hca::verify() const { return blocks_->verify(); }
const char* Hca::verify_at_rest() const { return blocks_->verify_at_rest(); }

} // namespace fpga_verbs::hca
