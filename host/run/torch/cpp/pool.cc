#include "pool.h"

#include "scope.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <dlfcn.h>

#include <atomic>
#include <stdexcept>

// The allocator is asked through its virtual functions, so that nothing of libtorch's GPU half is linked: all that is needed
// of it is how it is declared.
#if __has_include(<c10/cuda/CUDACachingAllocator.h>)
#include <c10/cuda/CUDACachingAllocator.h>
#define PASSHOST_KNOWS_CUDA_ALLOCATOR 1
#endif

namespace passhost {

namespace {

#ifdef PASSHOST_KNOWS_CUDA_ALLOCATOR

using DeviceAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

DeviceAllocator& device_allocator() {
  return *static_cast<DeviceAllocator*>(c10::getDeviceAllocator(c10::kCUDA));
}

#else

// What the allocator would be asked for.
struct DeviceAllocator {
  [[noreturn]] static void missing() {
    throw std::runtime_error(
        "this passhost was built without the headers of CUDA, which say how libtorch's allocator keeps memory for "
        "captured launches; build it with the libtorch that scripts/setup installs");
  }
  void beginAllocateToPool(c10::DeviceIndex, c10::MempoolId_t, std::function<bool(void*)>) { missing(); }
  void endAllocateToPool(c10::DeviceIndex, c10::MempoolId_t) { missing(); }
  void releasePool(c10::DeviceIndex, c10::MempoolId_t) { missing(); }
  void emptyCache(c10::MempoolId_t) { missing(); }
};

DeviceAllocator& device_allocator() {
  static DeviceAllocator allocator;
  return allocator;
}

#endif

// A name that no pool of libtorch's own has: those count from 1.
c10::MempoolId_t fresh_id() {
  static std::atomic<c10::CaptureId_t> next{c10::CaptureId_t{1} << 48};
  return {next++, 0};
}

// An op that failed may have left its error with CUDA's runtime, where the next op would find it.
void forget_last_error() {
  if (void* forget = dlsym(RTLD_DEFAULT, "cudaGetLastError")) {
    reinterpret_cast<int (*)()>(forget)();
  }
}

}  // namespace

CapturePool::CapturePool(int32_t gpu, int64_t stream)
    : stream_(c10::Stream::UNSAFE, device_of(gpu), stream), id_(fresh_id()) {
  try {
    void* const handle = stream_.native_handle();
    device_allocator().beginAllocateToPool(
        stream_.device_index(), id_, [handle](auto asked) { return static_cast<void*>(asked) == handle; });
    device_known_ = device_open_ = true;
    const auto stream = stream_;
    at::getHostAllocator(c10::kCUDA)->begin_allocate_to_pool(id_, [stream](c10::Stream asked) { return asked == stream; });
    pinned_known_ = pinned_open_ = true;
  } catch (...) {
    release();
    throw;
  }
}

CapturePool::~CapturePool() { release(); }

void CapturePool::close() {
  forget_last_error();
  if (device_open_) {
    device_open_ = false;
    device_allocator().endAllocateToPool(stream_.device_index(), id_);
  }
  if (pinned_open_) {
    pinned_open_ = false;
    at::getHostAllocator(c10::kCUDA)->end_allocate_to_pool(id_);
  }
}

void CapturePool::release() noexcept {
  // There is nothing to do about an error here, and each step is worth taking whatever became of the one before.
  const auto tried = [](auto&& step) {
    try {
      step();
    } catch (...) {
    }
  };
  const DriverContext context;
  tried([&] { close(); });
  tried([&] {
    const c10::DeviceGuard guard(stream_.device());
    if (device_known_) {
      device_allocator().releasePool(stream_.device_index(), id_);
      device_allocator().emptyCache(id_);
    }
  });
  tried([&] {
    if (pinned_known_) {
      at::getHostAllocator(c10::kCUDA)->release_pool(id_);
    }
  });
}

std::unique_ptr<CapturePool> open_capture_pool(int32_t gpu, int64_t stream) {
  const DriverContext context;
  return std::make_unique<CapturePool>(gpu, stream);
}

}  // namespace passhost
