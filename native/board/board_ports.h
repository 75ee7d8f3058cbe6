#pragma once

#include "board/board_fabric.h"
#include "hca/port/port.h"
#include "spec/enums.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace fpga_verbs::board {

// The fabric or links that the ports of a board are plugged into.
struct BoardPortsOptions {
  std::string fabric; // its name; empty: none
  std::string link;   // shm:NAME, host:NAME, udp:ADDRESS or ethernet:PATH,PATH, of the first port instead;
                      // empty: none
  std::optional<unsigned> board_number; // none: the lowest that is free in the fabric
  unsigned ports = 1;
  unsigned underlying_functions = 1; // with addresses of their own at each port
  spec::LinkLayer link_layer = spec::LinkLayer::ethernet;
  bool operator==(const BoardPortsOptions&) const = default;
};

// The ports of a board in a fabric or at the end of a separate link, and the board number, which determines
// their addresses.
class BoardPorts {
public:
  // Null: `failure` gives the reason and what would be right.
  static std::unique_ptr<BoardPorts> make(const BoardPortsOptions& options, std::string& failure);
  ~BoardPorts();
  BoardPorts(const BoardPorts&) = delete;
  BoardPorts& operator=(const BoardPorts&) = delete;

  unsigned board_number() const { return board_number_; }
  const std::array<link::Link*, spec::ports>& links() const { return links_; }
  const std::shared_ptr<StepGroup>& steps() const { return steps_; }

  // Notifies `receiver` of link activity until detach().
  void attach(link::LinkReceiver& receiver);
  void detach();

  // Whether a packet has arrived about which the receiver may not have been notified yet.
  bool has_arrived() { return link_ != nullptr && link_->has_arrived(); }

private:
  BoardPorts() = default;
  bool join_fabric(const BoardPortsOptions& options, std::string& failure);
  bool make_link(const BoardPortsOptions& options, std::string& failure);

  std::shared_ptr<BoardFabric> fabric_; // null: none
  std::shared_ptr<StepGroup> steps_;
  unsigned board_number_ = 0;
  std::array<link::FabricPort*, spec::ports> ports_{};
  std::unique_ptr<link::Link> link_; // null: none of its own
  std::array<link::Link*, spec::ports> links_{};
};

} // namespace fpga_verbs::board
