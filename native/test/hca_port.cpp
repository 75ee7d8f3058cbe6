#include "test/hca_port.h"

#include "hca/base/check_parameters.h"
#include "test/named_links.h"
#include "test/parameters_of.h"

#include <string>

namespace fpga_verbs::test {

Napi::Function HcaPort::define(Napi::Env env) {
  return DefineClass(env, "HcaPort",
                     with_host_methods({
                         InstanceMethod("write", &HcaPort::write),
                         InstanceMethod("read", &HcaPort::read),
                         InstanceMethod("step", &HcaPort::step),
                         InstanceMethod("canAcceptWrite", &HcaPort::can_accept_write),
                         InstanceMethod("nextDeadline", &HcaPort::next_deadline),
                         InstanceMethod("reset", &HcaPort::reset),
                         InstanceMethod("resetFunction", &HcaPort::reset_function),
                         InstanceMethod("verify", &HcaPort::verify),
                         InstanceMethod("push", &HcaPort::push),
                         InstanceMethod("pop", &HcaPort::pop),
                         InstanceMethod("credits", &HcaPort::credits),
                         InstanceMethod("stepBlock", &HcaPort::step_block),
                         InstanceMethod("isAwake", &HcaPort::is_awake),
                         InstanceMethod("report", &HcaPort::report),
                     }));
}

HcaPort::HcaPort(const Napi::CallbackInfo& info)
    : HostedPort<HcaPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())) {
  const std::string refused = hca::check_parameters(parameters_);
  if (!refused.empty())
    throw Napi::RangeError::New(info.Env(), refused);
  hca_.emplace(parameters_, host_, clock_, attachments_);
}

void HcaPort::write(const Napi::CallbackInfo& info) {
  const auto bytes = info[3].As<Napi::Uint8Array>();
  hca::BarWrite write;
  write.region = static_cast<spec::RegionType>(number(info, 0));
  write.page = static_cast<uint16_t>(number(info, 1));
  write.offset = number(info, 2);
  write.length = static_cast<uint32_t>(bytes.ByteLength());
  write.byte_enables = info[4].IsBigInt()   ? big_number(info[4])
                       : write.length == 64 ? ~uint64_t{0}
                                            : (uint64_t{1} << write.length) - 1;
  write.data = bytes.Data();
  hca_->write(write);
}

Napi::Value HcaPort::read(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), hca_->read(static_cast<spec::RegionType>(number(info, 0)),
                                                  number(info, 1), number(info, 2)));
}

Napi::Value HcaPort::step(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), hca_->run(1) != 0);
}

Napi::Value HcaPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), hca_->can_accept_write());
}

Napi::Value HcaPort::next_deadline(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), hca_->next_deadline());
}

void HcaPort::reset(const Napi::CallbackInfo&) { hca_->reset(); }

void HcaPort::reset_function(const Napi::CallbackInfo& info) { hca_->reset_function(number(info, 0)); }

Napi::Value HcaPort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = hca_->verify();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

void HcaPort::push(const Napi::CallbackInfo& info) { push_unit(info, hca_->blocks()); }

Napi::Value HcaPort::pop(const Napi::CallbackInfo& info) { return pop_unit(info, hca_->blocks()); }

Napi::Value HcaPort::credits(const Napi::CallbackInfo& info) { return link_credits(info, hca_->blocks()); }

// Lets a block step, awake or not. Returns false if it has nothing to do and sleeps until it is woken.
Napi::Value HcaPort::step_block(const Napi::CallbackInfo& info) {
  const NamedBlock named = named_block(info, hca_->blocks());
  hca_->blocks().ready.sleep(named.number);
  return Napi::Boolean::New(info.Env(), named.block.step());
}

Napi::Value HcaPort::is_awake(const Napi::CallbackInfo& info) {
  const NamedBlock named = named_block(info, hca_->blocks());
  return Napi::Boolean::New(info.Env(), hca_->blocks().ready.is_awake(named.number));
}

// As a block does it outside of a link.
void HcaPort::report(const Napi::CallbackInfo& info) {
  hca_->blocks().events.report(format_of<spec::EventUnit>(info[0]));
}

} // namespace fpga_verbs::test
