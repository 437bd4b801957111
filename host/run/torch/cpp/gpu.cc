#include "gpu.h"

#include "scope.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace passhost {

namespace {

// libtorch_cuda is loaded only where it is wanted: programs run on machines without it as well.
void load(const char* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw std::runtime_error(dlerror());
  }
}

c10::impl::VirtualGuardImpl gpus() { return c10::impl::VirtualGuardImpl(c10::kCUDA); }

c10::Stream stream_of(int32_t gpu, int64_t stream) {
  return c10::Stream(c10::Stream::UNSAFE, device_of(gpu), stream);
}

constexpr size_t kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

c10::CachingAllocator::Stat allocated(int32_t gpu) {
  const auto index = static_cast<c10::DeviceIndex>(gpu);
  return c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(index).allocated_bytes[kAll];
}

}  // namespace

void load_gpus() {
  load("libc10_cuda.so");
  load("libtorch_cuda.so");
  at::globalContext().lazyInitDevice(c10::kCUDA);
}

int64_t gpu_count() { return gpus().deviceCount(); }

int64_t pool_stream(int32_t gpu) {
  const DriverContext context;
  const c10::DeviceGuard guard(device_of(gpu));
  return gpus().getStreamFromGlobalPool(device_of(gpu)).id();
}

int64_t current_stream(int32_t gpu) { return gpus().getStream(device_of(gpu)).id(); }

int32_t current_gpu() {
  const DriverContext context;
  return gpus().getDevice().index();
}

size_t stream_handle(int32_t gpu, int64_t stream) {
  return reinterpret_cast<size_t>(stream_of(gpu, stream).native_handle());
}

size_t gpu_bytes(int32_t gpu) { return static_cast<size_t>(allocated(gpu).current); }

void start_gpu_peak(int32_t gpu) {
  c10::getDeviceAllocator(c10::kCUDA)->resetPeakStats(static_cast<c10::DeviceIndex>(gpu));
}

size_t gpu_peak_bytes(int32_t gpu) { return static_cast<size_t>(allocated(gpu).peak); }

void choose_by_rules() { at::globalContext().setBenchmarkCuDNN(false); }

rust::String gpu_settings() {
  const auto& context = at::globalContext();
  const auto on = [](bool value) { return value ? "on" : "off"; };
  return std::string("cuDNN benchmark ") + on(context.benchmarkCuDNN()) + ", deterministic " +
      on(context.deterministicCuDNN()) + ", TF32 in cuDNN " + on(context.allowTF32CuDNN()) + ", in cuBLAS " +
      on(context.allowTF32CuBLAS());
}

}  // namespace passhost
