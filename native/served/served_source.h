#pragma once

#include "board/observer_view.h"

#include <memory>
#include <optional>

namespace fpga_verbs::board {
class EmulatedFunction;
}

namespace fpga_verbs::served {

// The source that a server serves: functions to open, or only their observation. Used by the server's thread.
class ServedSource {
public:
  virtual ~ServedSource() = default;

  virtual unsigned functions() const = 0;

  // Null: its functions cannot be opened.
  virtual std::shared_ptr<board::EmulatedFunction> open(unsigned /*underlying_function*/) { return nullptr; }

  // Null: this function is not observed here.
  virtual std::unique_ptr<board::ObserverView> observe(unsigned underlying_function) = 0;
  // The function whose observers see all that there is to see here.
  virtual unsigned first_observed() const { return 0; }

  // Lets the device work, and takes what observers watch. False: there was nothing to do.
  virtual bool advance() = 0;
  // The device is gone: nothing is served any more.
  virtual bool is_gone() const { return false; }
  // Milliseconds that the server may sleep before it calls advance() again; -1: until a client has work.
  virtual int sleep_limit() const { return -1; }
};

} // namespace fpga_verbs::served
