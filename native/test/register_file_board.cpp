#include "test/register_file_board.h"

#include "addon/addon_data.h"
#include "test/register_file_device.h"

namespace fpga_verbs::test {

void define_register_file_board(Napi::Env env, Napi::Object exports) {
  addon::define_board_classes(
      env, exports, [](const std::string&, const board::HcaBoardOptions& options, std::string& failure) {
        board::EmulatedBoardOptions board = options.board;
        board.underlying_functions = RegisterFileDevice::functions;
        return board::EmulatedBoard::make(
            board, [](const board::DeviceSlot& slot) { return std::make_unique<RegisterFileDevice>(slot); },
            failure);
      });
}

} // namespace fpga_verbs::test
