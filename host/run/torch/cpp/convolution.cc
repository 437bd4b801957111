#include "convolution.h"

#include "library.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace passhost {

namespace {

// Algorithms that are held against ATen's, at most: it takes the first one that works, mostly the first of all.
constexpr size_t kMostAlgorithms = 6;

// Of cudnn_graph.h, which need not be there where this is compiled.
enum DataType : int { kFloat = 0, kHalf = 2, kBFloat16 = 9 };
enum Kind : int {
  kSpatial = 1, kEngine = 2, kAlgorithm = 3, kHeuristic = 4, kPlan = 5, kForward = 10, kGraph = 15, kVariant = 16,
  kTensor = 17,
};
enum Type : int {
  kHandle = 0, kDataType = 1, kInt64 = 3, kFloats = 4, kPointer = 6, kMode = 7, kHeuristicMode = 8, kNote = 11,
  kDescriptor = 15,
};
enum Attribute : int {
  kComputeType = 100, kConvolutionMode = 101, kDilations = 102, kStrides = 103, kPaddingBehind = 104,
  kPaddingBefore = 105, kDimensions = 106, kOfHeuristicMode = 200, kOfGraph = 201, kAlgorithms = 202, kOfEngine = 300,
  kPlanHandle = 400, kPlanAlgorithm = 401, kPlanWorkspace = 402, kAlpha = 700, kBeta = 701, kForwardSpatial = 702,
  kForwardWeight = 703, kForwardInput = 704, kForwardResult = 705, kGraphHandle = 800, kGraphOperations = 801,
  kTensorAlignment = 900, kTensorType = 901, kTensorSizes = 902, kTensorStrides = 903, kTensorName = 906,
  kVariantNames = 1000, kVariantPointers = 1001, kVariantWorkspace = 1003, kEngineNotes = 1303,
};
constexpr int kCrossCorrelation = 1, kInstant = 0, kRoundsInputs = 1;
constexpr std::array<int64_t, 3> kNames{'x', 'w', 'y'};

struct Library {
  Export<void*()> handle{"_ZN2at6native14getCudnnHandleEv"};
  Export<int(int, void**)> create{"cudnnBackendCreateDescriptor"};
  Export<int(void*)> destroy{"cudnnBackendDestroyDescriptor"};
  Export<int(void*, int, int, int64_t, const void*)> set{"cudnnBackendSetAttribute"};
  Export<int(void*, int, int, int64_t, int64_t*, void*)> get{"cudnnBackendGetAttribute"};
  Export<int(void*)> finish{"cudnnBackendFinalize"};
  Export<int(void*, void*, void*)> execute{"cudnnBackendExecute"};
};

const Library& library() {
  static const Library found;
  return found;
}

void check(int status) {
  if (status != 0) {
    throw std::runtime_error("cuDNN refuses: " + std::to_string(status));
  }
}

// Something that is described to the library.
class Descriptor {
 public:
  explicit Descriptor(Kind kind) { check(library().create(kind, &own_)); }
  Descriptor(Descriptor&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(own_, other.own_);
    return *this;
  }
  ~Descriptor() { own_ != nullptr ? library().destroy(own_) : 0; }

  template <typename T>
  Descriptor& set(Attribute attribute, Type type, const T* values, size_t count = 1) {
    check(library().set(own_, attribute, type, static_cast<int64_t>(count), values));
    return *this;
  }
  Descriptor& set(Attribute attribute, const Descriptor& other) { return set(attribute, kDescriptor, &other.own_); }
  Descriptor finished() && {
    check(library().finish(own_));
    return std::move(*this);
  }
  void* get() const { return own_; }

