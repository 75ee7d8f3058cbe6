#include "board/board_fabric.h"

#include <algorithm>
#include <map>

namespace fpga_verbs::board {

std::shared_ptr<BoardFabric> BoardFabric::share(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<BoardFabric>> fabrics;
  const std::scoped_lock lock(mutex);
  std::erase_if(fabrics, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<BoardFabric>& known = fabrics[name];
  std::shared_ptr<BoardFabric> fabric = known.lock();
  if (fabric == nullptr) {
    fabric = std::make_shared<BoardFabric>();
    known = fabric;
  }
  return fabric;
}

std::optional<unsigned> BoardFabric::take_number(std::optional<unsigned> wanted) {
  const std::scoped_lock lock(mutex_);
  const unsigned number =
      wanted ? *wanted
             : static_cast<unsigned>(std::ranges::find(numbers_used_, false) - numbers_used_.begin());
  if (number >= numbers_used_.size() || numbers_used_[number])
    return std::nullopt;
  numbers_used_[number] = true;
  return number;
}

void BoardFabric::give_back_number(unsigned number) {
  const std::scoped_lock lock(mutex_);
  numbers_used_[number] = false;
}

} // namespace fpga_verbs::board
