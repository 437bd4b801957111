#include "gpu.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace passhost {

namespace {

std::optional<c10::Device> opened;

// libtorch_cuda is loaded only where it is wanted: programs run on machines without it as well.
void load(const char* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw std::runtime_error(dlerror());
  }
}

c10::impl::VirtualGuardImpl guard() { return c10::impl::VirtualGuardImpl(c10::kCUDA); }

constexpr size_t kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

c10::CachingAllocator::Stat allocated() {
  return c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(opened->index()).allocated_bytes[kAll];
}

}  // namespace

c10::Device device() { return opened.value_or(c10::Device(c10::kCPU)); }

void open_gpu(int64_t index) {
  load("libc10_cuda.so");
  load("libtorch_cuda.so");
  at::globalContext().lazyInitDevice(c10::kCUDA);
  const auto impl = guard();
  if (index < 0 || index >= impl.deviceCount()) {
    throw std::runtime_error("there are " + std::to_string(impl.deviceCount()) + " GPUs");
  }
  const c10::Device gpu(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  impl.setDevice(gpu);
  impl.exchangeStream(impl.getStreamFromGlobalPool(gpu));
  at::globalContext().setBenchmarkCuDNN(false);
  opened = gpu;
}

size_t gpu_stream() {
  return opened ? reinterpret_cast<size_t>(guard().getStream(*opened).native_handle()) : 0;
}

void synchronize() {
  if (opened) {
    const auto impl = guard();
    impl.synchronizeStream(impl.getStream(*opened));
  }
}

size_t gpu_bytes() { return opened ? static_cast<size_t>(allocated().current) : 0; }

void start_gpu_peak() {
  if (opened) {
    c10::getDeviceAllocator(c10::kCUDA)->resetPeakStats(opened->index());
  }
}

size_t gpu_peak_bytes() { return opened ? static_cast<size_t>(allocated().peak) : 0; }

void empty_gpu_cache() {
  if (opened) {
    c10::getDeviceAllocator(c10::kCUDA)->emptyCache();
  }
}

rust::String gpu_settings() {
  const auto& context = at::globalContext();
  const auto on = [](bool value) { return value ? "on" : "off"; };
  return std::string("cuDNN benchmark ") + on(context.benchmarkCuDNN()) + ", deterministic " +
      on(context.deterministicCuDNN()) + ", TF32 in cuDNN " + on(context.allowTF32CuDNN()) + ", in cuBLAS " +
      on(context.allowTF32CuBLAS());
}

}  // namespace passhost
