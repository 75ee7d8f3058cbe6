#include "board/fault_rules.h"

#include <algorithm>

namespace fpga_verbs::board {

namespace {

bool matches(const FaultRule& rule, const FaultSubject& subject) {
  return (!rule.underlying_function || *rule.underlying_function == subject.underlying_function) &&
         (!rule.bar || rule.bar == subject.bar) && subject.begin < rule.end &&
         subject.begin + subject.bytes > rule.begin;
}

} // namespace

unsigned FaultRules::add(const FaultRule& rule) {
  rules_.push_back({++last_number_, rule, 0, 0});
  return last_number_;
}

bool FaultRules::remove(unsigned number) {
  return std::erase_if(rules_, [number](const Counted& counted) { return counted.number == number; }) != 0;
}

void FaultRules::clear() { rules_.clear(); }

std::optional<uint64_t> FaultRules::happened(unsigned number) const {
  for (const Counted& counted : rules_)
    if (counted.number == number)
      return counted.happened;
  return std::nullopt;
}

bool FaultRules::has(FaultKind kind) const {
  return std::ranges::any_of(rules_, [kind](const Counted& counted) { return counted.rule.kind == kind; });
}

const FaultRule* FaultRules::happens(std::initializer_list<FaultKind> kinds, const FaultSubject& subject) {
  Counted* chosen = nullptr;
  for (Counted& counted : rules_) {
    const FaultRule& rule = counted.rule;
    if (std::find(kinds.begin(), kinds.end(), rule.kind) == kinds.end() || !matches(rule, subject))
      continue;
    if (rule.probability < 1 && !random_.chance(rule.probability))
      continue;
    const uint64_t match = counted.matches++;
    const bool now = match >= rule.nth && (rule.count == 0 || match - rule.nth < rule.count);
    if (now && chosen == nullptr)
      chosen = &counted;
  }
  if (chosen == nullptr)
    return nullptr;
  ++chosen->happened;
  return &chosen->rule;
}

} // namespace fpga_verbs::board
