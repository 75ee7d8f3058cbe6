#pragma once

#include "hca/base/hca_links.h"
#include "hca/memory/context_memory.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/packet_receiver.h"
#include "link/link.h"
#include "test/collect_buffer_port.h"
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
    const link::SendResult result = results[static_cast<size_t>(lane)];
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
  std::vector<Sent> sent;
  std::array<std::deque<Bytes>, link::lanes> arrived;
};

// port and packet_receiver for vitest, with the links at port 1, if it is attached, and behind both blocks as
// the test's.
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
  TestEvents events_;
  hca::ContextMemory context_memory_;
  hca::QueuePairStateCache queue_pairs_;
  hca::PacketMemory packet_memory_;
  hca::PortAttributes attributes_;
  TestLink link_;
  hca::PortAttachments attachments_;
  hca::ReadyBlocks ready_;
  hca::HcaLinks links_;
  hca::DataLink<spec::PacketUnit>& requests_built_ = links_.requests_built;
  hca::DataLink<spec::PacketUnit>& responses_built_ = links_.responses_built;
  hca::DataLink<spec::PacketUnit>& packets_arrived_ = links_.packets_arrived;
  hca::DataLink<spec::PacketUnit>& responses_arrived_ = links_.responses_arrived;
  hca::DataLink<spec::PacketUnit>& requests_arrived_ = links_.requests_arrived;
  hca::MulticastGroups groups_;
  hca::Port port_;
  hca::PacketReceiver packet_receiver_;
  std::vector<Tapped> tapped_;
};

} // namespace fpga_verbs::test
