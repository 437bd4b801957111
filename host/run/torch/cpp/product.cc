#include "product.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace passhost {

namespace {

// Of cublas_api.h, cublasLt.h and library_types.h, which need not be there where this is compiled.
enum : int {
  kFloat = 0,
  kHalf = 2,
  kBFloat16 = 14,
  kCompute = 68,
  kComputeTf32 = 77,
  kTensorOps = 99,
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kEpilogueBias = 4,
  kMostWorkspace = 1,
  kLeastAlignment = 5,  // of A; then B, C and D
};
// How often a product must give what ATen gives before it stands for it.
constexpr int kAgreed = 2;

using Handle = void*;
using MatrixLayout = void*;

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

// What libtorch_cuda and the libraries behind it export.
template <typename F>
F* found(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) {
    throw std::runtime_error(std::string("libtorch has not loaded ") + name);
  }
  return reinterpret_cast<F*>(symbol);
}

struct Library {
  Handle (*handle)() = found<Handle()>("_ZN2at4cuda24getCurrentCUDABlasHandleEv");
  void* (*workspace)() = found<void*()>("_ZN2at4cuda22getCUDABlasLtWorkspaceEv");
  size_t (*workspace_size)() = found<size_t()>("_ZN2at4cuda26getCUDABlasLtWorkspaceSizeEv");
  int (*stream)(Handle, void**) = found<int(Handle, void**)>("cublasGetStream_v2");
  int (*capturing)(void*, int*) = found<int(void*, int*)>("cudaStreamIsCapturing");
  using Sgemm = int(Handle, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*, int);
  Sgemm* sgemm = found<Sgemm>("cublasSgemm_v2");
  using SgemmBatched = int(Handle, int, int, int, int, int, const void*, const void*, int, long long, const void*, int,
                           long long, const void*, void*, int, long long, int);
  SgemmBatched* sgemm_batched = found<SgemmBatched>("cublasSgemmStridedBatched");
  using Gemm = int(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
                   void*, int, int, int, int);
  Gemm* gemm = found<Gemm>("cublasGemmEx");
  using GemmBatched = int(Handle, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int,
                          int, long long, const void*, void*, int, int, long long, int, int, int);
  GemmBatched* gemm_batched = found<GemmBatched>("cublasGemmStridedBatchedEx");
  int (*make_desc)(void**, int, int) = found<int(void**, int, int)>("cublasLtMatmulDescCreate");
  int (*free_desc)(void*) = found<int(void*)>("cublasLtMatmulDescDestroy");
  using Set = int(void*, int, const void*, size_t);
  Set* set_desc = found<Set>("cublasLtMatmulDescSetAttribute");
  int (*make_layout)(void**, int, uint64_t, uint64_t, int64_t) =
      found<int(void**, int, uint64_t, uint64_t, int64_t)>("cublasLtMatrixLayoutCreate");
  int (*free_layout)(void*) = found<int(void*)>("cublasLtMatrixLayoutDestroy");
  int (*make_preference)(void**) = found<int(void**)>("cublasLtMatmulPreferenceCreate");
  int (*free_preference)(void*) = found<int(void*)>("cublasLtMatmulPreferenceDestroy");
  Set* set_preference = found<Set>("cublasLtMatmulPreferenceSetAttribute");
  using Choose = int(Handle, void*, MatrixLayout, MatrixLayout, MatrixLayout, MatrixLayout, void*, int, Heuristic*, int*);
  Choose* choose = found<Choose>("cublasLtMatmulAlgoGetHeuristic");
  using Matmul = int(Handle, void*, const void*, const void*, MatrixLayout, const void*, MatrixLayout, const void*,
                     const void*, MatrixLayout, void*, MatrixLayout, const Algorithm*, void*, size_t, void*);
  Matmul* matmul = found<Matmul>("cublasLtMatmul");
};

const Library& library() {
  static const Library found;
  return found;
}

// A matrix as cuBLAS has it, column by column: which dimension is the inner one, and from one column to the next.
struct Matrix {
  int transposed;
  int64_t leading;
};