 private:
  void* own_ = nullptr;
};

// How windows lie along the dimensions of an image.
struct Windows {
  std::vector<int64_t> strides, padding, dilations;
};

// Sizes and strides of a tensor. An image of one dimension has another one of a single position, as ATen gives it.
struct Layout {
  std::vector<int64_t> sizes, strides;
};

Layout layout(c10::IntArrayRef sizes, at::MemoryFormat format) {
  Layout found{sizes.vec(), std::vector<int64_t>(sizes.size())};
  if (sizes.size() == 3) {
    found.sizes.insert(found.sizes.begin() + 2, 1);
    found.strides.push_back(1);
  }
  // From the innermost dimension outward: channels, or those of an image.
  std::vector<size_t> order;
  for (size_t at = found.sizes.size(); at-- > 2;) {
    order.push_back(at);
  }
  order.insert(format == at::MemoryFormat::Contiguous ? order.end() : order.begin(), 1);
  order.push_back(0);
  int64_t stride = 1;
  for (const size_t at : order) {
    found.strides[at] = stride;
    stride *= found.sizes[at];
  }
  return found;
}

Descriptor tensor(const Layout& layout, int64_t name, int type, int64_t alignment) {
  Descriptor found(kTensor);
  found.set(kTensorType, kDataType, &type)
      .set(kTensorSizes, kInt64, layout.sizes.data(), layout.sizes.size())
      .set(kTensorStrides, kInt64, layout.strides.data(), layout.strides.size())
      .set(kTensorName, kInt64, &name)
      .set(kTensorAlignment, kInt64, &alignment);
  return std::move(found).finished();
}

// Whether an algorithm rounds what it reads of f32 to a type of fewer bits than TF32.
bool rounds_inputs(void* algorithm) {
  const auto& lib = library();
  const Descriptor engine(kEngine);
  void* address = engine.get();
  int64_t count = 0;
  check(lib.get(algorithm, kOfEngine, kDescriptor, 1, &count, &address));
  std::array<int, 32> notes{};
  check(lib.get(address, kEngineNotes, kNote, notes.size(), &count, notes.data()));
  return std::find(notes.begin(), notes.begin() + count, kRoundsInputs) != notes.begin() + count;
}

// A convolution of a layout.
class Convolution : public LibraryCall {
 public:
  Convolution(const Operands& operands, const Windows& windows, std::vector<int64_t> sizes, at::MemoryFormat format)
      : sizes_(std::move(sizes)), format_(format), handle_(library().handle()) {
    const at::Tensor &input = *operands[0], &weight = *operands[1];
    const at::ScalarType element = input.scalar_type();
    const int type = element == at::kFloat ? kFloat : element == at::kHalf ? kHalf : kBFloat16, sum = kFloat;
    // As ATen asks for it: up to 16 bytes.
    const auto aligned = [](const at::Tensor& one) { return std::min<int64_t>(alignment(one), 16); };
    parts_.push_back(tensor(layout(input.sizes(), format), kNames[0], type, aligned(input)));
    parts_.push_back(tensor(layout(weight.sizes(), format), kNames[1], type, aligned(weight)));
    parts_.push_back(tensor(layout(sizes_, format), kNames[2], type, 16));
    const size_t count = windows.strides.size();
    const auto dimensions = static_cast<int64_t>(count);
    Descriptor spatial(kSpatial);
    spatial.set(kComputeType, kDataType, &sum)
        .set(kConvolutionMode, kMode, &kCrossCorrelation)
        .set(kDimensions, kInt64, &dimensions)
        .set(kPaddingBefore, kInt64, windows.padding.data(), count)
        .set(kPaddingBehind, kInt64, windows.padding.data(), count)
        .set(kStrides, kInt64, windows.strides.data(), count)
        .set(kDilations, kInt64, windows.dilations.data(), count);
    parts_.push_back(std::move(spatial).finished());
    const float one = 1, zero = 0;
    Descriptor forward(kForward);
    forward.set(kForwardInput, parts_[0])
        .set(kForwardWeight, parts_[1])
        .set(kForwardResult, parts_[2])
        .set(kForwardSpatial, parts_[3])
        .set(kAlpha, kFloats, &one)
        .set(kBeta, kFloats, &zero);
    parts_.push_back(std::move(forward).finished());
    Descriptor graph(kGraph);
    graph.set(kGraphOperations, parts_[4]).set(kGraphHandle, kHandle, &handle_);
    parts_.push_back(std::move(graph).finished());
    Descriptor heuristic(kHeuristic);
    heuristic.set(kOfGraph, parts_[5]).set(kOfHeuristicMode, kHeuristicMode, &kInstant);
    parts_.push_back(std::move(heuristic).finished());
    std::vector<void*> addresses;
    for (size_t at = 0; at < kMostAlgorithms; ++at) {
      algorithms_.emplace_back(kAlgorithm);
      addresses.push_back(algorithms_.back().get());
    }
    int64_t found = 0;
    check(library().get(parts_[6].get(), kAlgorithms, kDescriptor, addresses.size(), &found, addresses.data()));
    algorithms_.erase(algorithms_.begin() + std::min<int64_t>(found, kMostAlgorithms), algorithms_.end());
    if (element == at::kFloat) {
      std::erase_if(algorithms_, [](const Descriptor& one) { return rounds_inputs(one.get()); });
    }
  }

  bool choose_next() override {
    while (next_ < algorithms_.size()) {
      const Descriptor& algorithm = algorithms_[next_++];
      try {
        Descriptor plan(kPlan);
        plan.set(kPlanHandle, kHandle, &handle_).set(kPlanAlgorithm, algorithm);
        plan_ = std::move(plan).finished();
        int64_t count = 0;
        check(library().get(plan_->get(), kPlanWorkspace, kInt64, 1, &count, &workspace_));
        return true;
      } catch (const std::runtime_error&) {
        // This one does not work for the layout: neither does ATen take it.
      }
    }
    return false;
  }

