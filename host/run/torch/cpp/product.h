// Products of matrices without what ATen does before each of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace passhost {

using Operands = std::vector<const at::Tensor*>;

struct Product;

// The products of one op, for the layout of operands that it met last and the settings of libtorch then: calls of the copy
// of cuBLAS that libtorch has loaded. What follows from these is found once.
class Products {
 public:
  // Whether an op is a product, if its numbers let it.
  static bool are_of(const std::string& op);
  explicit Products(std::string op);
  ~Products();

  // What the op gives; an undefined tensor where ATen must be asked.
  at::Tensor run(const Operands& operands) const;
  // Prepares one for this layout, or holds what it gives against what ATen gave. It counts when they agreed twice, bit
  // by bit.
  void learn(const Operands& operands, const at::Tensor& expected);

 private:
  struct Layout {
    at::ScalarType type;
    std::vector<int64_t> sizes, strides;
    uint32_t alignment;
  };

  bool fit(const Operands& operands) const;

  std::string op_;
  std::vector<Layout> layouts_;
  std::pair<bool, bool> settings_;
  // None where ATen makes another call for this layout, or several.
  std::unique_ptr<Product> product_;
  int agreed_ = 0;
};

}  // namespace passhost
