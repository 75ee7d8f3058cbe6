// descriptor_fetch beside the device model: questions of queue pairs with receive queues of their own and
// shared ones, doorbells, limits and commands arrive while the host posts, its memory answers late and in any
// order, and pages and references are bad. RTL reports each access that takes effect; the model then repeats
// it with what RTL has read, and both must have the same effects: answers, contexts, events, failures, looks
// at limits and doorbells that ring. Queue pairs fail, are reset, and disappear while their question waits.
// Arguments: seed, clocks.
//
// At the end questions arrive without pauses, and the bench prints the clocks that they take.
#include "context_writers.h"
#include "descriptor_fetch_host.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {
namespace {

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t shared_queues = SHARED;
constexpr unsigned functions = 3;
constexpr uint32_t shared_most = std::min<uint32_t>(shared_queues - 1, 24); // Live at a time.
using Doorbell = spec::underlying_function::ReceiveDoorbell;

struct Responder {
  spec::QueuePairResponder responder;
};

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), surroundings_(contexts),
        memory_(random_, surroundings_), host_(place_, random_, surroundings_, memory_) {
    for (uint32_t queue = 0; queue < 2 * contexts; ++queue)
      models_.push_back(nullptr);
  }

  int run() {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    step();
    for (uint32_t clock = 0; rtl_.clearing; ++clock) {
      if (clock > 4096)
        differ(place_, "clearing", 1, 0);
      step();
    }
    place_.clock = 0;
    while (place_.clock < clocks_) {
      if (place_.clock % 512 == 0)
        pace();
      // Now and then all comes to rest, and nothing may be left.
      if (place_.clock % 8192 == 0)
        come_to_rest();
      act();
      go_on();
    }
    come_to_rest();
    std::printf("%llu questions in %llu clocks: ", number(questions_), number(place_.clock));
    print();
    stream(1);
    stream(contexts / 2);
    return 0;
  }

