// Memory for launches that are captured in a graph, whose addresses must stay for as long as the graph.
#pragma once

#include "rust/cxx.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>

namespace passhost {

// A part of libtorch's allocators that nothing else is given memory of. While it is open, what is asked for on its stream
// comes from it. Frees its memory when it is destroyed, but for what tensors still hold.
class CapturePool {
 public:
  CapturePool(int32_t gpu, int64_t stream);
  ~CapturePool();
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;

  // From now on memory comes from where it came from before. After the end of the capture, whether it succeeded or not.
  void close();

 private:
  void release() noexcept;

  c10::Stream stream_;
  c10::MempoolId_t id_;
  // Which of the allocators, of the device and of pinned memory, know the pool, and take from it now.
  bool device_known_ = false, device_open_ = false;
  bool pinned_known_ = false, pinned_open_ = false;
};

// Streams by the number that libtorch gives them. Throws with a reason where this libtorch keeps no such pools.
std::unique_ptr<CapturePool> open_capture_pool(int32_t gpu, int64_t stream);

}  // namespace passhost