// The same for `inner` by `outer` elements at these strides. Nothing where neither are neighbours.
std::optional<Matrix> matrix(int64_t inner, int64_t inner_stride, int64_t outer, int64_t outer_stride) {
  if ((inner == 1 || inner_stride == 1) && (outer == 1 || outer_stride >= inner)) {
    return Matrix{0, outer == 1 ? inner : outer_stride};
  }
  if ((outer == 1 || outer_stride == 1) && (inner == 1 || inner_stride >= outer)) {
    return Matrix{1, inner == 1 ? outer : inner_stride};
  }
  return std::nullopt;
}

// Some dimensions as one: how many elements, and from one to the next.
struct Dimension {
  int64_t count = 1;
  int64_t stride = 0;
};

std::optional<Dimension> merged(const at::Tensor& tensor, int64_t behind) {
  Dimension all;
  for (int64_t at = behind - 1; at >= 0; --at) {
    if (tensor.size(at) == 1) {
      continue;
    }
    if (all.count > 1 && tensor.stride(at) != all.stride * all.count) {
      return std::nullopt;
    }
    all.stride = all.count == 1 ? tensor.stride(at) : all.stride;
    all.count *= tensor.size(at);
  }
  return all;
}

// The largest power of two, up to 256, that its address is a multiple of.
uint32_t alignment(const at::Tensor& tensor) {
  const auto address = reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) | 256;
  return static_cast<uint32_t>(address & -address);
}

class Gemm : public Product {
 public:
  // In the order of columns the product of A and B is that of B and A in the order of rows.
  at::Tensor run(const Operands& operands) const override {
    at::Tensor out = at::empty(sizes, operands[first]->options());
    const auto& lib = library();
    const float one = 1, zero = 0;
    const void* a = operands[second]->const_data_ptr();
    const void* b = operands[first]->const_data_ptr();
    void* c = out.data_ptr();
    Handle handle = lib.handle();
    const int data = data_type();
    int status = 0;
    if (batches == 1 && type == at::kFloat) {
      status = lib.sgemm(handle, sides[0].transposed, sides[1].transposed, m, n, k, &one, a, ld(0), b, ld(1), &zero, c, m);
    } else if (batches == 1) {
      status = lib.gemm(handle, sides[0].transposed, sides[1].transposed, m, n, k, &one, a, data, ld(0), b, data, ld(1), &zero, c,
                        data, m, kCompute, kTensorOps);
    } else if (type == at::kFloat) {
      status = lib.sgemm_batched(handle, sides[0].transposed, sides[1].transposed, m, n, k, &one, a, ld(0), strides[0], b, ld(1),
                                 strides[1], &zero, c, m, static_cast<long long>(m) * n, batches);
    } else {
      status = lib.gemm_batched(handle, sides[0].transposed, sides[1].transposed, m, n, k, &one, a, data, ld(0), strides[0], b,
                                data, ld(1), strides[1], &zero, c, data, m, static_cast<long long>(m) * n, batches, kCompute,
                                kTensorOps);
    }
    return status == 0 ? out : at::Tensor();
  }

  int data_type() const { return type == at::kFloat ? kFloat : type == at::kHalf ? kHalf : kBFloat16; }
  int ld(size_t side) const { return static_cast<int>(sides[side].leading); }

  at::ScalarType type;
  std::vector<int64_t> sizes;
  // Which operand is which factor.
  size_t first, second;
  // As cuBLAS has them: columns of the second factor, rows of the first, terms.
  int m, n, k, batches = 1;
  std::array<Matrix, 2> sides;
  std::array<long long, 2> strides{};
};

// A product to which the library adds a row.
class GemmWithBias final : public Gemm {
 public:
  GemmWithBias(Gemm gemm, size_t bias) : Gemm(std::move(gemm)), bias_(bias) {}
  GemmWithBias(const GemmWithBias&) = delete;
  GemmWithBias& operator=(const GemmWithBias&) = delete;

  ~GemmWithBias() override {
    const auto& lib = library();
    for (MatrixLayout layout : layouts_) {
      lib.free_layout(layout);
    }
    lib.free_desc(desc_);
  }

