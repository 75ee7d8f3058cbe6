#include "served/served_look.h"

#include "served/served_connection.h"

#include <algorithm>
#include <optional>
#include <poll.h>

namespace fpga_verbs::served {

namespace {

using Clock = std::chrono::steady_clock;
using State = ServedFacts::State;

// One server to query.
struct Look {
  const std::string& path;
  std::optional<ServedConnection> connection{}; // while an answer is due
  ServedFacts facts{};

  bool is_busy() const { return facts.state == State::busy; }
};

void ask(Look& look) {
  std::string failure;
  switch (ServedConnection::make(look.path, look.connection, failure)) {
  case Reached::reached:
    look.facts.state = State::silent;
    if (!look.connection->say({.kind = RequestKind::look}))
      look.connection.reset();
    break;
  case Reached::busy:
    look.facts.state = State::busy;
    break;
  case Reached::absent:
  case Reached::failed:
    look.facts = {};
    break;
  }
}

void read_answer(Look& look) {
  link::Descriptor none;
  const std::optional<Reply> reply = look.connection->take_reply(none);
  look.facts = reply ? ServedFacts{State::serving, reply->functions, reply->first_function, reply->value}
                     : ServedFacts{};
  look.connection.reset();
}

} // namespace

std::vector<ServedFacts> look_at_served(std::span<const std::string> paths,
                                        std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds between_attempts{5}; // nothing tells of room in a backlog
  const Clock::time_point given_up = Clock::now() + timeout;
  std::vector<Look> looks;
  for (const std::string& path : paths)
    ask(looks.emplace_back(Look{.path = path}));
  for (;;) {
    std::vector<pollfd> polled;
    std::vector<Look*> due;
    for (Look& look : looks) {
      if (!look.connection)
        continue;
      polled.push_back({look.connection->socket(), POLLIN, 0});
      due.push_back(&look);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(given_up - Clock::now());
    const bool any_busy = std::ranges::any_of(looks, &Look::is_busy);
    if ((due.empty() && !any_busy) || left.count() <= 0)
      break;
    const auto wait = any_busy ? std::min(left, between_attempts) : left;
    if (poll(polled.data(), polled.size(), static_cast<int>(wait.count())) > 0) {
      for (size_t i = 0; i < due.size(); ++i)
        if (polled[i].revents != 0)
          read_answer(*due[i]);
    }
    for (Look& look : looks)
      if (look.is_busy())
        ask(look);
  }
  std::vector<ServedFacts> facts;
  for (const Look& look : looks)
    facts.push_back(look.facts);
  return facts;
}

} // namespace fpga_verbs::served
