// Products of matrices and convolutions without what ATen does before each of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <vector>

namespace passhost {

using Operands = std::vector<const at::Tensor*>;

// What a library calculates for one layout of operands.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  // An undefined tensor where the library refuses.
  virtual at::Tensor run(const Operands& operands) const = 0;
  // Chooses the algorithm that the library would take if it had not the one that is chosen. False if there is none.
  virtual bool choose_next() { return false; }
};

// The calls of one op, for the layout of operands that it met last and the settings of libtorch then: of the copy of cuBLAS
// or cuDNN that libtorch has loaded. What follows from these is found once.
class PreparedCalls {
 public:
  // Whether there are any of an op with these arguments beside its tensors.
  static bool exist(const std::string& op, const std::vector<c10::IValue>& arguments);
  PreparedCalls(std::string op, std::vector<c10::IValue> arguments);

  // What the op gives; an undefined tensor where ATen must be asked.
  at::Tensor run(const Operands& operands) const;
  // Prepares a call for this layout, or holds what it gives against what ATen gave. It counts when they agreed twice, bit
  // by bit.
  void learn(const Operands& operands, const at::Tensor& expected);

 private:
  struct Layout {
    at::ScalarType type;
    std::vector<int64_t> sizes, strides;
    uint32_t alignment;
  };
  struct Settings {
    // Whether ATen rounds factors of f32: of products, of convolutions.
    bool rounds_products, rounds_convolutions;
    // Whether it chooses algorithms and adds up products of half types as the libraries do by themselves.
    bool are_usual;
    static Settings now();
    bool operator==(const Settings&) const = default;
  };

  bool fit(const Operands& operands) const;

  std::string op_;
  std::vector<c10::IValue> arguments_;
  std::vector<Layout> layouts_;
  Settings settings_{};
  // None where ATen makes another call for this layout, or several.
  std::unique_ptr<LibraryCall> call_;
  int agreed_ = 0;
};

}  // namespace passhost