  // Chooses an algorithm, as ATen does before each call. False if there is none.
  bool choose(const Operands& operands) {
    const auto& lib = library();
    const int compute = type == at::kFloat && at::globalContext().allowTF32CuBLAS() ? kComputeTf32 : kCompute;
    const int epilogue = kEpilogueBias;
    const void* bias = operands[bias_]->const_data_ptr();
    const std::array<int64_t, 6> shapes{sides[0].transposed ? k : m, sides[0].transposed ? m : k, sides[1].transposed ? n : k,
                                        sides[1].transposed ? k : n, m, n};
    const std::array<int64_t, 3> leading{sides[0].leading, sides[1].leading, m};
    bool is_made = lib.make_desc(&desc_, compute, kFloat) == 0;
    for (size_t side = 0; side < 3; ++side) {
      is_made = is_made && lib.make_layout(&layouts_[side], data_type(), shapes[2 * side], shapes[2 * side + 1], leading[side]) == 0;
    }
    void* preference = nullptr;
    if (!is_made || lib.make_preference(&preference) != 0) {
      return false;
    }
    lib.set_desc(desc_, kTransA, &sides[0].transposed, sizeof(int));
    lib.set_desc(desc_, kTransB, &sides[1].transposed, sizeof(int));
    lib.set_desc(desc_, kEpilogue, &epilogue, sizeof epilogue);
    lib.set_desc(desc_, kBiasPointer, &bias, sizeof bias);
    workspace_size_ = lib.workspace_size();
    lib.set_preference(preference, kMostWorkspace, &workspace_size_, sizeof workspace_size_);
    // The result is fresh memory of libtorch's, which lies at multiples of more.
    const std::array<uint32_t, 4> least{alignment(*operands[second]), alignment(*operands[first]), 256,
                                        alignment(*operands[bias_])};
    for (size_t side = 0; side < least.size(); ++side) {
      lib.set_preference(preference, kLeastAlignment + static_cast<int>(side), &least[side], sizeof(uint32_t));
    }
    Heuristic chosen{};
    int count = 0;
    const int status = lib.choose(lib.handle(), desc_, layouts_[0], layouts_[1], layouts_[2], layouts_[2], preference, 1, &chosen, &count);
    lib.free_preference(preference);
    algorithm_ = chosen.algorithm;
    return status == 0 && count > 0;
  }

  at::Tensor run(const Operands& operands) const override {
    at::Tensor out = at::empty(sizes, operands[first]->options());
    const auto& lib = library();
    const float one = 1, zero = 0;
    const void* bias = operands[bias_]->const_data_ptr();
    Handle handle = lib.handle();
    void* stream = nullptr;
    if (lib.set_desc(desc_, kBiasPointer, &bias, sizeof bias) != 0 || lib.stream(handle, &stream) != 0) {
      return at::Tensor();
    }
    const int status = lib.matmul(handle, desc_, &one, operands[second]->const_data_ptr(), layouts_[0],
                                  operands[first]->const_data_ptr(), layouts_[1], &zero, out.data_ptr(), layouts_[2],
                                  out.data_ptr(), layouts_[2], &algorithm_, lib.workspace(), workspace_size_, stream);
    return status == 0 ? out : at::Tensor();
  }

 private:
  size_t bias_;
  void* desc_ = nullptr;
  std::array<MatrixLayout, 3> layouts_{};
  Algorithm algorithm_{};
  size_t workspace_size_ = 0;
};

// Settings under which ATen adds up products of half types as the calls here do.
bool has_default_settings() {
  auto& context = at::globalContext();
  constexpr auto usual = at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  return !context.deterministicAlgorithms() && context.blasPreferredBackend() == at::BlasBackend::Cublas &&
      !context.allowFP16AccumulationCuBLAS() && context.allowFP16ReductionCuBLAS() == usual &&
      context.allowBF16ReductionCuBLAS() == usual;
}

