// Calls of ATen ops by name through the c10 dispatcher.
#pragma once

#include "prepared.h"
#include "view.h"
#include "rust/cxx.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace passhost {

// An op with its constant arguments. Tensors are filled in call by call, in the order in which their places were pushed.
class Call {
 public:
  Call(const std::string& name, const std::string& overload, c10::Device device);

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
  // From now on products of matrices, convolutions and views are prepared for the layout of their operands, where the op is
  // one.
  void prepare_layouts();

  // Tensors are pointers to at::Tensor. The results are new at::Tensor objects that the caller owns.
  rust::Vec<size_t> invoke(rust::Slice<const size_t> tensors) const;

 private:
  struct Place {
    enum Kind { Constant, Tensor, Tensors, OptionalTensors } kind;
    c10::IValue constant;
    std::vector<bool> present;
  };

  rust::Vec<size_t> call(rust::Slice<const size_t> tensors) const;
  const c10::Argument& next_argument() const;
  void push_constant(c10::IValue value);

  c10::OperatorHandle op_;
  // Where results go that do not follow an operand.
  c10::Device device_;
  std::vector<Place> places_;
  size_t tensor_count_ = 0;
  // A call serves one thread at a time.
  mutable std::optional<PreparedCalls> products_;
  mutable std::optional<PreparedView> view_;
};

// Devices are numbered as in scope.h.
std::unique_ptr<Call> prepare(rust::Str name, rust::Str overload, int32_t device);

rust::String version();

}  // namespace passhost
