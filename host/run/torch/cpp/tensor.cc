#include "tensor.h"

#include "scope.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace passhost {

namespace {

const at::Tensor& borrowed(size_t tensor) {
  return *reinterpret_cast<const at::Tensor*>(tensor);
}

size_t owned(at::Tensor tensor) { return reinterpret_cast<size_t>(new at::Tensor(std::move(tensor))); }

at::IntArrayRef list(rust::Slice<const int64_t> numbers) { return {numbers.data(), numbers.size()}; }

at::TensorOptions options(int8_t dtype, int32_t device) {
  return at::TensorOptions().dtype(static_cast<c10::ScalarType>(dtype)).device(device_of(device));
}

// Calls a function of Rust's when the last copy is gone, however that comes about.
class Release {
 public:
  Release(rust::Fn<void(size_t)> release, size_t context) : release_(release), context_(context) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() { release_(context_); }

 private:
  rust::Fn<void(size_t)> release_;
  size_t context_;
};

}  // namespace

size_t meta_tensor(int8_t dtype, rust::Slice<const int64_t> sizes, rust::Slice<const int64_t> strides) {
  return owned(at::empty_strided(list(sizes), list(strides), options(dtype, kMetaNumber)));
}

// What at::empty comes to, without the dispatcher's way there: this is in every run of a program. The scope that its caller
// entered has made the device and the stream current.
size_t empty(int32_t device, int8_t dtype, rust::Slice<const int64_t> sizes) {
  const c10::Device on = device_of(device);
  const auto key = on.is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
  return owned(at::Tensor(at::detail::empty_generic(
      list(sizes),
      c10::GetAllocator(on.type()),
      c10::DispatchKeySet(key),
      static_cast<c10::ScalarType>(dtype),
      std::nullopt)));
}

size_t to_device(size_t tensor, int32_t device) { return owned(borrowed(tensor).to(device_of(device))); }

size_t contiguous(size_t tensor) { return owned(borrowed(tensor).contiguous()); }

size_t clone(size_t tensor) { return owned(borrowed(tensor).clone()); }

size_t to_double(size_t tensor) { return owned(borrowed(tensor).to(at::kDouble)); }

void copy_into(size_t to, size_t from) { borrowed(to).copy_(borrowed(from)); }

void fill_bytes(size_t tensor, uint8_t byte) { borrowed(tensor).fill_(byte); }

bool is_equal(size_t tensor, size_t other) { return borrowed(tensor).equal(borrowed(other)); }

bool is_finite(size_t tensor) { return borrowed(tensor).isfinite().all().item<bool>(); }

bool has_nan(size_t tensor) { return borrowed(tensor).isnan().any().item<bool>(); }

double mean_of(size_t tensor) { return borrowed(tensor).mean(at::kDouble).item<double>(); }

int64_t sum_of(size_t tensor) { return borrowed(tensor).sum(at::kLong).item<int64_t>(); }

size_t foreign(
    int32_t device,
    size_t data,
    int8_t dtype,
    rust::Slice<const int64_t> sizes,
    rust::Slice<const int64_t> strides,
    rust::Fn<void(size_t)> release,
    size_t context) {
  auto owner = std::make_shared<Release>(release, context);
  return owned(at::from_blob(
      reinterpret_cast<void*>(data),
      list(sizes),
      list(strides),
      [owner](void*) {},
      options(dtype, device),
      device_of(device)));
}

void free_tensor(size_t tensor) { delete reinterpret_cast<at::Tensor*>(tensor); }

int8_t tensor_dtype(size_t tensor) { return static_cast<int8_t>(borrowed(tensor).scalar_type()); }

rust::Vec<int64_t> tensor_sizes(size_t tensor) {
  rust::Vec<int64_t> sizes;
  for (int64_t size : borrowed(tensor).sizes()) {
    sizes.push_back(size);
  }
  return sizes;
}

rust::Vec<int64_t> tensor_strides(size_t tensor) {
  rust::Vec<int64_t> strides;
  for (int64_t stride : borrowed(tensor).strides()) {
    strides.push_back(stride);
  }
  return strides;
}

size_t tensor_bytes_from_data(size_t tensor) {
  const at::Tensor& t = borrowed(tensor);
  const size_t offset = static_cast<size_t>(t.storage_offset()) * t.element_size();
  const size_t total = t.storage().nbytes();
  return total > offset ? total - offset : 0;
}

bool tensor_is(size_t tensor, int8_t dtype, rust::Slice<const int64_t> sizes, rust::Slice<const int64_t> strides) {
  const at::Tensor& t = borrowed(tensor);
  return static_cast<int8_t>(t.scalar_type()) == dtype && t.sizes() == list(sizes) && t.strides() == list(strides);
}

size_t tensor_address(size_t tensor) { return reinterpret_cast<size_t>(borrowed(tensor).data_ptr()); }

}  // namespace passhost
