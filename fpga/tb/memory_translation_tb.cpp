// memory_translation beside MemoryTranslation of the device model: keys and page tables are created, changed
// and removed at random during valid and invalid accesses of several queue pairs. The bursts of each queue
// pair are compared in order. An access in flight during a change may find the state before it or after it;
// once the change is answered, only the state after it, and no access from before is in flight. Arguments:
// seed, clocks.
//
// First makes accesses with warm and cold caches, and prints the clocks that they take.
#include "Vmemory_translation.h"
#include "memory_translation_host.h"
#include "memory_translation_manager.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <map>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vmemory_translation;

constexpr uint64_t longest_answer = 20'000; // clocks within which an access and a command are answered

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    figures();
    host_.pace.is_smooth = false;
    for (uint64_t clock = 0; clock < clocks_; ++clock) {
      if (clock % 512 == 0)
        choose_weights();
      if (!manager_.is_changing() && random_.percent(change_))
        manager_begins();
      if (!offered_ && random_.percent(request_))
        offer(some_access());
      step();
    }
    finish_all();
    std::printf("%llu accesses in %llu clocks, %llu bursts, %llu refused, %llu of unknown keys, %llu of "
                "other domains, "
                "%llu without a right, %llu out of bounds, %llu unreachable, %llu changes, %llu reads\n",
                number(accesses_), number(clocks_), number(bursts_), number(refused_), number(faults_[1]),
                number(faults_[2]), number(faults_[3]), number(faults_[4]), number(faults_[5]),
                number(changes_), number(host_.reads));
    return 0;
  }

