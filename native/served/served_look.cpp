#include "served/served_look.h"

#include "served/served_connection.h"

#include <optional>
#include <poll.h>

namespace fpga_verbs::served {

namespace {

using Clock = std::chrono::steady_clock;
using State = ServedFacts::State;

// One server that is asked.
struct Look {
  std::optional<ServedConnection> connection; // while an answer is due
  ServedFacts facts;
};

Look ask(const std::string& path) {
  Look look;
  std::string failure;
  switch (ServedConnection::make(path, look.connection, failure)) {
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
    break;
  }
  return look;
}

void hear(Look& look) {
  link::Descriptor none;
  const std::optional<Reply> reply = look.connection->take_reply(none);
  look.facts = reply ? ServedFacts{State::serving, reply->functions, reply->first_function, reply->value}
                     : ServedFacts{};
  look.connection.reset();
}

} // namespace

std::vector<ServedFacts> look_at_served(std::span<const std::string> paths,
                                        std::chrono::milliseconds patience) {
  const Clock::time_point given_up = Clock::now() + patience;
  std::vector<Look> looks;
  for (const std::string& path : paths)
    looks.push_back(ask(path));
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
    if (due.empty() || left.count() <= 0)
      break;
    if (poll(polled.data(), polled.size(), static_cast<int>(left.count())) <= 0)
      continue; // a signal, or the end of patience
    for (size_t i = 0; i < due.size(); ++i)
      if (polled[i].revents != 0)
        hear(*due[i]);
  }
  std::vector<ServedFacts> facts;
  for (const Look& look : looks)
    facts.push_back(look.facts);
  return facts;
}

} // namespace fpga_verbs::served
