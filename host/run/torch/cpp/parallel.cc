#include "parallel.h"

#include <ATen/Parallel.h>

#ifndef _OPENMP
#error "without OpenMP, at::parallel_for uses other threads than libtorch does"
#endif

namespace passhost {

size_t thread_count() { return static_cast<size_t>(at::get_num_threads()); }

void parallel(size_t workers, rust::Fn<void(size_t)> work, size_t context) {
  // One index per worker; each thread is given one index or more.
  at::parallel_for(0, static_cast<int64_t>(workers), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      work(context);
    }
  });
}

}  // namespace passhost
