#include "dispatch.h"

#include "scope.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/version.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace passhost {

namespace {

const at::Tensor& borrowed(size_t tensor) {
  return *reinterpret_cast<const at::Tensor*>(tensor);
}

// Some ops leave a result out by returning a tensor that is none, such as attention without its weights. Values of a
// graph always are tensors: it becomes an empty one.
at::Tensor present(const at::Tensor& tensor, c10::Device device) {
  return tensor.defined() ? tensor : at::empty({0}, at::TensorOptions().dtype(at::kFloat).device(device));
}

void flatten(const c10::IValue& value, c10::Device device, rust::Vec<size_t>& results) {
  if (value.isTensor()) {
    results.push_back(reinterpret_cast<size_t>(new at::Tensor(present(value.toTensor(), device))));
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      results.push_back(reinterpret_cast<size_t>(new at::Tensor(present(tensor, device))));
    }
  } else {
    throw std::runtime_error("it returns a " + value.tagKind() + ", and only tensors can be values of a graph");
  }
}

// What an optional of this type holds; the type itself if it is none.
c10::TypePtr unwrapped(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (auto optional = type->cast<c10::OptionalType>()) {
    return optional->getElementType();
  }
  return type;
}

}  // namespace

Call::Call(const std::string& name, const std::string& overload, c10::Device device)
    : op_(c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str())), device_(device) {
  places_.reserve(op_.schema().arguments().size());
}

const c10::Argument& Call::next_argument() const {
  const auto& arguments = op_.schema().arguments();
  if (places_.size() >= arguments.size()) {
    throw std::runtime_error("more arguments than its schema has: " + std::to_string(arguments.size()));
  }
  return arguments[places_.size()];
}

void Call::push_constant(c10::IValue value) {
  next_argument();
  places_.push_back(Place{Place::Constant, std::move(value), {}});
}

void Call::push_none() {
  // There is one device: a constructor that names none makes its tensor there, not on the CPU.
  if (unwrapped(next_argument())->kind() == c10::TypeKind::DeviceObjType) {
    push_device();
    return;
  }
  push_constant(c10::IValue());
}

void Call::push_bool(bool value) { push_constant(c10::IValue(value)); }

void Call::push_int(int64_t value) {
  const auto type = unwrapped(next_argument());
  if (type->kind() == c10::TypeKind::FloatType) {
    push_constant(c10::IValue(static_cast<double>(value)));
  } else if (type->kind() == c10::TypeKind::ListType) {
    push_constant(c10::IValue(std::vector<int64_t>{value}));
  } else {
    push_constant(c10::IValue(value));
  }
}

void Call::push_float(double value) { push_constant(c10::IValue(value)); }

void Call::push_string(rust::Str value) { push_constant(c10::IValue(std::string(value))); }

void Call::push_ints(rust::Slice<const int64_t> values) {
  if (auto list = unwrapped(next_argument())->cast<c10::ListType>()) {
    if (list->getElementType()->kind() == c10::TypeKind::FloatType) {
      push_constant(c10::IValue(std::vector<double>(values.begin(), values.end())));
      return;
    }
  }
  push_constant(c10::IValue(std::vector<int64_t>(values.begin(), values.end())));
}

void Call::push_floats(rust::Slice<const double> values) {
  push_constant(c10::IValue(std::vector<double>(values.begin(), values.end())));
}

void Call::push_bools(rust::Slice<const bool> values) {
  c10::List<bool> list;
  for (bool value : values) {
    list.push_back(value);
  }
  push_constant(c10::IValue(std::move(list)));
}

void Call::push_device() { push_constant(c10::IValue(device_)); }

void Call::push_tensor() {
  next_argument();
  places_.push_back(Place{Place::Tensor, {}, {}});
  tensor_count_ += 1;
}

void Call::push_tensors(size_t count) {
  next_argument();
  places_.push_back(Place{Place::Tensors, {}, std::vector<bool>(count, true)});
  tensor_count_ += count;
}

void Call::push_optional_tensors(rust::Slice<const bool> present) {
  next_argument();
  Place place{Place::OptionalTensors, {}, {}};
  for (bool one : present) {
    place.present.push_back(one);
    tensor_count_ += one ? 1 : 0;
  }
  places_.push_back(std::move(place));
}

void Call::finish() const {
  const size_t wanted = op_.schema().arguments().size();
  if (places_.size() != wanted) {
    throw std::runtime_error(
        std::to_string(places_.size()) + " arguments, its schema has " + std::to_string(wanted));
  }
}

void Call::prepare_layouts() {
  std::vector<c10::IValue> arguments;
  for (const Place& place : places_) {
    if (place.kind == Place::Constant) {
      arguments.push_back(place.constant);
    } else if (place.kind != Place::Tensor) {
      return;
    }
  }
  const std::string& op = op_.schema().name();
  if (tensor_count_ == 1 && !op_.schema().is_mutable()) {
    view_.emplace();
  }
  if (device_.is_cuda() && PreparedCalls::exist(op, arguments)) {
    products_.emplace(op, std::move(arguments));
  }
}

rust::Vec<size_t> Call::invoke(rust::Slice<const size_t> tensors) const {
  if (view_ && tensors.size() == 1) {
    rust::Vec<size_t> results;
    if (!view_->run(borrowed(tensors.front()), results)) {
      results = call(tensors);
      view_->learn(borrowed(tensors.front()), results);
    }
    return results;
  }
  if (!products_) {
    return call(tensors);
  }
  Operands operands(tensors.size());
  std::transform(tensors.begin(), tensors.end(), operands.begin(), [](size_t one) { return &borrowed(one); });
  rust::Vec<size_t> results;
  if (at::Tensor product = products_->run(operands); product.defined()) {
    results.push_back(reinterpret_cast<size_t>(new at::Tensor(std::move(product))));
  } else {
    results = call(tensors);
    products_->learn(operands, borrowed(results.front()));
  }
  return results;
}

rust::Vec<size_t> Call::call(rust::Slice<const size_t> tensors) const {
  if (tensors.size() != tensor_count_) {
    throw std::runtime_error(
        std::to_string(tensors.size()) + " tensors for " + std::to_string(tensor_count_) + " places");
  }
  torch::jit::Stack stack;
  stack.reserve(places_.size());
  auto next = tensors.begin();
  for (const Place& place : places_) {
    switch (place.kind) {
      case Place::Constant:
        stack.push_back(place.constant);
        break;
      case Place::Tensor:
        stack.emplace_back(borrowed(*next++));
        break;
      case Place::Tensors: {
        c10::List<at::Tensor> list;
        list.reserve(place.present.size());
        for (size_t i = 0; i < place.present.size(); ++i) {
          list.push_back(borrowed(*next++));
        }
        stack.emplace_back(std::move(list));
        break;
      }
      case Place::OptionalTensors: {
        c10::List<std::optional<at::Tensor>> list;
        list.reserve(place.present.size());
        for (bool present : place.present) {
          list.push_back(present ? std::optional<at::Tensor>(borrowed(*next++)) : std::nullopt);
        }
        stack.emplace_back(std::move(list));
        break;
      }
    }
  }
  op_.callBoxed(stack);
  rust::Vec<size_t> results;
  results.reserve(stack.size());
  for (const c10::IValue& value : stack) {
    flatten(value, device_, results);
  }
  return results;
}

std::unique_ptr<Call> prepare(rust::Str name, rust::Str overload, int32_t device) {
  return std::make_unique<Call>(std::string(name), std::string(overload), device_of(device));
}

rust::String version() { return TORCH_VERSION; }

}  // namespace passhost
