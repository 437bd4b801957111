#include "scope.h"

#include <c10/core/DispatchKeySet.h>
#include <dlfcn.h>

namespace passhost {

namespace {

// A function of the driver, which is there if a GPU is.
template <typename Function>
Function* of_driver(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return driver == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(driver, name));
}

int current_context(void** context) {
  static auto* const get = of_driver<int(void**)>("cuCtxGetCurrent");
  return get == nullptr ? -1 : get(context);
}

void set_current_context(void* context) {
  static auto* const set = of_driver<int(void*)>("cuCtxSetCurrent");
  if (set != nullptr) {
    set(context);
  }
}

}  // namespace

DriverContext::DriverContext() { known_ = current_context(&before_) == 0; }

DriverContext::~DriverContext() {
  void* now = nullptr;
  if (known_ && current_context(&now) == 0 && now != before_) {
    set_current_context(before_);
  }
}

c10::Device device_of(int32_t number) {
  switch (number) {
    case kMetaNumber:
      return c10::Device(c10::kMeta);
    case kCpuNumber:
      return c10::Device(c10::kCPU);
    default:
      return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(number));
  }
}

Scope::Scope(int32_t device, int64_t stream, bool inference, bool on_device) {
  if (inference) {
    inference_.emplace();
  }
  if (device < 0) {
    return;
  }
  const c10::Stream on(c10::Stream::UNSAFE, device_of(device), stream);
  // libtorch remembers a device for the thread and may take that for the current one, whatever the driver's context is:
  // memory would come from another GPU.
  if (on_device && c10::impl::VirtualGuardImpl(on.device_type()).getDevice() == on.device()) {
    current_stream_.emplace(on);
  } else {
    driver_.emplace();
    stream_.emplace(on);
  }
}

std::unique_ptr<Scope> enter(int32_t device, int64_t stream, bool inference, bool on_device) {
  return std::make_unique<Scope>(device, stream, inference, on_device);
}

bool gradients_enabled() { return c10::GradMode::is_enabled(); }

bool inference_enabled() { return c10::InferenceMode::is_enabled(); }

}  // namespace passhost