  at::Tensor run(const Operands& operands) const override {
    constexpr c10::DispatchKeySet keys(c10::DispatchKey::CUDA);
    auto* allocator = c10::GetAllocator(c10::kCUDA);
    const auto& lib = library();
    // ATen has a handle for each of the threads that use it, and sets it to the current stream.
    if (lib.handle() != handle_) {
      return {};
    }
    const at::Tensor out(at::detail::empty_generic(sizes_, allocator, keys, operands[0]->scalar_type(), format_));
    const c10::DataPtr workspace = workspace_ > 0 ? allocator->allocate(workspace_) : c10::DataPtr();
    const std::array<const void*, 3> addresses{operands[0]->const_data_ptr(), operands[1]->const_data_ptr(),
                                               out.data_ptr()};
    void* const room = workspace.get();
    Descriptor variant(kVariant);
    variant.set(kVariantNames, kInt64, kNames.data(), kNames.size())
        .set(kVariantPointers, kPointer, addresses.data(), addresses.size())
        .set(kVariantWorkspace, kPointer, &room);
    const Descriptor ready = std::move(variant).finished();
    return lib.execute(handle_, plan_->get(), ready.get()) == 0 ? out : at::Tensor();
  }

 private:
  std::vector<int64_t> sizes_;
  at::MemoryFormat format_;
  void* handle_;
  // What a plan is made from, which must stay.
  std::vector<Descriptor> parts_, algorithms_;
  size_t next_ = 0;
  std::optional<Descriptor> plan_;
  int64_t workspace_ = 0;
};

// Numbers along the dimensions of an image: a single one stands for all. One dimension has another one before it.
std::optional<std::vector<int64_t>> along_image(const c10::IValue& value, size_t dimensions, int64_t before) {
  if (!value.isIntList()) {
    return std::nullopt;
  }
  std::vector<int64_t> found = value.toIntVector();
  found.resize(dimensions, found.empty() ? before : found.front());
  if (dimensions == 1) {
    found.insert(found.begin(), before);
  }
  return found;
}

}  // namespace

// `(bias, stride, padding, dilation, groups)` are left.
bool is_convolution(const std::string& op, const std::vector<c10::IValue>& arguments) {
  static const std::array<const char*, 3> ops{"aten::conv1d", "aten::conv2d", "aten::conv3d"};
  return std::find(ops.begin(), ops.end(), op) != ops.end() && arguments.size() == 5 && arguments[0].isNone();
}

std::unique_ptr<LibraryCall> convolution(const std::vector<c10::IValue>& arguments, const Operands& operands,
                                         bool rounds) {
  if (operands.size() != 2) {
    return nullptr;
  }
  const at::Tensor &input = *operands[0], &weight = *operands[1];
  const at::ScalarType type = input.scalar_type();
  const bool is_known = (type == at::kFloat && rounds) || type == at::kHalf || type == at::kBFloat16;
  // Where groups have single channels, ATen has kernels of its own.
  if (!is_known || weight.scalar_type() != type || !input.is_cuda() || !weight.is_cuda() || input.numel() == 0 ||
      weight.numel() == 0 || input.dim() != weight.dim() || input.dim() < 3 || weight.size(1) == 1) {
    return nullptr;
  }
  const auto wanted = [](const at::Tensor& one) { return one.suggest_memory_format(); };
  const at::MemoryFormat format = wanted(input) != at::MemoryFormat::Contiguous ? wanted(input) : wanted(weight);
  // ATen copies what lies otherwise.
  if (!input.is_contiguous(format) || !weight.is_contiguous(format)) {
    return nullptr;
  }
  const auto dimensions = static_cast<size_t>(input.dim() - 2);
  const auto strides = along_image(arguments[1], dimensions, 1), padding = along_image(arguments[2], dimensions, 0),
             dilations = along_image(arguments[3], dimensions, 1);
  if (!strides || !padding || !dilations) {
    return nullptr;
  }
  std::vector<int64_t> sizes{input.size(0), weight.size(0)};
  for (size_t at = strides->size() - dimensions; at < strides->size(); ++at) {
    const auto dimension = static_cast<int64_t>(at + 2 - (strides->size() - dimensions));
    const int64_t reach = (*dilations)[at] * (weight.size(dimension) - 1);
    sizes.push_back((input.size(dimension) + 2 * (*padding)[at] - reach - 1) / (*strides)[at] + 1);
  }
  auto found = std::make_unique<Convolution>(operands, Windows{*strides, *padding, *dilations}, sizes, format);
  return found->choose_next() ? std::move(found) : nullptr;
}

}  // namespace passhost
