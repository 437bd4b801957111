// Tensors by the address of their at::Tensor.
#pragma once

#include "rust/cxx.h"

#include <cstddef>
#include <cstdint>

namespace passhost {

// What these make is freed by `free_tensor`. Devices are numbered as in scope.h.
size_t meta_tensor(int8_t dtype, rust::Slice<const int64_t> sizes, rust::Slice<const int64_t> strides);
size_t empty(int32_t device, int8_t dtype, rust::Slice<const int64_t> sizes);
size_t to_device(size_t tensor, int32_t device);
// The tensor itself where it is contiguous.
size_t contiguous(size_t tensor);
size_t clone(size_t tensor);
size_t to_double(size_t tensor);
// A tensor over memory that belongs to someone else. `release(context)` is called exactly once: when the memory is no
// longer used, or before this throws.
size_t foreign(
    int32_t device,
    size_t data,
    int8_t dtype,
    rust::Slice<const int64_t> sizes,
    rust::Slice<const int64_t> strides,
    rust::Fn<void(size_t)> release,
    size_t context);

// Frees what the functions above or `Call::invoke` made.
void free_tensor(size_t tensor);
void copy_into(size_t to, size_t from);
void fill_bytes(size_t tensor, uint8_t byte);
// Whether both hold the same elements.
bool is_equal(size_t tensor, size_t other);
bool is_finite(size_t tensor);
bool has_nan(size_t tensor);
// In double precision, and of integers in 64 bits.
double mean_of(size_t tensor);
int64_t sum_of(size_t tensor);
int8_t tensor_dtype(size_t tensor);
rust::Vec<int64_t> tensor_sizes(size_t tensor);
rust::Vec<int64_t> tensor_strides(size_t tensor);
// Bytes from the tensor's first element to the end of its storage.
size_t tensor_bytes_from_data(size_t tensor);
// Whether the tensor has exactly this element type, these sizes and these strides. Allocates nothing.
bool tensor_is(size_t tensor, int8_t dtype, rust::Slice<const int64_t> sizes, rust::Slice<const int64_t> strides);
size_t tensor_address(size_t tensor);

}  // namespace passhost
