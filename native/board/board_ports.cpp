#include "board/board_ports.h"

namespace fpga_verbs::board {

std::unique_ptr<BoardPorts> BoardPorts::make(const BoardPortsOptions& options) {
  std::unique_ptr<BoardPorts> made(new BoardPorts);
  if (options.fabric.empty()) {
    made->steps_ = std::make_shared<StepGroup>();
    made->board_number_ = options.board_number.value_or(0);
    return made;
  }
  std::shared_ptr<BoardFabric> fabric = BoardFabric::share(options.fabric);
  const std::optional<unsigned> number = fabric->take_number(options.board_number);
  if (!number)
    return nullptr;
  made->fabric_ = std::move(fabric);
  made->steps_ = made->fabric_->steps();
  made->board_number_ = *number;
  const link::Address first = link::first_address(options.link_layer, *number);
  for (unsigned port = 0; port < options.ports; ++port) {
    made->ports_[port] =
        made->fabric_->ports().take(options.link_layer, first + port * link::addresses_per_port);
    if (made->ports_[port] == nullptr)
      return nullptr;
    made->links_[port] = made->ports_[port];
  }
  return made;
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
