#include "allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_set>

namespace passhost {

namespace {

// As wide as the widest vector access, so that data stays as aligned as libtorch promises.
constexpr size_t kGuard = 64;
// Every float type reads as NaN.
constexpr unsigned char kPoison = 0xff;
constexpr unsigned char kGuardByte = 0xa5;

// Describes a block. Its address lies at the very start of the memory, so that the data pointer alone finds it: libtorch's
// raw allocations know nothing else.
struct Block {
  c10::DataPtr memory;  // of the default allocator
  unsigned char* data;  // behind the header, and behind the front guard if there is one
  size_t size;
  bool guarded;
};

constexpr size_t kHeader = 64;

Block* block_of(void* data) {
  Block* block = nullptr;
  std::memcpy(&block, static_cast<unsigned char*>(data) - kHeader, sizeof block);
  return block;
}

std::atomic<bool> guarding{false};
std::atomic<size_t> live{0};
std::atomic<size_t> peak{0};
std::atomic<size_t> baseline{0};
std::atomic<size_t> limit{SIZE_MAX};
std::atomic<uint64_t> overwritten{0};
std::mutex mutex;
std::unordered_set<Block*> guarded_blocks;

bool intact(const unsigned char* zone) {
  return std::all_of(zone, zone + kGuard, [](unsigned char byte) { return byte == kGuardByte; });
}

uint64_t broken_guards(const Block& block) {
  return (intact(block.data - kHeader - kGuard) ? 0 : 1) + (intact(block.data + block.size) ? 0 : 1);
}

void release(void* data) {
  Block* block = block_of(data);
  live -= block->size;
  if (block->guarded) {
    const std::lock_guard<std::mutex> lock(mutex);
    overwritten += broken_guards(*block);
    guarded_blocks.erase(block);
  }
  delete block;
}

class GuardingAllocator final : public c10::Allocator {
 public:
  explicit GuardingAllocator(c10::Allocator* base) : base_(base) {}

  c10::DataPtr allocate(size_t size) override {
    const bool guard = guarding;
    const size_t now = live += size;
    const size_t since = now > baseline ? now - baseline : 0;
    if (guard && since > limit) {
      live -= size;
      TORCH_CHECK(false, "out of memory: ", since, " bytes at once, the limit is ", limit.load());
    }
    size_t highest = peak;
    while (now > highest && !peak.compare_exchange_weak(highest, now)) {
    }
    const size_t before = kHeader + (guard ? kGuard : 0);
    Block* block = nullptr;
    try {
      block = new Block{base_->allocate(before + size + (guard ? kGuard : 0)), nullptr, size, guard};
    } catch (...) {
      live -= size;
      throw;
    }
    block->data = static_cast<unsigned char*>(block->memory.get()) + before;
    std::memcpy(block->data - kHeader, &block, sizeof block);
    if (guard) {
      std::memset(block->data - before, kGuardByte, kGuard);
      std::memset(block->data, kPoison, size);
      std::memset(block->data + size, kGuardByte, kGuard);
      const std::lock_guard<std::mutex> lock(mutex);
      guarded_blocks.insert(block);
    }
    return {block->data, block->data, &release, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* destination, const void* source, size_t count) const override {
    default_copy_data(destination, source, count);
  }

 private:
  c10::Allocator* base_;
};

}  // namespace

void install_allocator() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Lives as long as the process: blocks may be freed while it shuts down.
    auto* allocator = new GuardingAllocator(c10::GetCPUAllocator());
    c10::SetCPUAllocator(allocator, /*priority=*/100);
  });
}

void start_guarding(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  overwritten = 0;
  baseline = live.load();
  peak = live.load();
  limit = bytes;
  guarding = true;
}

uint64_t overwritten_guards() {
  const std::lock_guard<std::mutex> lock(mutex);
  uint64_t count = overwritten;
  for (const Block* block : guarded_blocks) {
    count += broken_guards(*block);
  }
  return count;
}

uint64_t stop_guarding() {
  const uint64_t count = overwritten_guards();
  guarding = false;
  limit = SIZE_MAX;
  return count;
}

void start_peak() {
  baseline = live.load();
  peak = live.load();
}

size_t peak_bytes() { return peak > baseline ? peak - baseline : 0; }

}  // namespace passhost
