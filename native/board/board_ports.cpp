#include "board/board_ports.h"

#include "link/shared_memory_link.h"

#include <string_view>

namespace fpga_verbs::board {

std::unique_ptr<BoardPorts> BoardPorts::make(const BoardPortsOptions& options, std::string& failure) {
  std::unique_ptr<BoardPorts> made(new BoardPorts);
  if (!options.fabric.empty() && !options.link.empty()) {
    failure = "a board has a fabric or a link, not both";
    return nullptr;
  }
  if (!options.fabric.empty())
    return made->join_fabric(options, failure) ? std::move(made) : nullptr;
  made->steps_ = std::make_shared<StepGroup>();
  made->board_number_ = options.board_number.value_or(0);
  if (!options.link.empty() && !made->make_link(options, failure))
    return nullptr;
  return made;
}

bool BoardPorts::join_fabric(const BoardPortsOptions& options, std::string& failure) {
  std::shared_ptr<BoardFabric> fabric = BoardFabric::share(options.fabric);
  failure = "fabric " + options.fabric + " has no place for the board: its boardNumber is in use";
  const std::optional<unsigned> number = fabric->take_number(options.board_number);
  if (!number)
    return false;
  fabric_ = std::move(fabric);
  steps_ = fabric_->steps();
  board_number_ = *number;
  const link::Address first = link::first_address(options.link_layer, *number);
  for (unsigned port = 0; port < options.ports; ++port) {
    ports_[port] = fabric_->ports().take(options.link_layer, first + port * link::addresses_per_port);
    if (ports_[port] == nullptr)
      return false;
    links_[port] = ports_[port];
  }
  failure.clear();
  return true;
}

bool BoardPorts::make_link(const BoardPortsOptions& options, std::string& failure) {
  constexpr std::string_view shared_memory = "shm:";
  if (!options.link.starts_with(shared_memory) || options.link.size() == shared_memory.size()) {
    failure = "link " + options.link + " is none; links are shm:NAME";
    return false;
  }
  auto made =
      link::SharedMemoryLink::make(options.link.substr(shared_memory.size()), options.board_number, failure);
  if (made == nullptr) {
    failure = "link " + options.link + ": " + failure;
    return false;
  }
  board_number_ = made->board_number();
  link_ = std::move(made);
  links_[0] = link_.get();
  return true;
}

BoardPorts::~BoardPorts() {
  if (fabric_ == nullptr)
    return;
  for (link::FabricPort* const port : ports_)
    if (port != nullptr)
      fabric_->ports().give_back(*port);
  fabric_->give_back_number(board_number_);
}

void BoardPorts::attach(link::LinkReceiver& receiver) {
  for (link::Link* const link : links_)
    if (link != nullptr)
      link->attach(receiver);
}

void BoardPorts::detach() {
  for (link::Link* const link : links_)
    if (link != nullptr)
      link->detach();
}

} // namespace fpga_verbs::board
