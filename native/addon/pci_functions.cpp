#include "addon/pci_functions.h"

#include "addon/arguments.h"
#include "addon/board_function.h"
#include "pci/command_store.h"
#include "pci/sysfs_function.h"
#include "pci/vfio_function.h"

#include <string>
#include <utility>

namespace fpga_verbs::addon {

namespace {

constexpr uint64_t most_functions = 256;

std::string required_text(Fields& fields, Napi::Env env, const char* name) {
  fields.required(env, name);
  std::string text;
  fields.read(name, text);
  return text;
}

uint64_t required_number(Fields& fields, Napi::Env env, const char* name, uint64_t maximum) {
  return whole_number(fields.required(env, name), name, maximum);
}

// An open function, or an Error with errno.
template <class Function>
Napi::Value opened(Napi::Env env, std::shared_ptr<Function> function, const std::string& failure, int error) {
  if (function != nullptr)
    return BoardFunction::make(env, std::move(function));
  const Napi::Error thrown = Napi::Error::New(env, failure);
  thrown.Value().Set("errno", Napi::Number::New(env, error));
  throw thrown;
}

pci::SysfsRange sysfs_range(const Napi::Value& value) {
  constexpr uint64_t page = 4096;
  const Napi::Env env = value.Env();
  Fields fields(value, "range");
  pci::SysfsRange range;
  range.path = required_text(fields, env, "path");
  range.bar = bar_number(fields.required(env, "bar"));
  range.offset = bar_offset(fields.required(env, "offset"), page);
  range.bytes = bar_offset(fields.required(env, "bytes"), page);
  bool write_combining = false;
  fields.read("writeCombining", write_combining);
  fields.refuse_unknown();
  if (write_combining)
    range.mapping = board::CommandMapping::write_combining;
  return range;
}

Napi::Value open_sysfs_function(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Fields fields(info[0], "setup of a sysfs function");
  pci::SysfsFunctionSetup setup;
  setup.configuration_path = required_text(fields, env, "configurationPath");
  setup.underlying_function =
      static_cast<unsigned>(required_number(fields, env, "underlyingFunction", most_functions));
  fields.read("resetPath", setup.reset_path);
  const Napi::Value ranges = fields.required(env, "ranges");
  if (!ranges.IsArray())
    throw Napi::TypeError::New(env, "ranges must be an array");
  const auto list = ranges.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i)
    setup.ranges.push_back(sysfs_range(list.Get(i)));
  fields.refuse_unknown();
  std::string failure;
  int error = 0;
  auto function = pci::SysfsFunction::open(setup, failure, error);
  return opened(env, std::move(function), failure, error);
}

Napi::Value open_vfio_function(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr uint64_t widest = 64;
  Fields fields(info[0], "setup of a VFIO function");
  pci::VfioFunctionSetup setup;
  fields.read("iommuPath", setup.iommu_path);
  fields.read("devicePath", setup.device_path);
  setup.container_path = required_text(fields, env, "containerPath");
  setup.group_path = required_text(fields, env, "groupPath");
  setup.address = required_text(fields, env, "address");
  fields.read("addressBits", setup.address_bits, widest);
  setup.underlying_function =
      static_cast<unsigned>(required_number(fields, env, "underlyingFunction", most_functions));
  fields.refuse_unknown();
  std::string failure;
  int error = 0;
  auto function = pci::VfioFunction::open(setup, failure, error);
  return opened(env, std::move(function), failure, error);
}

Napi::Value command_stores(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Array names = Napi::Array::New(env);
  for (const pci::CommandStore& store : pci::command_stores())
    names.Set(names.Length(), Napi::String::New(env, store.name));
  return names;
}

} // namespace

void define_pci_functions(Napi::Env env, Napi::Object exports) {
  exports.Set("openSysfsFunction", Napi::Function::New<open_sysfs_function>(env, "openSysfsFunction"));
  exports.Set("openVfioFunction", Napi::Function::New<open_vfio_function>(env, "openVfioFunction"));
  exports.Set("commandStores", Napi::Function::New<command_stores>(env, "commandStores"));
}

} // namespace fpga_verbs::addon