private:
  // An access without all of its answers.
  struct Asked {
    Access access;
    uint16_t user = 0;
    std::vector<Bursts> either; // permitted answers
    bool is_mixed = false;      // each burst may be from before the change in progress or from after it
    size_t said = 0;
    uint64_t bytes_said = 0;
    uint64_t since = 0;
  };
  struct Finishing {
    uint64_t due = 0;
    bool epoch = false;
    uint64_t since = 0;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void choose_weights() {
    request_ = std::array{10U, 50U, 100U}[random_.below(3)];
    ready_ = std::array{20U, 70U, 100U}[random_.below(3)];
    change_ = std::array{0U, 1U, 10U, 50U}[random_.below(4)];
    finish_ = std::array{1U, 10U, 60U}[random_.below(3)];
    host_.pace.latency = std::array{1U, 20U, 100U}[random_.below(3)];
    host_.pace.ready = std::array{30U, 100U}[random_.below(2)];
    host_.pace.failing = random_.once(4) ? 100 : 0;
    manager_.is_narrow = random_.once(4);
    if (manager_.is_narrow)
      change_ = 50;
  }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.request = rtl_.control = rtl_.finish = rtl_.burst_ready = 0;
    rtl_.keys_address = TranslationModel::keys_address();
    rtl_.page_tables_address = TranslationModel::tables_address();
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < KEYS + 16; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
  }

  // An access, mostly valid and to memory of an existing key.
  Access some_access() {
    Access access;
    hca::KeyAccess& of = access.of;
    of.queue_pair_number =
        TranslationManager::queue_pair(random_.below(TranslationManager::queue_pair_count));
    of.underlying_function = random_.below(TranslationManager::functions);
    of.protection_domain = 5 + random_.below(2);
    of.begun = random_.once(4);
    access.is_check = random_.once(8);
    of.length = random_.once(50) ? 0
                                 : 1 + random_.below(random_.once(3)   ? 20'000
                                                     : random_.once(2) ? 5000
                                                                       : 64);
    const bool is_narrow = manager_.is_narrow && !random_.once(8);
    if (manager_.keys.empty() || random_.once(8) || is_narrow) {
      if (is_narrow)
        of.underlying_function = 0;
      access.is_table = true;
      access.is_check = false;
      of.key = manager_.queue_tables[of.underlying_function];
      const uint64_t bytes = TranslationManager::queue_table_pages * uint64_t{spec::page_bytes};
      of.address = random_.bits() % (bytes - of.length);
      return access;
    }
    const auto& key = manager_.keys[random_.below(
        static_cast<uint32_t>(std::min<size_t>(manager_.keys.size(), 1 + random_.below(24))))];
    of.key = key.key;
    if (!random_.once(30))
      of.underlying_function = key.function;
    if (!random_.once(30))
      of.protection_domain = key.protection_domain;
    if (key.window_type == 2 && !random_.once(8))
      of.queue_pair_number = key.queue_pair;
    of.rights = random_.below(64) & key.rights & 0xf;
    if (key.window_type != 0 && !random_.once(8))
      of.rights = key.rights & hca::remote_rights;
    if (random_.once(20))
      of.rights ^= 1U << random_.below(6);
    if (random_.once(40))
      of.key ^= 1U << random_.below(random_.once(4) ? 32 : 10);
    if (!manager_.former.empty() && random_.once(40))
      of.key = manager_.former[random_.below(static_cast<uint32_t>(manager_.former.size()))];
    if (key.length == 0)
      return access;
    of.length = std::min(of.length, key.length);
    const uint64_t room = key.length - of.length;
    of.address = key.base + (random_.once(4) ? room : random_.once(4) ? 0 : random_.bits() % (room + 1));
    if (random_.once(16)) // a byte beyond an end, or far from it
      of.address += random_.once(4) ? random_.bits() : random_.once(2) ? 1 : ~uint64_t{0};
    return access;
  }

  void offer(const Access& access) {
    const hca::KeyAccess& of = access.of;
    offered_ = true;
    offer_ = access;
    rtl_.request = 1;
    rtl_.request_underlying_function = of.underlying_function;
    rtl_.request_queue_pair = of.queue_pair_number;
    rtl_.request_protection_domain = of.protection_domain;
    rtl_.request_key = of.key;
    rtl_.request_address = of.address;
    rtl_.request_length = static_cast<uint32_t>(of.length);
    rtl_.request_rights = of.rights;
    rtl_.request_begun = of.begun;
    rtl_.request_is_check = access.is_check;
    rtl_.request_is_table = access.is_table;
    rtl_.request_user = next_user_;
  }

  void accept() {
    Asked asked{.access = offer_, .user = next_user_++, .since = place_.clock};
    asked.either.push_back(manager_.now.bursts(offer_));
    if (manager_.is_changing()) {
      asked.either.push_back(manager_.before.bursts(offer_));
      asked.is_mixed = manager_.changes_pages;
    }
    under_way_[offer_.of.queue_pair_number].push_back(std::move(asked));
    ++accesses_;
    ++unanswered_;
    offered_ = false;
    rtl_.request = 0;
  }

  // A change begins: accesses in flight may find it.
  void manager_begins() {
    manager_.begin();
    if (!manager_.is_changing())
      return;
    ++changes_;
    for (auto& [queue_pair, all] : under_way_)
      for (Asked& asked : all) {
        if (manager_.changes_pages)
          asked.is_mixed = true;
        if (asked.said == 0)
          asked.either.push_back(manager_.now.bursts(asked.access));
      }
  }
  void manager_gives() {

    if (rtl_.control || is_controlling_ || manager_.commands.empty())
      return;
    const TranslationManager::Command& command = manager_.commands.front();
    rtl_.control = 1;
    rtl_.control_command = static_cast<uint8_t>(command.kind);
    rtl_.control_key = hca::KeyTable::index_of(command.key);
    rtl_.control_variant = hca::KeyTable::variant_of(command.key);
    rtl_.control_live = command.is_live;
    rtl_.control_quiesced = command.is_quiesced;
    rtl_.control_underlying_function = command.function;
    rtl_.control_first = command.first;
    rtl_.control_last = command.last;
  }
  void manager_is_answered() {
    if (!is_controlling_)
      differ(place_, "commands that were answered", 1, 0);
    is_controlling_ = false;
    manager_.commands.pop_front();
    // Bursts from before the command have transferred their data.
    for (const Finishing& each : finishing_)
      if (each.since < controlled_since_)
        differ(place_, "clock of a burst under way after the command", each.since, controlled_since_);
    for (const auto& [queue_pair, all] : under_way_)
      for (const Asked& asked : all)
        if (asked.said != 0 && asked.since < controlled_since_ &&
            said_since_.at(asked.user) < controlled_since_)
          differ(place_, "clock of an access under way after the command", asked.since, controlled_since_);
    if (!manager_.commands.empty())
      return;
    manager_.finish();
    for (auto& [queue_pair, all] : under_way_)
      for (Asked& asked : all) {
        asked.either = {manager_.now.bursts(asked.access)};
        asked.is_mixed = false;
      }
  }

  void compare_burst() {
    auto& all = under_way_[rtl_.burst_queue_pair];
    if (all.empty())
      differ(place_, "bursts of a queue pair", 1, 0);
    Asked& asked = all.front();
    expect(place_, "access of a burst", rtl_.burst_user, asked.user);
    const Burst burst{.address = rtl_.burst_bytes == 0 ? 0 : rtl_.burst_address,
                      .bytes = rtl_.burst_bytes,
                      .fault = static_cast<AccessFault>(rtl_.burst_fault),
                      .is_last = rtl_.burst_last != 0};
    expect(place_, "function of a burst", rtl_.burst_underlying_function,
           asked.access.of.underlying_function);
    const auto agrees = [&](const Bursts& bursts) {
      return asked.said < bursts.size() && bursts[asked.said] == burst;
    };
    const bool is_lost = burst.fault == AccessFault::unreachable && burst.is_last && burst.bytes == 0 &&
                         host_.has_failed(TranslationModel::address_of_key(asked.access.of.key), asked.since);
    const bool is_either = asked.is_mixed && (manager_.before.next(asked.access, asked.bytes_said) == burst ||
                                              manager_.now.next(asked.access, asked.bytes_said) == burst);
    if (!is_lost && !is_either && std::ranges::none_of(asked.either, agrees)) {
      const Bursts& model = asked.either.front();
      const Burst expected = asked.said < model.size() ? model[asked.said] : Burst{};
      expect(place_, "fault", rtl_.burst_fault, static_cast<uint64_t>(expected.fault));
      expect(place_, "address of a burst", burst.address, expected.address);
      expect(place_, "bytes of a burst", burst.bytes, expected.bytes);
      differ(place_, "last burst of an access", burst.is_last, expected.is_last);
    }
    if (!asked.is_mixed && !is_lost)
      std::erase_if(asked.either, [&](const Bursts& bursts) { return !agrees(bursts); });
    if (asked.said++ == 0)
      said_since_[asked.user] = place_.clock;
    asked.bytes_said += burst.bytes;
    bursts_ += burst.bytes != 0;
    ++faults_.at(static_cast<size_t>(burst.fault));
    refused_ += burst.fault != AccessFault::none;
    if (!burst.is_last)
      return;
    finishing_.push_back({.due = place_.clock + 1 + (is_smooth_ ? 0 : random_.below(finish_)),
                          .epoch = rtl_.burst_epoch != 0,
                          .since = said_since_.at(asked.user)});
    said_since_.erase(asked.user);
    --unanswered_;
    all.pop_front();
  }

  void serve() {
    rtl_.burst_ready = is_smooth_ || random_.percent(ready_);
    rtl_.finish = 0;
    for (size_t at = 0; at < finishing_.size(); ++at)
      if (finishing_[at].due <= place_.clock) {
        rtl_.finish = 1;
        rtl_.finish_epoch = finishing_[at].epoch;
        finishing_.erase(finishing_.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
    host_.serve(rtl_, place_.clock);
    manager_gives();
  }

  void step() {
    rtl_.clock = 0;
    if (!rtl_.reset)
      serve();
    rtl_.eval();
    const bool accepts = rtl_.request && rtl_.request_ready;
    const bool controls = rtl_.control && rtl_.control_ready;
    if (!rtl_.reset) {
      if (rtl_.controlled)
        manager_is_answered();
      if (rtl_.burst && rtl_.burst_ready)
        compare_burst();
      host_.take(rtl_, place_.clock);
      watch();
    }
    rtl_.clock = 1;
    rtl_.eval();
    if (controls) {
      rtl_.control = 0;
      is_controlling_ = true;
      controlled_since_ = place_.clock;
    }
    ++place_.clock;
    if (accepts)
      accept();
  }

  void watch() {
    for (const auto& [queue_pair, all] : under_way_)
      if (!all.empty() && all.front().since + longest_answer < place_.clock)
        differ(place_, "clock of an access that is not answered", all.front().since, place_.clock);
    if (is_controlling_ && controlled_since_ + longest_answer < place_.clock)
      differ(place_, "clock of a command that is not answered", controlled_since_, place_.clock);
  }

  void finish_all() {
    ready_ = 100;
    for (uint64_t clock = 0; unanswered_ != 0 || !finishing_.empty() || manager_.is_changing() || offered_;
         ++clock) {
      step();
      if (clock > 2 * longest_answer)
        differ(place_, "accesses that are not answered", unanswered_, 0);
    }
    for (uint32_t clock = 0; clock < 64; ++clock)
      step();
  }

  // A region with all rights, whose commands are answered.
  TranslationManager::Key region(uint32_t pages) {
    manager_.create_region(pages);
    while (manager_.is_changing())
      step();
    return manager_.keys.back();
  }
  Access warm_access(const TranslationManager::Key& key, uint64_t offset, uint32_t bytes,
                     uint32_t queue_pair) {
    Access access;
    access.of = {.underlying_function = key.function,
                 .protection_domain = key.protection_domain,
                 .key = key.key,
                 .address = key.base + offset,
                 .length = bytes,
                 .queue_pair_number = TranslationManager::queue_pair(queue_pair)};
    return access;
  }
  // Makes accesses of queue pairs in turn, at full speed. Returns the clocks to the last answer.
  template <class Make> uint64_t stream(uint32_t count, Make&& make) {
    const uint64_t begin = place_.clock;
    uint64_t last = begin;
    for (uint32_t made = 0; made < count || unanswered_ != 0 || offered_;) {
      if (!offered_ && made < count)
        offer(make(made++));
      step();
      last = place_.clock;
    }
    for (uint32_t clock = 0; clock < 8; ++clock)
      step();
    return last - begin;
  }
  void figures() {
    constexpr uint32_t count = 1000;
    constexpr uint32_t pages = 16;
    host_.pace.latency = 200;
    is_smooth_ = true;
    const TranslationManager::Key near = region(pages);
    const TranslationManager::Key far = region(PAGE_TABLE_ENTRIES / 2);
    const auto print = [](const char* what, uint32_t accesses, uint64_t clocks) {
      std::printf("%s: %u accesses in %llu clocks\n", what, accesses, number(clocks));
    };
    print("cold, key and page", 1, stream(1, [&](uint32_t) { return warm_access(near, 0, 64, 0); }));
    stream(pages, [&](uint32_t at) { return warm_access(near, at * 4096, 64, at % 6); });
    print("warm", 1, stream(1, [&](uint32_t) { return warm_access(near, 0, 64, 0); }));
    print("64 B, one queue pair", count,
          stream(count, [&](uint32_t) { return warm_access(near, 0, 64, 0); }));
    print("64 B, five queue pairs", count,
          stream(count, [&](uint32_t at) { return warm_access(near, 0, 64, at % 5); }));
    print("4 KiB in two pages, one queue pair", count,
          stream(count, [&](uint32_t) { return warm_access(near, 2048, 4096, 0); }));
    print("4 KiB in two pages, five queue pairs", count,
          stream(count, [&](uint32_t at) { return warm_access(near, 2048, 4096, at % 5); }));
    // The sixth queue pair has a miss now and then; accesses of the others pass it.
    print("64 B, five queue pairs beside one with misses", count, stream(count, [&](uint32_t at) {
            const uint64_t line = at / 200 * 8 * 4096;
            return at % 200 == 5 ? warm_access(far, line, 64, 5) : warm_access(near, 0, 64, at % 5);
          }));
    is_smooth_ = false;
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  TranslationManager manager_{random_};
  TranslationHost host_{place_, random_, manager_.now.host};
  uint32_t request_ = 100;
  uint32_t ready_ = 100;
  uint32_t change_ = 10;
  uint32_t finish_ = 1;
  bool is_smooth_ = false;
  bool offered_ = false;
  Access offer_;
  uint16_t next_user_ = 0;
  std::map<uint32_t, std::deque<Asked>> under_way_; // by queue pair
  std::map<uint16_t, uint64_t> said_since_;         // clock of the first burst
  std::deque<Finishing> finishing_;
  uint64_t unanswered_ = 0;
  bool is_controlling_ = false;
  uint64_t controlled_since_ = 0;
  uint64_t accesses_ = 0;
  uint64_t bursts_ = 0;
  uint64_t refused_ = 0;
  uint64_t changes_ = 0;
  std::array<uint64_t, 6> faults_{};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
