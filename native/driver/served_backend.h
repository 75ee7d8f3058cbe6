#pragma once

#include "driver/backend.h"

#include <memory>
#include <string>

namespace fpga_verbs::driver {

// Opens a function of a board that another process holds. `place`: PATH[/UF]; without a number, any function
// that is free. Null: as open_backend().
std::unique_ptr<Backend> open_served(const std::string& place, int& error, std::string& failure);

} // namespace fpga_verbs::driver
