#include "board/board_ports.h"

#include "link/ethernet_link.h"
#include "link/host_fabric_link.h"
#include "link/shared_memory_link.h"
#include "link/udp_link.h"

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
  const size_t colon = options.link.find(':');
  const std::string kind = options.link.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : options.link.substr(colon + 1);
  if (kind == "shm" && !name.empty()) {
    if (auto made = link::SharedMemoryLink::make(name, options.board_number, failure)) {
      board_number_ = made->board_number();
      link_ = std::move(made);
    }
  } else if (kind == "host" && !name.empty()) {
    if (auto made = link::HostFabricLink::make(name, options.link_layer, options.board_number, failure)) {
      board_number_ = made->board_number();
      link_ = std::move(made);
    }
  } else if (kind == "udp" && options.link_layer == spec::LinkLayer::ethernet) {
    link_ = link::UdpLink::make(name, failure);
  } else if (kind == "ethernet" && options.link_layer == spec::LinkLayer::ethernet) {
    const link::EthernetLink::Addresses own{.first = link::first_address(options.link_layer, board_number_),
                                            .count = options.underlying_functions};
    link_ = link::EthernetLink::make(name, own, failure);
  } else {
    failure = "links are shm:NAME, host:NAME, and on Ethernet udp:ADDRESS and "
              "ethernet:PATH,PATH[,vlan=NUMBER][,gateway=ADDRESS/BITS]";
  }
  if (link_ == nullptr)
    failure = "link " + options.link + ": " + failure;
  links_[0] = link_.get();
  return link_ != nullptr;
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
