#pragma once

#include "hca/hca_blocks.h"
#include "link/link.h"
#include "test/hosted_port.h"

#include <napi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace fpga_verbs::test {

// A link whose other end is the test.
class TestLink final : public link::Link {
public:
  using Bytes = std::vector<uint8_t>;

  void attach(link::LinkReceiver&) override {}
  void detach() override {}
  link::SendResult send(link::Lane lane, std::span<const uint8_t> packet) override {
    link::SendResult result = results[static_cast<size_t>(lane)];
    if (result == link::SendResult::sent && room == 0)
      result = link::SendResult::paused;
    if (result == link::SendResult::sent)
      --room;
    if (result == link::SendResult::sent)
      sent.push_back({lane, {packet.begin(), packet.end()}});
    return result;
  }
  std::span<const uint8_t> front(link::Lane lane) override {
    const auto& inbox = arrived[static_cast<size_t>(lane)];
    return inbox.empty() ? std::span<const uint8_t>{} : inbox.front();
  }
  void pop(link::Lane lane) override { arrived[static_cast<size_t>(lane)].pop_front(); }

  struct Sent {
    link::Lane lane;
    Bytes bytes;
  };
  std::array<link::SendResult, link::lanes> results{}; // by lane
  size_t room = ~size_t{0};                            // packets that it accepts until it pauses
  std::vector<Sent> sent;
  std::array<std::deque<Bytes>, link::lanes> arrived;
};

// A device for tests of port and packet_receiver; the test is the link at port 1. The other blocks are not
// stepped: the test takes their inputs.
class WirePort final : public HostedPort<WirePort>, hca::PacketTap {
public:
  static Napi::Function define(Napi::Env env);
  explicit WirePort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<WirePort>;

  // port_attributes
  Napi::Value mac(const Napi::CallbackInfo& info);
  Napi::Value local_identifier(const Napi::CallbackInfo& info);
  Napi::Value gid(const Napi::CallbackInfo& info);
  void set_enabled(const Napi::CallbackInfo& info);
  void set_partition_key(const Napi::CallbackInfo& info);
  void set_discard_limit(const Napi::CallbackInfo& info);

  // queue_pair_state_cache
  Napi::Value create_queue_pair(const Napi::CallbackInfo& info);
  void quiesce(const Napi::CallbackInfo& info);
  Napi::Value pins(const Napi::CallbackInfo& info);

  // In and out
  Napi::Value build(const Napi::CallbackInfo& info);
  void arrive(const Napi::CallbackInfo& info);
  void set_link(const Napi::CallbackInfo& info);
  void set_paused(const Napi::CallbackInfo& info);
  void set_room(const Napi::CallbackInfo& info);
  void allow_trains(const Napi::CallbackInfo& info);
  Napi::Value take_sent(const Napi::CallbackInfo& info);
  Napi::Value take_arrived(const Napi::CallbackInfo& info);
  Napi::Value take_passed(const Napi::CallbackInfo& info);
  Napi::Value take_tapped(const Napi::CallbackInfo& info);

  Napi::Value step_port(const Napi::CallbackInfo& info);
  Napi::Value step_receiver(const Napi::CallbackInfo& info);
  Napi::Value is_awake(const Napi::CallbackInfo& info);
  Napi::Value next_deadline(const Napi::CallbackInfo& info);
  Napi::Value free_buffers(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value dropped(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  void packet(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
              const wire::PacketCause& cause) override;

  struct Tapped {
    hca::PacketDirection direction;
    unsigned port;
    TestLink::Bytes bytes;
  };

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestLink link_;
  hca::PortAttachments attachments_{.links = {&link_}, .tap = this};
  hca::HcaBlocks device_;
  std::vector<Tapped> tapped_;
};

} // namespace fpga_verbs::test
