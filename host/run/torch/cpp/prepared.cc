#include "prepared.h"

#include "convolution.h"
#include "library.h"
#include "product.h"

#include <ATen/Context.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace passhost {

namespace {

// How often a call must give what ATen gives before it stands for it. Both times may be of the same inputs: then the
// second one shows only that it gives the same again.
constexpr int kAgreed = 2;
// Bytes of a result up to which that is tried. It takes as many again, which count as the program's. A call for more takes so
// long that what ATen does before it does not matter.
constexpr size_t kLargest = 32 << 20;

struct Runtime {
  Export<int()> forget_error{"cudaGetLastError"};
  Export<void*()> handle{"_ZN2at4cuda24getCurrentCUDABlasHandleEv"};
  Export<int(void*, int*)> capturing{"cudaStreamIsCapturing"};
  Export<int(void*, void**)> stream{"cublasGetStream_v2"};
};

const Runtime& runtime() {
  static const Runtime found;
  return found;
}

// Whether all of it is there: on a CPU it is not.
bool has_runtime() try {
  runtime();
  return true;
} catch (const std::runtime_error&) {
  return false;
}

// Whether launches are noted down, so that nothing can be asked of the device.
bool is_capturing() {
  const auto& found = runtime();
  void* stream = nullptr;
  int status = 0;
  return found.stream(found.handle(), &stream) != 0 || found.capturing(stream, &status) != 0 || status != 0;
}

bool are_same(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() &&
      one.scalar_type() == other.scalar_type() && one.view(at::kByte).equal(other.view(at::kByte));
}

}  // namespace

PreparedCalls::Settings PreparedCalls::Settings::now() {
  auto& context = at::globalContext();
  constexpr auto usual = at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  const bool is_default = !context.deterministicAlgorithms() &&
      context.blasPreferredBackend() == at::BlasBackend::Cublas && !context.allowFP16AccumulationCuBLAS() &&
      context.allowFP16ReductionCuBLAS() == usual && context.allowBF16ReductionCuBLAS() == usual &&
      context.userEnabledCuDNN() && !context.benchmarkCuDNN() && !context.deterministicCuDNN();
  return {context.allowTF32CuBLAS(), context.allowTF32CuDNN(at::Float32Op::CONV), is_default};
}

bool PreparedCalls::exist(const std::string& op, const std::vector<c10::IValue>& arguments) {
  return is_product(op, arguments) || is_convolution(op, arguments);
}

PreparedCalls::PreparedCalls(std::string op, std::vector<c10::IValue> arguments)
    : op_(std::move(op)), arguments_(std::move(arguments)) {}

bool PreparedCalls::fit(const Operands& operands) const {
  const auto fits = [](const Layout& layout, const at::Tensor* operand) {
    return operand->scalar_type() == layout.type && operand->sizes() == layout.sizes &&
        operand->strides() == layout.strides && alignment(*operand) >= layout.alignment;
  };
  return settings_ == Settings::now() &&
      std::equal(layouts_.begin(), layouts_.end(), operands.begin(), operands.end(), fits);
}

// What goes wrong here is ATen's to say: settings that contradict each other matter to some ops only.
at::Tensor PreparedCalls::run(const Operands& operands) const try {
  return call_ != nullptr && agreed_ >= kAgreed && fit(operands) ? call_->run(operands) : at::Tensor();
} catch (const std::exception&) {
  return {};
}

// What goes wrong here is no failure of the op, which ATen has done. An error of the device shows where somebody waits
// for it.
void PreparedCalls::learn(const Operands& operands, const at::Tensor& expected) try {
  if (!expected.is_cuda() || expected.nbytes() > kLargest || !has_runtime() || is_capturing()) {
    return;
  }
  if (!fit(operands)) {
    settings_ = Settings::now();
    layouts_.clear();
    for (const at::Tensor* operand : operands) {
      const auto sizes = operand->sizes().vec(), strides = operand->strides().vec();
      layouts_.push_back({operand->scalar_type(), sizes, strides, alignment(*operand)});
    }
    agreed_ = 0;
    call_ = nullptr;
    if (settings_.are_usual) {
      call_ = is_product(op_, arguments_) ? product(op_, operands, settings_.rounds_products)
                                          : convolution(arguments_, operands, settings_.rounds_convolutions);
    }
  }
  const auto agrees = [&] {
    const at::Tensor found = call_->run(operands);
    return found.defined() && are_same(found, expected);
  };
  if (call_ == nullptr) {
    return;
  }
  bool is_same = agrees();
  while (!is_same && agreed_ == 0 && call_->choose_next()) {
    is_same = agrees();
  }
  agreed_ += 1;
  if (!is_same) {
    call_ = nullptr;
  }
} catch (const std::exception&) {
  call_ = nullptr;
  runtime().forget_error();
}

}  // namespace passhost
