#include "driver/backend.h"

#include "board/emulated_function.h"
#include "driver/device_string.h"
#include "driver/served_backend.h"
#include "driver/vfio_backend.h"

#include <cerrno>
#include <cstring>

namespace fpga_verbs::driver {

namespace {

class EmulatedBackend final : public Backend {
public:
  EmulatedBackend(std::shared_ptr<board::EmulatedBoard> board, unsigned underlying_function)
      : board_(std::move(board)), underlying_function_(underlying_function) {}

  std::shared_ptr<board::BoardFunction> open(std::string& failure) override {
    std::shared_ptr<board::BoardFunction> function = board_->open(underlying_function_);
    if (function == nullptr)
      failure = "the board has no underlying function " + std::to_string(underlying_function_);
    return function;
  }
  bool advance() override { return board_->advance(); }

private:
  std::shared_ptr<board::EmulatedBoard> board_;
  unsigned underlying_function_;
};

std::unique_ptr<Backend> open_emulated(const std::string& device, int& error, std::string& failure) {
  EmulatedDevice parsed;
  error = EINVAL;
  if (!parse_emulated(device, parsed, failure))
    return nullptr;
  error = ENODEV;
  std::shared_ptr<board::EmulatedBoard> made =
      parsed.name.empty() ? board::make_hca_board(parsed.options, failure)
                          : board::share_hca_board(parsed.name, parsed.options, failure);
  if (made == nullptr) {
    failure = "device \"" + device + "\": " + failure;
    return nullptr;
  }
  if (!parsed.capture.empty()) {
    error = made->start_capture(parsed.capture);
    if (error != 0) {
      failure = "capture " + parsed.capture + ": " + std::strerror(error);
      return nullptr;
    }
  }
  error = 0;
  return std::make_unique<EmulatedBackend>(std::move(made), parsed.underlying_function);
}

} // namespace

std::unique_ptr<Backend> open_backend(const std::string& device, int& error, std::string& failure) {
  if (is_emulated(device))
    return open_emulated(device, error, failure);
  const size_t colon = device.find(':');
  const std::string scheme = device.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : device.substr(colon + 1);
  std::unique_ptr<Backend> backend;
  if (scheme == "vfio") {
    backend = open_vfio(rest, error, failure);
  } else if (scheme == "serve") {
    backend = open_served(rest, error, failure);
  } else {
    error = ENOTSUP;
    failure = scheme == "pci"
                  ? "pci: reaches memory of its own alone, and programs of libibverbs register any; "
                    "expected: vfio:" +
                        rest
                  : "programs of libibverbs do not run on such a device; expected: emu:[UF]?link=…, "
                    "serve:PATH/UF or vfio:DDDD:BB:DD.F";
  }
  if (backend == nullptr)
    failure = "device \"" + device + "\": " + failure;
  return backend;
}

} // namespace fpga_verbs::driver
