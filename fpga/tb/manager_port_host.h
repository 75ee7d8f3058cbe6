#pragma once

#include "bench.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::bench {

// The resource manager at the registers: one write at a time, whose address and data arrive in any order, and
// one read, which may arrive during a write.
template <class Rtl> class ManagerHost {
public:
  struct Access {
    uint32_t address = 0;
    uint32_t value = 0; // of a read: valid with the answer
    uint32_t strobes = 15;
    uint32_t response = 0;
    uint64_t begun = 0;
  };

  explicit ManagerHost(Random& random) : random_(random) {}

  uint32_t ready = 100; // probability per clock to continue, in percent

  bool writes() const { return write_.has_value(); }
  bool reads() const { return read_.has_value(); }
  // The RTL has accepted the write and not answered it.
  bool is_write_taken() const { return write_ && !offers_address_ && !offers_data_; }

  void begin_write(Rtl& rtl, const Access& access) {
    write_ = access;
    offers_address_ = offers_data_ = true;
    rtl.register_awaddr = access.address;
    rtl.register_wdata = access.value;
    rtl.register_wstrb = access.strobes;
  }
  void begin_read(Rtl& rtl, const Access& access) {
    read_ = access;
    offers_read_ = true;
    rtl.register_araddr = access.address;
  }

  // Before the rising edge. An offer stays until it is accepted.
  void offer(Rtl& rtl) {
    rtl.register_awvalid = offers_address_ && (rtl.register_awvalid || random_.percent(ready));
    rtl.register_wvalid = offers_data_ && (rtl.register_wvalid || random_.percent(ready));
    rtl.register_arvalid = offers_read_ && (rtl.register_arvalid || random_.percent(ready));
    rtl.register_bready = random_.percent(ready);
    rtl.register_rready = random_.percent(ready);
  }
  void take(const Rtl& rtl) {
    offers_address_ = offers_address_ && !(rtl.register_awvalid && rtl.register_awready);
    offers_data_ = offers_data_ && !(rtl.register_wvalid && rtl.register_wready);
    offers_read_ = offers_read_ && !(rtl.register_arvalid && rtl.register_arready);
  }

  // The write or read that is answered in this clock.
  std::optional<Access> take_written(const Place& place, const Rtl& rtl) {
    if (!rtl.register_bvalid || !rtl.register_bready)
      return std::nullopt;
    if (!is_write_taken())
      differ(place, "writes under way", 0, 1);
    Access access = *write_;
    access.response = rtl.register_bresp;
    write_.reset();
    return access;
  }
  std::optional<Access> take_read(const Place& place, const Rtl& rtl) {
    if (!rtl.register_rvalid || !rtl.register_rready)
      return std::nullopt;
    if (!read_ || offers_read_)
      differ(place, "reads under way", 0, 1);
    Access access = *read_;
    access.value = rtl.register_rdata;
    access.response = rtl.register_rresp;
    read_.reset();
    return access;
  }

private:
  Random& random_;
  std::optional<Access> write_;
  std::optional<Access> read_;
  bool offers_address_ = false;
  bool offers_data_ = false;
  bool offers_read_ = false;
};

} // namespace fpga_verbs::bench
