// The calling thread's state while libtorch works for it.
#pragma once

#include "rust/cxx.h"

#include <c10/core/Device.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace passhost {

// The numbers by which a device crosses the border: a GPU's index, or one of these.
constexpr int32_t kCpuNumber = -1;
constexpr int32_t kMetaNumber = -2;

c10::Device device_of(int32_t number);

// The driver's context of the calling thread, as it was when this was made, again when it is destroyed: libtorch leaves its
// own behind on a thread that had none.
class DriverContext {
 public:
  DriverContext();
  ~DriverContext();
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;

 private:
  void* before_ = nullptr;
  bool known_ = false;
};

// A stream made the current one of its device, which is the thread's already. c10::StreamGuard would ask for the device
// and set it, each way.
class CurrentStream {
 public:
  explicit CurrentStream(c10::Stream stream)
      : device_(stream.device_type()), before_(device_.exchangeStream(stream)) {}
  ~CurrentStream() { device_.exchangeStream(before_); }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;

 private:
  c10::impl::VirtualGuardImpl device_;
  c10::Stream before_;
};

// While it lives, ops on this thread record no gradients, cast nothing by autocast, and run on this device and stream.
// Then everything is as it was before, whatever happened in between.
class Scope {
 public:
  // With `on_device`, the driver's context is the device's already, and whoever made it that restores it.
  Scope(int32_t device, int64_t stream, bool inference, bool on_device);

 private:
  // Destroyed last.
  std::optional<DriverContext> driver_;
  c10::AutoGradMode gradients_{false};
  c10::impl::ExcludeDispatchKeyGuard autocast_{c10::autocast_dispatch_keyset};
  std::optional<c10::InferenceMode> inference_;
  std::optional<c10::StreamGuard> stream_;
  std::optional<CurrentStream> current_stream_;
};

std::unique_ptr<Scope> enter(int32_t device, int64_t stream, bool inference, bool on_device);

// What an op would meet that is called on this thread now.
bool gradients_enabled();
bool inference_enabled();

}  // namespace passhost
