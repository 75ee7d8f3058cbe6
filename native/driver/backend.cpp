#include "driver/backend.h"

#include "board/emulated_function.h"
#include "driver/device_string.h"
#include "driver/pci_backend.h"
#include "driver/rtl_boards.h"
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

std::shared_ptr<board::EmulatedBoard>
make_board(const std::string& name, const board::HcaBoardOptions& options, std::string& failure) {
  return name.empty() ? board::make_hca_board(options, failure)
                      : board::share_hca_board(name, options, failure);
}

// `rtl`: blocks are in RTL; null: all are the model's.
std::unique_ptr<Backend> open_emulated(const std::string& device, const RtlBoards* rtl, int& error,
                                       std::string& failure) {
  EmulatedDevice parsed;
  if (rtl != nullptr)
    parsed.options.hca = rtl->usual;
  error = EINVAL;
  if (!parse_emulated(device, parsed, failure))
    return nullptr;
  error = ENODEV;
  std::shared_ptr<board::EmulatedBoard> made =
      (rtl == nullptr ? make_board : rtl->make)(parsed.name, parsed.options, failure);
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
  const size_t colon = device.find(':');
  const std::string scheme = device.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : device.substr(colon + 1);
  if (scheme == "emu")
    return open_emulated(device, nullptr, error, failure);
  if (scheme == "rtl" && rtl_boards() != nullptr)
    return open_emulated(device, rtl_boards(), error, failure);
  std::unique_ptr<Backend> backend;
  if (scheme == "vfio") {
    backend = open_vfio(rest, error, failure);
  } else if (scheme == "pci") {
    backend = open_pci(rest, error, failure);
  } else if (scheme == "serve") {
    backend = open_served(rest, error, failure);
  } else {
    error = ENOTSUP;
    if (scheme == "rtl")
      failure = "this library has no blocks in RTL; expected: libibverbs.so.1 of the folder verbs_rtl, which "
                "hca run "
                "takes and npm run fpga:addon builds";
    else
      failure =
          "programs of libibverbs do not run on such a device; expected: emu:[UF]?link=…, rtl:[UF]?link=…, "
          "serve:PATH/UF, vfio:DDDD:BB:DD.F or pci:DDDD:BB:DD.F";
  }
  if (backend == nullptr)
    failure = "device \"" + device + "\": " + failure;
  return backend;
}

} // namespace fpga_verbs::driver
