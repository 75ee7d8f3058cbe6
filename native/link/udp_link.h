#pragma once

#include "link/descriptor.h"
#include "link/link.h"
#include "link/udp_packet.h"
#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::link {

// RoCEv2 over a UDP socket on port 4791 of one IPv4 address: for boards of other processes and machines, and
// for other implementations; no rights are needed. It loses packets like any network. The kernel makes the
// headers anew, so that packets have to be built with the socket's own address and port: first_address() and
// udp_source_port().
class UdpLink final : public Link {
public:
  // Null: `failure` says why, and what would be right.
  static std::unique_ptr<UdpLink> make(const std::string& address, std::string& failure);
  ~UdpLink() override;

  void attach(LinkReceiver& receiver) override;
  void detach() override;
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  void flush() override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override;
  bool has_arrived() override;
  std::optional<Address> first_address() const override { return mac_of(own_.address); }
  uint16_t udp_source_port() const override { return own_.port; }

private:
  static constexpr size_t batch = 32;   // packets of a system call
  static constexpr size_t buffers = 64; // for what has arrived

  // The frame, with its UDP payload where it was received.
  struct Buffer {
    size_t length = 0;
    std::array<uint8_t, spec::packet_buffer_bytes> bytes;
  };
  struct Leaving {
    UdpAddress to;
    std::vector<uint8_t> payload;
  };

  UdpLink(Descriptor socket, const UdpAddress& own);
  void receive();
  void accept(size_t buffer, const UdpAddress& from, size_t bytes);
  void run();
  void arm();

  Descriptor socket_;
  UdpAddress own_;
  Descriptor poll_; // of the thread: the socket, once each time it is armed, and the end
  Descriptor stop_event_;
  std::mutex mutex_; // of the receiver
  LinkReceiver* receiver_ = nullptr;
  std::atomic<bool> armed_{true};
  std::atomic<bool> readable_{false};
  std::unique_ptr<Buffer[]> buffers_;
  std::vector<size_t> free_;
  std::array<std::deque<size_t>, lanes> arrived_;
  std::array<Leaving, batch> leaving_;
  size_t leaving_count_ = 0;
  std::thread thread_;
};

} // namespace fpga_verbs::link