// The product that an op is. Nothing where ATen makes another call, or several.
std::unique_ptr<Product> prepared(const std::string& op, const Operands& operands) {
  const bool is_linear = op == "aten::linear", adds_first = op == "aten::addmm";
  const size_t factors = adds_first ? 1 : 0;
  if (operands.size() < factors + 2 || !has_default_settings()) {
    return nullptr;
  }
  const at::Tensor &a = *operands[factors], &b = *operands[factors + 1];
  Gemm gemm;
  gemm.type = a.scalar_type();
  if (gemm.type != at::kFloat && gemm.type != at::kHalf && gemm.type != at::kBFloat16) {
    return nullptr;
  }
  for (const at::Tensor* operand : operands) {
    if (!operand->is_cuda() || operand->scalar_type() != gemm.type || operand->numel() == 0) {
      return nullptr;
    }
  }
  if (a.dim() < 2 || b.dim() < 2 || (b.dim() > 2 && (is_linear || a.dim() != b.dim()))) {
    return nullptr;
  }
  // The rows of the first factor, and the batches of both. A matrix as second factor makes rows of batches.
  const int64_t before = a.dim() - 2;
  const auto rows = b.dim() == 2 ? merged(a, before + 1) : std::optional(Dimension{a.size(-2), a.stride(-2)});
  const auto batch_a = merged(a, before), batch_b = merged(b, b.dim() - 2);
  if (!rows || (b.dim() > 2 && (!batch_a || !batch_b || a.sizes().slice(0, before) != b.sizes().slice(0, before)))) {
    return nullptr;
  }
  const int64_t terms = a.size(-1);
  // A linear layer's weight has a row for each column of the result.
  const int64_t across = is_linear ? -2 : -1, width = b.size(across);
  const auto second = matrix(width, b.stride(across), terms, b.stride(-3 - across));
  const auto first = matrix(terms, a.stride(-1), rows->count, rows->stride);
  if (!first || !second || std::max({rows->count, width, terms, first->leading, second->leading}) > INT_MAX) {
    return nullptr;
  }
  gemm.sizes = a.sizes().vec();
  gemm.sizes.back() = width;
  gemm.first = factors;
  gemm.second = factors + 1;
  gemm.m = static_cast<int>(width);
  gemm.n = static_cast<int>(rows->count);
  gemm.k = static_cast<int>(terms);
  gemm.sides = {*second, *first};
  if (b.dim() > 2) {
    gemm.batches = static_cast<int>(batch_a->count);
    gemm.strides = {batch_b->stride, batch_a->stride};
  }
  if (operands.size() == 2) {
    return std::make_unique<Gemm>(std::move(gemm));
  }
  const size_t bias = adds_first ? 0 : 2;
  if (b.dim() > 2 || operands[bias]->dim() != 1 || operands[bias]->size(0) != width || !operands[bias]->is_contiguous()) {
    return nullptr;
  }
  auto with_bias = std::make_unique<GemmWithBias>(std::move(gemm), bias);
  return with_bias->choose(operands) ? std::move(with_bias) : nullptr;
}

bool are_same(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() && one.scalar_type() == other.scalar_type() &&
      one.view(at::kByte).equal(other.view(at::kByte));
}

// Whether launches are noted down, so that nothing can be asked of the device.
bool is_capturing() {
  const auto& lib = library();
  void* stream = nullptr;
  int status = 0;
  return lib.stream(lib.handle(), &stream) != 0 || lib.capturing(stream, &status) != 0 || status != 0;
}

}  // namespace

bool Products::are_of(const std::string& op) {
  static const std::array<const char*, 5> ops{"aten::mm", "aten::bmm", "aten::matmul", "aten::linear", "aten::addmm"};
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

Products::Layout::Layout(const at::Tensor& tensor)
    : type(tensor.scalar_type()), sizes(tensor.sizes().vec()), strides(tensor.strides().vec()), alignment(passhost::alignment(tensor)) {}

bool Products::Layout::fits(const at::Tensor& tensor) const {
  return tensor.scalar_type() == type && tensor.sizes() == sizes && tensor.strides() == strides &&
      passhost::alignment(tensor) >= alignment;
}

bool Products::fit(const Operands& operands) const {
  return std::equal(layouts_.begin(), layouts_.end(), operands.begin(), operands.end(),
                    [](const Layout& layout, const at::Tensor* operand) { return layout.fits(*operand); });
}

at::Tensor Products::run(const Operands& operands) const {
  return product_ != nullptr && agreed_ >= kAgreed && fit(operands) ? product_->run(operands) : at::Tensor();
}

void Products::learn(const Operands& operands, const at::Tensor& expected) {
  if (!expected.is_cuda() || is_capturing()) {
    return;
  }
  if (layouts_.empty() || !fit(operands)) {
    layouts_.clear();
    for (const at::Tensor* operand : operands) {
      layouts_.emplace_back(*operand);
    }
    agreed_ = 0;
    product_ = prepared(op_, operands);
  }
  if (product_ != nullptr) {
    const at::Tensor found = product_->run(operands);
    agreed_ += 1;
    if (!found.defined() || !are_same(found, expected)) {
      product_ = nullptr;
    }
  }
}

}  // namespace passhost
