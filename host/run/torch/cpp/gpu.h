// GPUs, as libtorch sees them. Everything but `load_gpus` expects that it succeeded.
#pragma once

#include "rust/cxx.h"

#include <cstddef>
#include <cstdint>

namespace passhost {

// Loads libtorch's GPU half, if it is not there yet. Throws with a reason where that is impossible.
void load_gpus();
int64_t gpu_count();

// Streams, by the number that libtorch gives them: one of its pool, and the current one of this thread.
int64_t pool_stream(int32_t gpu);
int64_t current_stream(int32_t gpu);
int32_t current_gpu();
// The stream's address, as the driver knows it.
size_t stream_handle(int32_t gpu, int64_t stream);

// Bytes allocated now, and at once at most since `start_gpu_peak`.
size_t gpu_bytes(int32_t gpu);
void start_gpu_peak(int32_t gpu);
size_t gpu_peak_bytes(int32_t gpu);

// Lets cuDNN choose by rules, not by trying. For the whole process.
void choose_by_rules();

// The settings of libtorch that change what GPU ops compute, in words.
rust::String gpu_settings();

}  // namespace passhost
