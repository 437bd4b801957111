// Work on libtorch's own threads.
#pragma once

#include "rust/cxx.h"

#include <cstddef>

namespace passhost {

size_t thread_count();

// Calls `work(context)` on up to `workers` of the threads that run ops, the calling one among them.
void parallel(size_t workers, rust::Fn<void(size_t)> work, size_t context);

}  // namespace passhost