private:
  static unsigned long long number(uint64_t value) { return value; }
  static uint32_t index_of(uint32_t number) { return number & 0xffff; }

  struct QueuePair {
    bool is_live = false;
    uint32_t number = 0;
    unsigned function = 0;
    uint32_t shared = 0;
    ReceiveRing ring;
    bool has_ring = false;
    // As RTL has them.
    spec::QueuePairControl control;
    Responder context;
  };
  // The question and doorbells at a place of queue pairs.
  struct WorkPlace {
    bool is_asked = false; // a question is not answered yet
    uint32_t number = 0;
    unsigned function = 0;
    uint32_t queue = 0;      // that it is for
    bool is_waiting = false; // for its turn
    bool has_waited = false;
    bool is_at_work = false;
    std::deque<spec::QueuePairNotice> answers;
    bool is_pair_at_work = false;    // own queue
    std::optional<Doorbell> put_off; // a doorbell
    unsigned put_off_function = 0;
    bool goes_again = false;
    // Doorbells that ring.
    std::deque<uint32_t> rings;
    uint64_t rung_at = 0;
    uint64_t told_at = 0;
  };
  struct SharedQueue {
    bool is_live = false;
    uint32_t number = 0;
    unsigned function = 0;
    ReceiveRing ring;
    bool at_work = false;
    bool looks = false;
    bool at_limit = false;
    uint32_t waiting = 0;
  };
  struct Command {
    bool creates = false, resizes = false, arms = false, destroys = false;
    uint32_t number = 0;
    unsigned function = 0;
    ReceiveRing ring;
    uint16_t limit = 0;
    bool has_worked = false;
    uint8_t status = 0;
  };

  DescriptorModel& model(uint32_t queue) {
    if (!models_[queue])
      models_[queue] = std::make_unique<DescriptorModel>(place_, surroundings_);
    return *models_[queue];
  }
  hca::QueuePairParts* parts(const QueuePair& of) {
    return surroundings_.queue_pairs.parts(of.function, of.number);
  }
  hca::SharedReceiveQueue* row(const SharedQueue& of) {
    return surroundings_.shared.find(of.function, of.number);
  }
  SharedQueue& shared_of(uint32_t number) { return shared_[index_of(number)]; }

  // Traffic.

  void pace() {
    host_.pace = {.ready = std::array{30U, 70U, 100U}[random_.below(3)],
                  .latency = std::array{1U, 30U, 400U}[random_.below(3)],
                  .is_smooth = false};
    take_ = std::array{10U, 60U, 100U}[random_.below(3)];
    busy_ = std::array{3U, 20U, 100U}[random_.below(3)];
    // Long times without errors use the rings up to their ends.
    errors_ = random_.once(3) ? 40 : 2000;
  }

  void act() {
    if (random_.once(12))
      change();
    if (random_.once(6))
      post();
    if (random_.percent(busy_))
      ask();
    if (random_.once(20))
      ring();
    if (random_.once(60))
      begin_command();
  }

  bool is_good() { return is_stream_ || !random_.once(errors_); }

  void change() {
    QueuePair& of = pairs_[2 + random_.below(contexts - 2)];
    if (!of.is_live) {
      create(of);
      return;
    }
    if (is_looked_at(index_of(of.number)))
      return;
    hca::QueuePairParts& own = *parts(of);
    if (const SharedQueue& shared = shared_[index_of(of.shared) % shared_queues];
        of.shared != 0 && shared.is_live && row(shared)->failure != spec::Refusal::none && random_.once(3)) {
      destroy(of);
      return;
    }
    switch (random_.below(12)) {
    case 0:
      set_state(of, own, spec::QueuePairState::error);
      break;
    case 1:
      own.control.set_destroying(random_.once(4));
      of.control.set_destroying(own.control.destroying());
      break;
    case 2:
      set_credits(of, own);
      break;
    case 3:
    case 4:
      if (random_.once(4) || (own.control.state() == spec::QueuePairState::error && random_.once(2)))
        destroy(of);
      break;
    case 5:
      // A doorbell from before a reset is stale.
      if (random_.once(4) && !place(of).is_asked)
        set_state(of, own, spec::QueuePairState::reset);
      break;
    default:
      set_state(of, own, spec::QueuePairState::ready_to_receive);
    }
  }
  WorkPlace& place(const QueuePair& of) { return places_[index_of(of.number)]; }
  void set_state(QueuePair& of, hca::QueuePairParts& own, spec::QueuePairState state) {
    if (may_be_failing())
      return;
    own.control.set_state(state);
    of.control.set_state(state);
  }
  void set_credits(QueuePair& of, hca::QueuePairParts& own) {
    hca::TransportResponder& connection = own.transport().responder();
    const uint32_t limit = static_cast<uint32_t>(random_.bits()) & 0xffffff;
    connection.set_advertised_limit(limit);
    connection.set_message_sequence_number((limit + random_.below(3) - 1) & 0xffffff);
    of.context.responder.set_advertised_limit(limit);
    of.context.responder.set_message_sequence_number(connection.message_sequence_number());
  }

  void create(QueuePair& of) {
    // RTL may be deciding on a queue pair that is gone: its place gets no other until then.
    for (const uint32_t index : looked_at_)
      if (!pairs_[index % contexts].is_live)
        return;
    const SharedQueue& shared = shared_[1 + random_.below(shared_most)];
    const unsigned function = shared.is_live && !random_.once(8) ? shared.function : random_.below(functions);
    spec::QueuePairControl control;
    for (uint8_t& byte : std::span(reinterpret_cast<uint8_t*>(&control), sizeof control))
      byte = static_cast<uint8_t>(random_.bits());
    control.set_state(spec::QueuePairState::ready_to_receive);
    control.set_destroying(0);
    control.set_service_type(spec::ServiceType::reliable_connection);
    const bool is_shared = !is_stream_ && shared.is_live && !random_.once(3) &&
                           (shared.function == function || random_.once(8)) &&
                           !(command_ && command_->destroys && command_->number == shared.number);
    control.set_shared_receive_queue(
        is_shared ? shared.number ^ (random_.once(40) ? 1U << random_.below(24) : 0) : 0);
    const bool has_ring = is_stream_ || (!is_shared && !random_.once(12));
    const auto head = static_cast<uint16_t>(random_.once(2) ? 0x10000 - random_.below(40) : random_.bits());
    QueuePair next{.is_live = true,
                   .function = function,
                   .shared = control.shared_receive_queue(),
                   .has_ring = has_ring};
    if (has_ring)
      next.ring = memory_.make(function, is_stream_ ? 8 : some_log2(), head, is_good());
    control.set_receive_queue_log2(next.ring.log2);
    control.set_receive_queue_pages(next.ring.table);
    control.set_receive_entry_bytes(next.ring.entry_bytes);
    control.set_receive_tail_address(next.ring.tail_address);
    const auto created = surroundings_.queue_pairs.create(function, control);
    if (!created)
      return;
    next.number = *created;
    hca::QueuePairParts& own = *surroundings_.queue_pairs.parts(function, *created);
    own.responder.set_receive_head(head);
    own.responder.set_receive_tail(head);
    next.control = own.control;
    std::memcpy(&next.context.responder, &own.responder, sizeof next.context.responder);
    set_credits(next, own);
    // Indices of the model are the places.
    QueuePair& to = pairs_[index_of(*created)];
    if (to.is_live)
      differ(place_, "place of a queue pair", *created, 0);
    if (&to != &of)
      of.is_live = false;
    to = next;
  }
  unsigned some_log2() { return random_.once(8) ? 9 + random_.below(3) : random_.below(6); }
  void destroy(QueuePair& of) {
    if (is_looked_at(index_of(of.number)) || may_be_failing())
      return;
    gone_number_ = of.number;
    surroundings_.queue_pairs.destroy(of.number);
    of.is_live = false;
    if (of.has_ring)
      forgotten_tables_.push_back({place_.clock, of.ring.table, index_of(of.number)});
    ++destroyed_;
  }
  // RTL may be about to put a queue pair in ERR.
  bool may_be_failing() const {
    return failing_ || rtl_.fail || !expected_fails_.empty() || !expected_events_.empty() ||
           place_.clock < worked_at_ + 8;
  }
  // RTL is deciding on an access to it.
  bool is_looked_at(uint32_t index) const {
    return std::find(looked_at_.begin(), looked_at_.end(), index) != looked_at_.end();
  }

  void post() {
    ReceiveRing* ring = nullptr;
    uint32_t head = 0;
    QueuePair* of = nullptr;
    if (random_.once(2)) {
      SharedQueue& shared = shared_[1 + random_.below(shared_most)];
      if (!shared.is_live || shared.ring.is_held)
        return;
      ring = &shared.ring;
      head = row(shared)->head;
    } else {
      of = &pairs_[2 + random_.below(contexts - 2)];
      if (!of->is_live || !of->has_ring)
        return;
      ring = &of->ring;
      head = parts(*of)->responder.receive_head();
    }
    const uint32_t room = ring->entries() - static_cast<uint16_t>(ring->tail - head);
    const uint32_t count = std::min(room, random_.once(4) ? ring->entries() : 1 + random_.below(6));
    for (uint32_t each = 0; each < count; ++each)
      memory_.post(*ring, is_good());
    uint32_t tail = ring->tail;
    if (!is_good())
      tail = random_.once(2) ? tail | 0x10000U << random_.below(16)
                             : static_cast<uint16_t>(head + ring->entries() + 1 + random_.below(9));
    memory_.write_tail(*ring, tail);
    if (of != nullptr && random_.once(2))
      ring_for(*of);
  }

  void ask() {
    if (rtl_.wanted_valid)
      return;
    const uint32_t index = 2 + random_.below(contexts - 2);
    WorkPlace& at = places_[index];
    if (at.is_asked)
      return;
    const QueuePair& of = pairs_[index];
    uint32_t named = of.is_live ? of.number : index | 0x550000;
    unsigned function = of.function;
    if (random_.once(60))
      named ^= 1U << (16 + random_.below(8));
    if (random_.once(60))
      function = random_.below(functions);
    ask_for(index, named, function);
  }
  void ask_for(uint32_t index, uint32_t named, unsigned function) {
    WorkPlace& at = places_[index];
    at.is_asked = true;
    at.number = named;
    at.function = function;
    at.queue = index;
    at.has_waited = false;
    rtl_.wanted_valid = 1;
    put(rtl_.wanted, notice(function, named, spec::QueuePairNoticeKind::take_descriptor));
    ++questions_;
  }

  void ring() {
    const QueuePair& of = pairs_[2 + random_.below(contexts - 2)];
    if (random_.once(6)) {
      const SharedQueue& shared = shared_[1 + random_.below(shared_most)];
      ring_with(random_.below(functions), shared.number, true, shared.ring.tail);
    } else if (of.is_live)
      ring_for(of);
    else
      ring_with(random_.below(functions), gone_number_, false, 0);
  }
  void ring_for(const QueuePair& of) {
    uint32_t tail = of.ring.tail;
    if (random_.once(8))
      tail = random_.once(2) ? tail - random_.below(4) : random_.bits();
    ring_with(random_.once(30) ? random_.below(functions) : of.function, of.number, false, tail);
  }
  void ring_with(unsigned function, uint32_t named, bool is_shared, uint32_t tail) {
    if (rtl_.doorbell)
      return;
    Doorbell value;
    value.set_queue(named);
    value.set_shared(is_shared);
    value.set_tail(tail & 0xffff);
    put(rtl_.doorbell_value, value);
    rtl_.doorbell_underlying_function = function;
    rtl_.doorbell = 1;
    offered_ = {function, value};
  }

  void begin_command() {
    if (command_)
      return;
    SharedQueue& of = shared_[1 + random_.below(shared_most)];
    Command next;
    if (!of.is_live) {
      if (std::count_if(shared_.begin(), shared_.end(),
                        [](const SharedQueue& each) { return each.is_live; }) == shared_most)
        return;
      next.creates = true;
      next.function = random_.below(functions);
      next.ring = memory_.make(next.function, some_log2(), 0, is_good());
      const auto created =
          surroundings_.shared.create(next.function, {.queue_log2 = next.ring.log2,
                                                      .queue_pages = next.ring.table,
                                                      .entry_bytes = next.ring.entry_bytes,
                                                      .tail_address = next.ring.tail_address});
      next.number = *created;
      if (index_of(next.number) >= shared_queues)
        differ(place_, "index of a shared queue", next.number, shared_queues);
    } else {
      next.number = of.number;
      next.function = of.function;
      const uint32_t choice = random_.below(16);
      if (choice == 0) { // a number that is not there
        next.number ^= 1U << (16 + random_.below(8));
        next.arms = random_.once(2);
      } else if (choice == 1) {
        if (receives_from(of.number))
          return;
        next.destroys = true;
      } else if (choice == 2 && of.ring.log2 < 11) {
        next.resizes = true;
        next.ring = of.ring;
        next.ring.log2 += 1 + random_.below(2);
        next.ring.table = memory_.make_table(of.function, next.ring.log2, is_good());
        next.ring.entry_bytes += random_.below(3) * spec::page_bytes;
        const hca::SharedReceiveQueue& own = *row(of);
        for (uint16_t each = own.head; each != of.ring.tail; ++each)
          memory_.copy_reference(of.ring, next.ring, each);
        of.ring.is_held = true;
      } else if (choice < 14) {
        next.arms = true;
        next.limit = static_cast<uint16_t>(random_.below(of.ring.entries() + 1));
      }
    }
    command_ = next;
    rtl_.control = 1;
    rtl_.control_create = next.creates;
    rtl_.control_resize = next.resizes;
    rtl_.control_arm = next.arms;
    rtl_.control_destroy = next.destroys;
    rtl_.control_number = next.number;
    rtl_.control_underlying_function = next.function;
    rtl_.control_queue_log2 = next.ring.log2;
    rtl_.control_queue_pages = next.ring.table;
    rtl_.control_entry_bytes = next.ring.entry_bytes;
    rtl_.control_tail_address = next.ring.tail_address;
    rtl_.control_limit = next.limit;
  }
  bool receives_from(uint32_t number) const {
    for (uint32_t index = 0; index < contexts; ++index)
      if ((pairs_[index].is_live && index_of(pairs_[index].shared) == index_of(number)) ||
          (places_[index].is_asked && places_[index].queue == contexts + index_of(number)))
        return true;
    // A question that has arrived may still find it.
    return false;
  }

  // A clock.

  void go_on() {
    rtl_.fetched_ready = random_.percent(take_);
    rtl_.rung_ready = random_.percent(take_);
    rtl_.event_ready = random_.percent(take_);
    rtl_.read_context_ready = random_.percent(take_ < 50 ? 50 : 100);
    rtl_.fail_ready = !failing_ && random_.percent(50);
    rtl_.answer = asked_ && place_.clock >= answer_at_ && (is_stream_ || random_.percent(60));
    if (rtl_.answer)
      answer_context();
    rtl_.failed = failing_ && random_.percent(30);
    if (rtl_.failed) {
      QueuePair& of = pairs_[index_of(*failing_)];
      const bool is_found = of.is_live && of.number == *failing_ && of.function == failing_function_;
      rtl_.failed_done = is_found && of.control.state() != spec::QueuePairState::error;
      if (is_found)
        of.control.set_state(spec::QueuePairState::error);
    }
    host_.serve(rtl_);
    step();
  }
  void answer_context() {
    const QueuePair& of = pairs_[index_of(*asked_) % contexts];
    rtl_.answer_found = of.is_live && of.number == *asked_;
    put(rtl_.answer_control, of.control);
    put(rtl_.answer_responder, of.context.responder);
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    const bool wanted_goes = rtl_.wanted_valid && rtl_.wanted_ready;
    const bool doorbell_goes = rtl_.doorbell && rtl_.doorbell_ready;
    const bool control_goes = rtl_.control && rtl_.control_ready;
    const bool translated_goes = rtl_.translated && rtl_.translated_ready;
    const bool fail_goes = rtl_.fail && rtl_.fail_ready;
    const bool asks = rtl_.read_context && rtl_.read_context_ready;
    if (!rtl_.reset) {
      host_.take(rtl_);
      if (rtl_.fetched_valid && rtl_.fetched_ready)
        compare_fetched();
      if (rtl_.rung_valid && rtl_.rung_ready)
        compare_rung();
      if (rtl_.event_valid && rtl_.event_ready)
        compare_event();
    }
    const uint32_t fail_number = rtl_.fail_number;
    const unsigned fail_function = rtl_.fail_underlying_function;
    const uint32_t asked_number = rtl_.read_context_number;
    const bool answered = rtl_.answer;
    const bool failed = rtl_.failed;
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    if (rtl_.reset)
      return;
    if (answered)
      asked_.reset();
    if (failed)
      failing_.reset();
    if (asks) {
      asked_ = asked_number;
      answer_at_ = place_.clock + 4; // as queue_pair_contexts
      looked_at_.push_back(index_of(asked_number));
    }
    if (fail_goes) {
      if (!expected_fails_.empty()) {
        expect(place_, "queue pair that fails", fail_number, expected_fails_.front().first);
        expect(place_, "function that fails", fail_function, expected_fails_.front().second);
        expected_fails_.pop_front();
      } else
        expect(place_, "queue pair that fails again", fail_number, fails_again_);
      failing_ = fail_number;
      failing_function_ = fail_function;
    }
    if (wanted_goes)
      rtl_.wanted_valid = 0;
    if (doorbell_goes) {
      rtl_.doorbell = 0;
      doorbells_.push_back(offered_);
    }
    if (control_goes)
      rtl_.control = 0;
    if (translated_goes)
      rtl_.translated = 0;
    if (auto finished = host_.take_finished())
      model(finished->first).reads.push_back(finished->second);
    if (rtl_.descriptor_write) {
      QueuePair& of = pairs_[index_of(rtl_.descriptor_number)];
      if (!of.is_live || of.number != rtl_.descriptor_number)
        differ(place_, "context that is written", rtl_.descriptor_number, of.number);
      set_descriptor(of.context, get<spec::QueuePairResponder>(rtl_.descriptor_responder));
    }
    is_worked_expected_unknown_ = false;
    faults_before_ = faults_;
    if (rtl_.worked)
      work();
    expect(place_, "unknown queue of a doorbell", rtl_.doorbell_unknown, is_worked_expected_unknown_);
    expect(place_, "DMA faults", rtl_.counted_dma_fault, faults_ - faults_before_);
    if (rtl_.controlled)
      compare_controlled();
  }

  // The model repeats an access.

  enum Kind : uint8_t { question, tail, references, limit, doorbell, control };

  void work() {
    worked_at_ = place_.clock;
    const uint32_t named = rtl_.worked_number;
    switch (rtl_.worked_kind) {
    case question:
    case tail:
    case references:
      forget_look(index_of(named));
      work_question(named);
      break;
    case limit:
      work_limit(named);
      break;
    case doorbell:
      work_doorbell(named);
      break;
    default:
      work_command(named);
    }
  }
  void forget_look(uint32_t index) {
    const auto at = std::find(looked_at_.begin(), looked_at_.end(), index);
    if (at == looked_at_.end())
      differ(place_, "access without its context", index, 0);
    looked_at_.erase(at);
  }

  void work_question(uint32_t named) {
    WorkPlace& at = places_[index_of(named)];
    if (!at.is_asked || at.number != named)
      differ(place_, "question", named, at.number);
    const QueuePair& of = pairs_[index_of(named)];
    const bool is_there = of.is_live && of.number == named && of.function == at.function;
    if (rtl_.worked_kind == question && is_there && !at.is_waiting && of.shared != 0)
      at.queue = contexts + index_of(of.shared) % shared_queues;
    SharedQueue* shared = at.queue >= contexts ? &shared_[at.queue - contexts] : nullptr;
    if (!rtl_.worked_done) {
      expect(place_, "look of a question that waits", rtl_.worked_looks, 0);
      if (shared == nullptr)
        at.is_pair_at_work = at.is_at_work = true;
      else if (at.is_waiting || at.is_at_work || !shared->at_work) {
        at.is_waiting = false;
        at.is_at_work = shared->at_work = true;
      } else {
        at.is_waiting = at.has_waited = true;
        ++shared->waiting;
        ++waited_;
      }
      return;
    }
    // The model answers. It does not look at the limit: RTL does, and reads the tail for it.
    DescriptorModel& model = this->model(at.queue);
    hca::SharedReceiveQueue* const own = shared != nullptr && shared->is_live ? row(*shared) : nullptr;
    const uint16_t kept = own != nullptr ? own->limit : 0;
    if (own != nullptr)
      own->limit = 0;
    const bool is_usable = is_there && parts(of)->control.destroying() == 0 &&
                           parts(of)->control.state() != spec::QueuePairState::error;
    const bool was_error = is_there && parts(of)->control.state() == spec::QueuePairState::error;
    const uint64_t faults = model.faults();
    const size_t events = model.events.size();
    // This question does not use the reads of another one at the shared queue.
    std::deque<DescriptorRead> others;
    const bool is_passing = shared != nullptr && !at.is_at_work && !at.is_waiting;
    if (is_passing)
      others.swap(model.reads);
    const size_t reads = model.reads.size();
    const bool is_taken = model.take(at.function, named);
    if (own != nullptr && own->failure == spec::Refusal::none)
      own->limit = kept;
    if (!model.reads.empty()) {
      // RTL discards a read for a queue pair that has failed since.
      if (is_there && (shared == nullptr || is_usable))
        differ(place_, "reads that the model needs", reads, reads - model.reads.size());
      ++discarded_;
      model.reads.clear();
    }
    if (is_passing)
      others.swap(model.reads);
    faults_ += model.faults() - faults;
    has_failed(model, events, named, at.function);
    // A queue pair in ERR may fail again, without an event.
    fails_again_ = was_error && !is_taken ? named : 0;
    (is_taken ? taken_ : none_) += 1;
    taken_shared_ += is_taken && shared != nullptr;
    taken_after_wait_ += is_taken && at.has_waited;
    at.answers.push_back(notice(at.function, named,
                                is_taken ? spec::QueuePairNoticeKind::descriptor_taken
                                         : spec::QueuePairNoticeKind::no_descriptor));
    if (is_there)
      compare_context(of);
    if (shared != nullptr)
      end_work(*shared, at.is_at_work || at.is_waiting, is_taken, !is_usable);
    else {
      if (rtl_.worked_looks)
        differ(place_, "look of an own queue", 1, 0);
      if (at.is_at_work && at.put_off)
        at.goes_again = true;
      at.is_pair_at_work = false;
    }
    at.is_at_work = at.is_waiting = false;
  }

  // Keeps the events and the failure of an access that the model has repeated.
  void has_failed(DescriptorModel& model, size_t events, uint32_t named, unsigned function) {
    for (size_t each = events; each < model.events.size(); ++each) {
      const spec::EventUnit& event = model.events[each];
      expected_events_.push_back(event);
      if (event.type() == spec::EventType::queue_pair_fatal)
        ++failed_;
      if (event.type() == spec::EventType::shared_receive_queue_error)
        ++shared_errors_;
      if (event.type() == spec::EventType::shared_receive_queue_limit_reached)
        ++limits_;
    }
    if (named == 0)
      return;
    const bool has_event =
        model.events.size() != events && model.events.back().type() == spec::EventType::queue_pair_fatal;
    if (has_event)
      expected_fails_.push_back({named, function});
  }

  void end_work(SharedQueue& shared, bool had_turn, bool is_taken, bool is_discarded) {
    hca::SharedReceiveQueue* const own = shared.is_live ? row(shared) : nullptr;
    const bool is_below = own != nullptr && own->limit != 0 && own->failure == spec::Refusal::none &&
                          static_cast<uint16_t>(own->tail - own->head) < own->limit;
    const bool looks = is_below && (is_taken || (had_turn && shared.looks));
    if (rtl_.worked_looks != looks && !(rtl_.worked_looks && is_discarded && shared.looks && had_turn))
      differ(place_, "look at a limit", rtl_.worked_looks, looks);
    if (rtl_.worked_looks) {
      shared.looks = false;
      shared.at_work = shared.at_limit = true;
      return;
    }
    if (!had_turn)
      return;
    shared.looks = false;
    shared.at_work = shared.waiting != 0;
    if (shared.at_work)
      --shared.waiting;
  }

  void work_limit(uint32_t named) {
    SharedQueue& shared = shared_of(named);
    if (!shared.at_limit || shared.number != named)
      differ(place_, "read for a limit", named, shared.number);
    shared.at_limit = false;
    DescriptorModel& model = this->model(contexts + index_of(named));
    const hca::SharedReceiveQueue& own = *row(shared);
    const auto left = static_cast<uint16_t>(own.tail - own.head);
    if (!shared.looks && own.limit != 0 && left < own.limit) {
      const uint64_t faults = model.faults();
      const size_t events = model.events.size();
      model.look(shared.function, named);
      faults_ += model.faults() - faults;
      has_failed(model, events, 0, 0);
      if (!model.reads.empty())
        differ(place_, "reads for a limit", model.reads.size(), 0);
      ++looks_;
    } else {
      ++stale_looks_;
      model.reads.clear();
    }
    end_work(shared, true, false, false);
  }

  void work_doorbell(uint32_t named) {
    // A doorbell that was put off comes again before later ones are put off.
    WorkPlace& at = places_[index_of(named) % contexts];
    const bool is_first = !doorbells_.empty() && doorbells_.front().second.queue() == named &&
                          doorbells_.front().second.tail() == rtl_.worked_tail;
    std::pair<unsigned, Doorbell> rung;
    const bool is_again =
        at.goes_again && at.put_off && at.put_off->queue() == named && at.put_off->tail() == rtl_.worked_tail;
    if (is_again) {
      rung = {at.put_off_function, *at.put_off};
      at.put_off.reset();
      at.goes_again = false;
      ++again_;
    } else if (is_first) {
      rung = doorbells_.front();
      doorbells_.pop_front();
    } else
      differ(place_, "doorbell", named, doorbells_.empty() ? 0 : doorbells_.front().second.queue());
    if (rung.second.shared() == 0)
      forget_look(index_of(named));
    if (!rtl_.worked_done) {
      if (!at.is_pair_at_work)
        differ(place_, "doorbell that is put off", named, 0);
      at.put_off = rung.second;
      at.put_off_function = rung.first;
      ++put_off_;
      return;
    }
    const QueuePair& of = pairs_[index_of(named) % contexts];
    const bool is_there =
        rung.second.shared() == 0 && of.is_live && of.number == named && of.function == rung.first;
    if (is_there && at.is_pair_at_work)
      differ(place_, "doorbell beside a question", named, 0);
    // RTL does not know a shared queue before its command.
    const bool is_early = rung.second.shared() != 0 && command_ && command_->creates &&
                          !command_->has_worked && command_->number == named;
    DescriptorModel::Rung outcome = model(index_of(named) % contexts).ring(rung.first, rung.second);
    outcome.is_known = outcome.is_known && !is_early;
    is_worked_expected_unknown_ = !outcome.is_known;
    unknown_ += !outcome.is_known;
    ++doorbells_rung_;
    if (outcome.rings) {
      at.rings.push_back(named);
      at.rung_at = place_.clock;
      ++rings_;
    }
    if (is_there)
      compare_context(of);
  }

  void work_command(uint32_t named) {
    if (!command_ || command_->has_worked || command_->number != named)
      differ(place_, "command", named, 0);
    Command& command = *command_;
    command.has_worked = true;
    SharedQueue& of = shared_of(named);
    if (command.creates) {
      of = {.is_live = true, .number = named, .function = command.function, .ring = command.ring};
      return;
    }
    hca::SharedReceiveQueue* const own = surroundings_.shared.find(command.function, named);
    if (own == nullptr) {
      command.status = static_cast<uint8_t>(spec::ManagementStatus::bad_object);
      expect(place_, "look of no queue", rtl_.worked_looks, 0);
      ++bad_objects_;
      return;
    }
    const bool has_failed = own->failure != spec::Refusal::none;
    if (has_failed && (command.arms || command.resizes)) {
      command.status = static_cast<uint8_t>(spec::ManagementStatus::bad_state);
      ++bad_states_;
    } else if (command.arms) {
      own->limit = command.limit;
      if (of.at_work)
        of.looks = true;
      const bool looks =
          !of.at_work && own->limit != 0 && static_cast<uint16_t>(own->tail - own->head) < own->limit;
      expect(place_, "look of a new limit", rtl_.worked_looks, looks);
      if (looks)
        of.at_work = of.at_limit = true;
      return;
    } else if (command.resizes) {
      memory_.destroy_table(own->queue_pages);
      own->queue_log2 = command.ring.log2;
      own->queue_pages = command.ring.table;
      own->entry_bytes = command.ring.entry_bytes;
      own->prefetched = 0;
      const uint16_t tail_before = of.ring.tail;
      of.ring = command.ring;
      of.ring.tail = tail_before;
      ++resized_;
    } else if (command.destroys) {
      if (of.at_work)
        differ(place_, "shared queue that is destroyed at work", named, 0);
      memory_.destroy_table(own->queue_pages);
      surroundings_.shared.destroy(named);
      of.is_live = false;
      ++destroyed_shared_;
    }
    expect(place_, "look of a command", rtl_.worked_looks, 0);
  }

  // Comparisons.

  void compare_context(const QueuePair& of) {
    const hca::ReceiveQueueState& theirs = parts(of)->responder;
    const spec::QueuePairResponder& ours = of.context.responder;
    expect(place_, "head", ours.receive_head(), theirs.receive_head());
    expect(place_, "tail", ours.receive_tail(), theirs.receive_tail());
    expect(place_, "prefetched", ours.receive_prefetched(), theirs.receive_prefetched());
    expect(place_, "number of the entry", ours.receive_entry_number(), theirs.receive_entry_number());
    expect(place_, "offset of the entry", ours.receive_entry_offset(), theirs.receive_entry_offset());
    expect(place_, "length of the entry", ours.receive_entry_length(), theirs.receive_entry_length());
    wrapped_ += theirs.receive_head() < 8;
  }
  void compare_fetched() {
    const auto unit = get<spec::QueuePairNotice>(rtl_.fetched);
    WorkPlace& at = places_[index_of(unit.queue_pair_number()) % contexts];
    if (at.answers.empty())
      differ(place_, "answer", unit.queue_pair_number(), 0);
    expect(place_, "queue pair of an answer", unit.queue_pair_number(),
           at.answers.front().queue_pair_number());
    expect(place_, "function of an answer", unit.underlying_function(),
           at.answers.front().underlying_function());
    expect(place_, "answer", static_cast<uint64_t>(unit.kind()),
           static_cast<uint64_t>(at.answers.front().kind()));
    at.answers.pop_front();
    at.is_asked = false;
  }
  void compare_rung() {
    const auto unit = get<spec::QueuePairNotice>(rtl_.rung);
    WorkPlace& at = places_[index_of(unit.queue_pair_number()) % contexts];
    if (at.rings.empty())
      differ(place_, "doorbell for receive", unit.queue_pair_number(), 0);
    expect(place_, "kind of a doorbell", static_cast<uint64_t>(unit.kind()),
           static_cast<uint64_t>(spec::QueuePairNoticeKind::flush));
    while (!at.rings.empty() && at.rings.front() != unit.queue_pair_number())
      at.rings.pop_front();
    if (at.rings.empty())
      differ(place_, "queue pair of a doorbell", unit.queue_pair_number(), 0);
    at.rings.pop_front();
    at.told_at = place_.clock;
    ++told_;
  }
  void compare_event() {
    const auto unit = get<spec::EventUnit>(rtl_.event_unit);
    if (expected_events_.empty())
      differ(place_, "event", static_cast<uint64_t>(unit.type()), 0);
    const spec::EventUnit& theirs = expected_events_.front();
    for (size_t word = 0; word < std::size(unit.dwords); ++word)
      expect(place_, "event", unit.dwords[word], theirs.dwords[word]);
    expected_events_.pop_front();
  }
  void compare_controlled() {
    if (!command_ || !command_->has_worked)
      differ(place_, "answer to a command", 1, 0);
    expect(place_, "status of a command", rtl_.controlled_status, command_->status);
    command_.reset();
  }

  void come_to_rest() {
    for (uint32_t clock = 0; !is_at_rest(); ++clock) {
      if (clock > 60'000)
        differ(place_, "rest", 0, 1);
      go_on();
    }
    for (uint32_t clock = 0; clock < 40; ++clock)
      go_on();
    for (const WorkPlace& at : places_)
      if (at.told_at < at.rung_at)
        differ(place_, "doorbell that receive is told of", 0, 1);
    for (WorkPlace& at : places_)
      at.rings.clear();
    for (const SharedQueue& of : shared_)
      if (of.is_live)
        expect(place_, "waiting at a shared queue", of.waiting + of.at_work, 0);
    for (const auto& [clock, table, index] : forgotten_tables_)
      memory_.destroy_table(table);
    forgotten_tables_.clear();
  }
  bool is_at_rest() const {
    for (const WorkPlace& at : places_)
      if (at.is_asked || at.put_off || at.told_at < at.rung_at)
        return false;
    for (const SharedQueue& of : shared_)
      if (of.is_live && of.at_work)
        return false;
    return !command_ && doorbells_.empty() && !rtl_.doorbell && expected_events_.empty() && !failing_ &&
           expected_fails_.empty() && host_.is_idle() && !rtl_.wanted_valid;
  }

  void print() const {
    std::printf(
        "%llu taken, %llu none, %llu shared, %llu waited, %llu after a wait, %llu read, %llu overtaken, "
        "%llu unreadable, %llu failed, %llu shared errors, %llu limits, %llu looks, %llu stale looks, "
        "%llu discarded, %llu doorbells, %llu put off, %llu again, %llu ring, %llu told, %llu unknown, "
        "%llu destroyed, %llu resized, %llu ended, %llu bad objects, %llu bad states, %llu wrapped\n",
        number(taken_), number(none_), number(taken_shared_), number(waited_), number(taken_after_wait_),
        number(host_.reads), number(host_.overtaken), number(host_.failures), number(failed_),
        number(shared_errors_), number(limits_), number(looks_), number(stale_looks_), number(discarded_),
        number(doorbells_rung_), number(put_off_), number(again_), number(rings_), number(told_),
        number(unknown_), number(destroyed_), number(resized_), number(destroyed_shared_),
        number(bad_objects_), number(bad_states_), number(wrapped_));
  }

  // Questions of queue pairs without pauses, with a host that answers after 200 clocks.
  void stream(uint32_t count) {
    for (QueuePair& of : pairs_)
      if (of.is_live)
        destroy(of);
    come_to_rest();
    host_.pace = {.ready = 100, .latency = 200, .is_smooth = true};
    take_ = 100;
    errors_ = ~0U;
    is_stream_ = true;
    std::vector<uint32_t> indices;
    while (indices.size() < count) {
      QueuePair unused;
      create(unused);
      for (uint32_t index = 0; index < contexts; ++index)
        if (pairs_[index].is_live && std::find(indices.begin(), indices.end(), index) == indices.end())
          indices.push_back(index);
    }
    const uint64_t each = 256;
    for (const uint32_t index : indices) {
      for (uint64_t posted = 0; posted < each; ++posted)
        memory_.post(pairs_[index].ring, true);
      memory_.write_tail(pairs_[index].ring, pairs_[index].ring.tail);
    }
    const uint64_t begun = place_.clock;
    const uint64_t taken = taken_;
    std::vector<uint64_t> asked(contexts);
    while (taken_ - taken != each * count) {
      for (const uint32_t index : indices)
        if (!rtl_.wanted_valid && !places_[index].is_asked && asked[index] < each) {
          ask_for(index, pairs_[index].number, pairs_[index].function);
          ++asked[index];
        }
      go_on();
      if (place_.clock - begun > 1'000'000)
        differ(place_, "questions without pauses", taken_ - taken, each * count);
    }
    std::printf("%llu questions of %u queue pairs in %llu clocks\n", number(each * count), count,
                number(place_.clock - begun));
    come_to_rest();
  }

  template <class Unit, class Port> static Unit get(const Port& port) {
    Unit unit;
    std::memcpy(&unit, &port, sizeof unit);
    return unit;
  }
  template <class Unit, class Port> static void put(Port& port, const Unit& unit) {
    static_assert(sizeof unit <= sizeof port);
    std::memcpy(&port, &unit, sizeof unit);
  }
  static spec::QueuePairNotice notice(unsigned function, uint32_t number, spec::QueuePairNoticeKind kind) {
    spec::QueuePairNotice unit;
    unit.set_queue_pair_number(number);
    unit.set_underlying_function(function);
    unit.set_kind(kind);
    return unit;
  }
  struct Forgotten {
    uint64_t clock = 0;
    uint32_t table = 0;
    uint32_t index = 0;
  };

  Random random_;
  Place place_;
  uint64_t clocks_;
  DescriptorSurroundings surroundings_;
  ReceiveHostMemory memory_;
  DescriptorHost host_;
  Vdescriptor_fetch rtl_;
  std::vector<std::unique_ptr<DescriptorModel>> models_;
  std::array<QueuePair, contexts> pairs_;
  std::array<WorkPlace, contexts> places_;
  std::array<SharedQueue, shared_queues> shared_;
  std::optional<Command> command_;
  std::pair<unsigned, Doorbell> offered_;
  std::deque<std::pair<unsigned, Doorbell>> doorbells_;
  std::deque<spec::EventUnit> expected_events_;
  std::deque<std::pair<uint32_t, unsigned>> expected_fails_;
  std::vector<uint32_t> looked_at_;
  std::vector<Forgotten> forgotten_tables_;
  std::optional<uint32_t> asked_;
  std::optional<uint32_t> failing_;
  unsigned failing_function_ = 0;
  uint32_t gone_number_ = 0x123456;
  uint32_t fails_again_ = 0;
  uint64_t worked_at_ = 0;
  uint64_t answer_at_ = 0;
  bool is_stream_ = false;
  bool is_worked_expected_unknown_ = false;
  uint32_t take_ = 100, busy_ = 20, errors_ = 2000;
  uint64_t faults_ = 0, faults_before_ = 0;
  uint64_t questions_ = 0, taken_ = 0, none_ = 0, taken_shared_ = 0, waited_ = 0, taken_after_wait_ = 0,
           failed_ = 0, shared_errors_ = 0, limits_ = 0, looks_ = 0, stale_looks_ = 0, discarded_ = 0,
           doorbells_rung_ = 0, put_off_ = 0, again_ = 0, rings_ = 0, told_ = 0, unknown_ = 0, destroyed_ = 0,
           resized_ = 0, destroyed_shared_ = 0, bad_objects_ = 0, bad_states_ = 0, wrapped_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
