#include "addon/open_function.h"

namespace fpga_verbs::addon {

void OpenFunction::close() {
  if (function != nullptr)
    function->stop_dma();
  while (!children.empty()) {
    Child* const child = *children.begin();
    children.erase(child);
    child->close();
  }
  observation.reset();
  function.reset(); // takes back what is mapped
  foreign.clear();
}

} // namespace fpga_verbs::addon
