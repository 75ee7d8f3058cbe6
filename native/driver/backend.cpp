#include "driver/backend.h"

#include "board/emulated_function.h"
#include "driver/device_string.h"

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
  error = ENOTSUP;
  failure = "device \"" + device +
            "\": programs of libibverbs run on emulated boards so far; expected: emu:[UF]?link=…";
  return nullptr;
}

} // namespace fpga_verbs::driver
