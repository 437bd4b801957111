#pragma once

#include "rust/cxx.h"

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>

namespace passhost {

// Where tensors live: the CPU until a GPU is opened.
c10::Device device();

// Loads libtorch's GPU half, makes a context on the GPU of this index, and a stream of torch's pool the current one.
// Throws with a reason where that is impossible.
void open_gpu(int64_t index);

// The address of the current stream, as the driver knows it; 0 on the CPU.
size_t gpu_stream();

// Waits for the current stream. Nothing to do on the CPU.
void synchronize();

// Bytes of the GPU allocated now, and at once at most since `start_gpu_peak`.
size_t gpu_bytes();
void start_gpu_peak();
size_t gpu_peak_bytes();

// Gives cached memory back to the driver.
void empty_gpu_cache();

// The settings of libtorch that change what GPU ops compute, in words.
rust::String gpu_settings();

}  // namespace passhost
