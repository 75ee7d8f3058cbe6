#include "addon/interrupt.h"

#include "addon/addon_data.h"
#include "addon/arguments.h"

#include <sys/eventfd.h>
#include <utility>

namespace fpga_verbs::addon {

namespace {

constexpr const char* callback_name = "callback";

} // namespace

Napi::Function Interrupt::define(Napi::Env env) {
  return DefineClass(env, "Interrupt",
                     {
                         InstanceMethod<&Interrupt::ref>("ref"),
                         InstanceMethod<&Interrupt::unref>("unref"),
                         InstanceMethod<&Interrupt::close_method>("close"),
                     });
}

Napi::Value Interrupt::watch(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, unsigned vector,
                             Napi::Function callback) {
  const int event = owner->function->interrupt_event(vector);
  if (event < 0)
    throw Napi::RangeError::New(env, "vector is " + std::to_string(vector) + ", but the function has " +
                                         std::to_string(owner->function->facts().interrupt_vectors));
  const Napi::Object object = AddonData::of(env).interrupt.New({});
  Unwrap(object)->start(owner, event, callback);
  return object;
}

Napi::Value Interrupt::watch_removal(Napi::Env env, const std::shared_ptr<OpenFunction>& owner,
                                     Napi::Function callback) {
  const int event = owner->function->removal_event();
  if (event < 0)
    return env.Undefined();
  const Napi::Object object = AddonData::of(env).interrupt.New({});
  Interrupt& interrupt = *Unwrap(object);
  interrupt.start(owner, event, callback);
  interrupt.event_ = -1;
  return object;
}

Interrupt::Interrupt(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

Interrupt::~Interrupt() { close(); }

void Interrupt::start(const std::shared_ptr<OpenFunction>& owner, int event, Napi::Function callback) {
  poll_ = LoopHandle::make(
      Env(), uv_poll_type,
      [event](uv_loop_s* loop, uv_handle_s* handle) { return uv_poll_init(loop, handle, event); },
      [this](LoopHandle&) { close(); });
  if (poll_ == nullptr)
    throw Napi::Error::New(Env(), "the event loop does not take an eventfd");
  owner_ = owner;
  owner_->children.insert(this);
  event_ = event;
  Value().DefineProperty(Napi::PropertyDescriptor::Value(callback_name, callback));
  context_ = std::make_unique<Napi::AsyncContext>(Env(), "fpga-verbs:interrupt");
  uv_handle_set_data(poll_->get(), this);
  uv_poll_start(poll_->get(), uv_readable, [](uv_handle_s* readable, int, int) {
    static_cast<Interrupt*>(uv_handle_get_data(readable))->signalled();
  });
}

void Interrupt::signalled() {
  const Napi::HandleScope scope(Env());
  if (event_ < 0)
    return removed();
  eventfd_t count = 1;
  if (eventfd_read(event_, &count) == 0)
    call_back(Napi::Number::New(Env(), static_cast<double>(count)));
}

// Once: a removed device stays removed. Users learn of it before the function is given up.
void Interrupt::removed() {
  const std::shared_ptr<OpenFunction> owner = owner_;
  const char* const loss = owner->function->loss();
  call_back(loss == nullptr ? Env().Undefined() : Napi::Value(Napi::String::New(Env(), loss)));
  close();
  if (owner->function != nullptr) // not closed by the callback
    owner->function->give_up();
}

void Interrupt::call_back(const Napi::Value& value) {
  const Napi::Env env = Env();
  const Napi::Object self = Value();
  if (self.IsEmpty()) // collected as garbage, its callback with it; the finalizer is still to come
    return;
  try {
    self.Get(callback_name).As<Napi::Function>().MakeCallback(env.Global(), {value}, *context_);
  } catch (const Napi::Error& error) {
    napi_fatal_exception(env, error.Value()); // as any exception in a callback of the event loop
  }
}

void Interrupt::close() {
  if (poll_ == nullptr)
    return;
  std::exchange(poll_, nullptr)->close();
  owner_->children.erase(this);
  context_.reset();
  if (std::exchange(referenced_, false))
    Unref();
}

void Interrupt::ref(const Napi::CallbackInfo& info) {
  if (poll_ == nullptr)
    throw closed_error(info.Env(), "the interrupt");
  uv_ref(poll_->get());
  if (!std::exchange(referenced_, true))
    Ref();
}

void Interrupt::unref(const Napi::CallbackInfo& info) {
  if (poll_ == nullptr)
    throw closed_error(info.Env(), "the interrupt");
  uv_unref(poll_->get());
  if (std::exchange(referenced_, false))
    Unref();
}

void Interrupt::close_method(const Napi::CallbackInfo&) { close(); }

} // namespace fpga_verbs::addon
