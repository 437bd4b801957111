// Calls of ATen ops by name through the c10 dispatcher.
#pragma once

#include "rust/cxx.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace passhost {

// An op with its constant arguments. Tensors are filled in call by call, in the order in which their places were pushed.
class Call {
 public:
  Call(const std::string& name, const std::string& overload, bool meta);

  void push_none();
  void push_bool(bool value);
  void push_int(int64_t value);
  void push_float(double value);
  void push_string(rust::Str value);
  void push_ints(rust::Slice<const int64_t> values);
  void push_floats(rust::Slice<const double> values);
  void push_bools(rust::Slice<const bool> values);
  void push_device();
  void push_tensor();
  void push_tensors(size_t count);
  void push_optional_tensors(rust::Slice<const bool> present);
  // Checks that every argument of the schema has been pushed.
  void finish() const;

  // Tensors are pointers to at::Tensor. The results are new at::Tensor objects that the caller owns.
  rust::Vec<size_t> invoke(rust::Slice<const size_t> tensors) const;

 private:
  struct Place {
    enum Kind { Constant, Tensor, Tensors, OptionalTensors } kind;
    c10::IValue constant;
    std::vector<bool> present;
  };

  // Where results go that do not follow an operand.
  c10::Device target() const;
  const c10::Argument& next_argument() const;
  void push_constant(c10::IValue value);

  c10::OperatorHandle op_;
  bool meta_;
  std::vector<Place> places_;
  size_t tensor_count_ = 0;
};

std::unique_ptr<Call> prepare(rust::Str name, rust::Str overload, bool meta);

// A tensor without data.
size_t meta_tensor(int8_t dtype, rust::Slice<const int64_t> sizes, rust::Slice<const int64_t> strides);
// Frees what `meta_tensor` or `Call::invoke` made.
void free_tensor(size_t tensor);
int8_t tensor_dtype(size_t tensor);
rust::Vec<int64_t> tensor_sizes(size_t tensor);
rust::Vec<int64_t> tensor_strides(size_t tensor);
// Bytes from the tensor's first element to the end of its storage.
size_t tensor_bytes_from_data(size_t tensor);

// Puts the calling thread into inference mode for good.
void enter_inference_mode();
rust::String version();

}  // namespace passhost
