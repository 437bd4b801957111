// Views without the dispatcher's way to them.
#pragma once

#include "rust/cxx.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace passhost {

// An op of one tensor that writes nothing, for the layout that it met last. Where all its results lay in the operand's
// memory it has calculated nothing, and does so wherever the layout is the same.
class PreparedView {
 public:
  // Appends the results. False, and nothing is done, where ATen must be asked.
  bool run(const at::Tensor& operand, rust::Vec<size_t>& results) const;
  void learn(const at::Tensor& operand, const rust::Vec<size_t>& results);

 private:
  struct Result {
    std::vector<int64_t> sizes, strides;
    // Elements from the operand's first one.
    int64_t offset;
  };

  at::ScalarType type_{};
  std::vector<int64_t> sizes_, strides_;
  // None where there is nothing to go by.
  std::vector<Result> results_;
};

}  // namespace passhost
