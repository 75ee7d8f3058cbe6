#pragma once

#include "board/board.h"
#include "served/shared_observation.h"

#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>

namespace fpga_verbs::addon {

// Something that was made through an open function and goes with it.
class Child {
public:
  virtual ~Child() = default;
  virtual void close() = 0; // once or more
};

// An open function, shared by its JavaScript object and those made through it.
struct OpenFunction {
  std::shared_ptr<board::BoardFunction> function; // null: closed
  std::set<Child*> children;
  std::shared_ptr<served::SharedObservation> observation; // through the device, for other processes
  std::map<uint64_t, Napi::ObjectReference> foreign; // by DMA address: memory that is held while it is mapped

  void close();
};

} // namespace fpga_verbs::addon
