#include "product.h"

#include "library.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace passhost {

namespace {

// Of cublas_api.h, cublasLt.h and library_types.h, which need not be there where this is compiled.
enum DataType : int { kFloat = 0, kHalf = 2, kBFloat16 = 14 };
enum Compute : int { kCompute = 68, kComputeTf32 = 77 };
enum Description : int { kTransA = 3, kTransB = 4, kEpilogue = 7, kBiasPointer = 8 };
enum MatrixAttribute : int { kBatches = 5, kBatchStride = 6 };
enum Preference : int { kMostWorkspace = 1, kLeastAlignment = 5 };  // of A; then of B, C and D
constexpr int kPlain = 1, kAddsBias = 4;

struct Algorithm {
  uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

struct Library {
  Export<void*()> handle{"_ZN2at4cuda24getCurrentCUDABlasHandleEv"};
  Export<size_t()> workspace_size{"_ZN2at4cuda26getCUDABlasLtWorkspaceSizeEv"};
  Export<int(void**, size_t)> allocate{"cudaMalloc"};
  Export<int(void*)> free{"cudaFree"};
  Export<int()> forget_error{"cudaGetLastError"};
  Export<int(void*, void**)> stream{"cublasGetStream_v2"};
  Export<int(void**)> create{"cublasLtCreate"};
  Export<int(void**, int, int)> describe{"cublasLtMatmulDescCreate"};
  Export<int(void*)> free_description{"cublasLtMatmulDescDestroy"};
  Export<int(void*, int, const void*, size_t)> set{"cublasLtMatmulDescSetAttribute"};
  Export<int(void**, int, uint64_t, uint64_t, int64_t)> matrix{"cublasLtMatrixLayoutCreate"};
  Export<int(void*)> free_matrix{"cublasLtMatrixLayoutDestroy"};
  Export<int(void*, int, const void*, size_t)> set_matrix{"cublasLtMatrixLayoutSetAttribute"};
  Export<int(void**)> prefer{"cublasLtMatmulPreferenceCreate"};
  Export<int(void*)> free_preference{"cublasLtMatmulPreferenceDestroy"};
  Export<int(void*, int, const void*, size_t)> set_preference{"cublasLtMatmulPreferenceSetAttribute"};
  Export<int(void*, void*, void*, void*, void*, void*, void*, int, Choice*, int*)> choose{
      "cublasLtMatmulAlgoGetHeuristic"};
  Export<int(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*,
             void*, const Algorithm*, void*, size_t, void*)>
      multiply{"cublasLtMatmul"};
  Export<int(void*, int, int, int, int, int, const float*, const void*, int, const void*, int, const float*, void*, int)>
      multiply_floats{"cublasSgemm_v2"};
  Export<int(void*, int, int, int, int, int, const float*, const void*, int, int64_t, const void*, int, int64_t,
             const float*, void*, int, int64_t, int)>
      multiply_batches{"cublasSgemmStridedBatched"};
};

const Library& library() {
  static const Library found;
  return found;
}

// What products of one stream are called with. libtorch sets its own handle up before each call.
struct Handle {
  void* handle = nullptr;
  void* stream = nullptr;
  void* workspace = nullptr;
  size_t size = 0;
  // Held over a call: it may launch several kernels that hand results on in the workspace. A recorded launch of another
  // thread on this stream is not kept from between them.
  mutable std::mutex mutex;
};

// That of the current stream, of this GPU. It stays: recorded launches use the workspace. That is no memory of
// libtorch's, so that it is no part of what a program takes.
const Handle* own_handle(c10::DeviceIndex gpu) {
  static std::mutex mutex;
  static std::map<std::pair<c10::DeviceIndex, void*>, Handle> handles;
  const auto& lib = library();
  void* stream = nullptr;
  if (lib.stream(lib.handle(), &stream) != 0) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = handles.try_emplace({gpu, stream});
  Handle& own = place->second;
  if (is_new) {
    own.stream = stream;
    own.size = lib.workspace_size();
    if (lib.allocate(&own.workspace, own.size) != 0 || lib.create(&own.handle) != 0) {
      lib.free(own.workspace);
      lib.forget_error();
      own.handle = own.workspace = nullptr;
    }
  }
  return own.handle != nullptr ? &own : nullptr;
}

// Some dimensions as one: how many elements, and from one to the next.
struct Dimension {
  int64_t count = 1;
  int64_t stride = 0;
};

// The first ones of a tensor. Nothing where they are not evenly spaced.
std::optional<Dimension> merged(const at::Tensor& tensor, int64_t dimensions) {
  Dimension all;
  for (int64_t at = dimensions - 1; at >= 0; --at) {
    const int64_t size = tensor.size(at), stride = tensor.stride(at);
    if (size != 1 && all.count != 1 && stride != all.stride * all.count) {
      return std::nullopt;
    }
    all.stride = size != 1 && all.count == 1 ? stride : all.stride;
    all.count *= size;
  }
  return all;
}

// A matrix as cuBLAS has it: column by column, or transposed.
struct Matrix {
  uint64_t rows, columns;
  int64_t leading;
  int transposed;
};

// Nothing where elements are neighbours along no side.
std::optional<Matrix> matrix(Dimension rows, Dimension columns) {
  const auto as_it_is = [](Dimension inner, Dimension outer, int transposed) {
    const int64_t leading = outer.count == 1 ? inner.count : outer.stride;
    return Matrix{static_cast<uint64_t>(inner.count), static_cast<uint64_t>(outer.count), leading, transposed};
  };
  const auto is_dense = [](Dimension inner, Dimension outer) {
    return (inner.count == 1 || inner.stride == 1) && (outer.count == 1 || outer.stride >= inner.count);
  };
  if (is_dense(rows, columns)) {
    return as_it_is(rows, columns, 0);
  }
  return is_dense(columns, rows) ? std::optional(as_it_is(columns, rows, 1)) : std::nullopt;
}

// A product of a layout. In the order of columns it is that of the second factor and the first.
struct Product : LibraryCall {
  size_t first = 0;
  at::ScalarType element{};
  std::optional<size_t> bias;
  std::vector<int64_t> sizes;
  const Handle* own = nullptr;
  void* description = nullptr;
  std::array<void*, 3> matrices{};
  // What cuBLASLt would take, the first one first.
  std::array<Choice, 8> choices{};
  int count = 0, chosen = 0;
  std::array<Matrix, 3> shapes{};
  std::array<Dimension, 3> batches{};
  // Whether cuBLAS is asked by the function that chooses each time, as ATen asks for products of f32 without a bias.
  bool chooses_anew = false;

  ~Product() override {
    const auto& lib = library();
    std::for_each(matrices.begin(), matrices.end(), [&](void* one) { one != nullptr ? lib.free_matrix(one) : 0; });
    description != nullptr ? lib.free_description(description) : 0;
  }

  // Describes it and chooses an algorithm, as ATen does before each call. False if there is none.
  bool prepare(const Operands& operands, bool rounds) {
    const auto& lib = library();
    element = operands[first]->scalar_type();
    const int type = element == at::kFloat ? kFloat : element == at::kHalf ? kHalf : kBFloat16;
    void* preference = nullptr;
    own = own_handle(operands[first]->device().index());
    const int compute = rounds && element == at::kFloat ? kComputeTf32 : kCompute;
    if (own == nullptr || lib.describe(&description, compute, kFloat) != 0 ||
        lib.prefer(&preference) != 0) {
      return false;
    }
    bool is_ready = true;
    for (size_t at = 0; at < matrices.size(); ++at) {
      const int count = static_cast<int>(batches[at].count);
      const auto& [rows, columns, leading, transposed] = shapes[at];
      is_ready = is_ready && count == batches[at].count &&
          lib.matrix(&matrices[at], type, rows, columns, leading) == 0 &&
          lib.set_matrix(matrices[at], kBatches, &count, sizeof count) == 0 &&
          lib.set_matrix(matrices[at], kBatchStride, &batches[at].stride, sizeof(int64_t)) == 0;
    }
    const int epilogue = bias ? kAddsBias : kPlain;
    lib.set(description, kTransA, &shapes[0].transposed, sizeof(int));
    lib.set(description, kTransB, &shapes[1].transposed, sizeof(int));
    lib.set(description, kEpilogue, &epilogue, sizeof epilogue);
    lib.set_preference(preference, kMostWorkspace, &own->size, sizeof own->size);
    // The result is fresh memory of libtorch's.
    const std::array<uint32_t, 4> least{alignment(*operands[first + 1]), alignment(*operands[first]), 256,
                                        bias ? alignment(*operands[*bias]) : 256};
    for (size_t at = 0; at < least.size(); ++at) {
      lib.set_preference(preference, kLeastAlignment + static_cast<int>(at), &least[at], sizeof(uint32_t));
    }
    is_ready = is_ready && set_bias(operands) &&
        lib.choose(own->handle, description, matrices[0], matrices[1], matrices[2], matrices[2], preference,
                   static_cast<int>(choices.size()), choices.data(), &count) == 0;
    lib.free_preference(preference);
    return is_ready && count > 0;
  }

  bool set_bias(const Operands& operands) const {
    const void* address = bias ? operands[*bias]->const_data_ptr() : nullptr;
    return !bias || library().set(description, kBiasPointer, &address, sizeof address) == 0;
  }

  bool choose_next() override {
    if (chooses_anew) {
      return false;
    }
    chosen += 1;
    chooses_anew = chosen == count && !bias && element == at::kFloat;
    return chooses_anew || chosen < count;
  }

  at::Tensor run(const Operands& operands) const override {
    constexpr c10::DispatchKeySet keys(c10::DispatchKey::CUDA);
    auto* allocator = c10::GetAllocator(c10::kCUDA);
    const at::Tensor out(at::detail::empty_generic(sizes, allocator, keys, element, std::nullopt));
    const float one = 1, zero = 0;
    void* data = out.data_ptr();
    if (chooses_anew) {
      return multiply_anew(operands, data) ? out : at::Tensor();
    }
    const std::lock_guard<std::mutex> lock(own->mutex);
    const bool has_run = set_bias(operands) &&
        library().multiply(own->handle, description, &one, operands[first + 1]->const_data_ptr(), matrices[0],
                           operands[first]->const_data_ptr(), matrices[1], &zero, data, matrices[2], data, matrices[2],
                           &choices[chosen].algorithm, own->workspace, own->size, own->stream) == 0;
    return has_run ? out : at::Tensor();
  }

  // By libtorch's own handle, with its stream, workspace and settings.
  bool multiply_anew(const Operands& operands, void* out) const {
    const auto& lib = library();
    const auto& [a, b, c] = shapes;
    const float one = 1, zero = 0;
    const auto number = [](auto value) { return static_cast<int>(value); };
    const int rows = number(c.rows), columns = number(c.columns), terms = number(a.transposed != 0 ? a.rows : a.columns);
    const int along_a = number(a.leading), along_b = number(b.leading), along_c = number(c.leading);
    const void *first_of_a = operands[first + 1]->const_data_ptr(), *first_of_b = operands[first]->const_data_ptr();
    void* const handle = lib.handle();
    if (batches[2].count == 1) {
      return lib.multiply_floats(handle, a.transposed, b.transposed, rows, columns, terms, &one, first_of_a, along_a,
                                 first_of_b, along_b, &zero, out, along_c) == 0;
    }
    return lib.multiply_batches(handle, a.transposed, b.transposed, rows, columns, terms, &one, first_of_a, along_a,
                                batches[0].stride, first_of_b, along_b, batches[1].stride, &zero, out, along_c,
                                batches[2].stride, number(batches[2].count)) == 0;
  }
};

}  // namespace

bool is_product(const std::string& op, const std::vector<c10::IValue>& arguments) {
  static const std::array<const char*, 5> ops{"aten::mm", "aten::bmm", "aten::matmul", "aten::linear", "aten::addmm"};
  // Whatever else an op takes is what it is by default: a sum that is scaled is another call.
  const auto is_plain = [](const c10::IValue& value) {
    return value.isNone() || (value.isScalar() && value.toScalar().equal(1));
  };
  return std::find(ops.begin(), ops.end(), op) != ops.end() &&
      std::all_of(arguments.begin(), arguments.end(), is_plain);
}

std::unique_ptr<LibraryCall> product(const std::string& op, const Operands& operands, bool rounds) {
  const bool is_linear = op == "aten::linear", adds_first = op == "aten::addmm";
  auto product = std::make_unique<Product>();
  product->first = adds_first ? 1 : 0;
  const at::Tensor &a = *operands[product->first], &b = *operands[product->first + 1];
  const at::ScalarType type = a.scalar_type();
  const auto is_of_type = [&](const at::Tensor* operand) {
    return operand->is_cuda() && operand->scalar_type() == type && operand->numel() > 0;
  };
  const int64_t before = a.dim() - 2;
  if ((type != at::kFloat && type != at::kHalf && type != at::kBFloat16) ||
      !std::all_of(operands.begin(), operands.end(), is_of_type) || before < 0 || b.dim() < 2) {
    return nullptr;
  }
  // A matrix as second factor makes rows of batches.
  const bool has_batches = b.dim() > 2;
  if (has_batches && (a.dim() != b.dim() || a.sizes().slice(0, before) != b.sizes().slice(0, before))) {
    return nullptr;
  }
  const auto along = [](const at::Tensor& tensor, int64_t at) { return Dimension{tensor.size(at), tensor.stride(at)}; };
  const auto rows = has_batches ? along(a, -2) : merged(a, before + 1);
  const auto batched = [&](const at::Tensor& factor) { return merged(factor, has_batches ? before : 0); };
  const std::array batches{batched(b), batched(a)};
  // A linear layer's weight has a row for each column of the result.
  const Dimension columns = along(b, is_linear ? -2 : -1), terms = along(b, is_linear ? -1 : -2);
  if (!rows || !batches[0] || !batches[1]) {
    return nullptr;
  }
  const auto second = matrix(columns, terms), first = matrix(along(a, -1), *rows);
  if (!first || !second) {
    return nullptr;
  }
  product->sizes = a.sizes().vec();
  product->sizes.back() = columns.count;
  if (operands.size() > 2) {
    product->bias = adds_first ? 0 : 2;
    const at::Tensor& bias = *operands[*product->bias];
    if (has_batches || bias.dim() != 1 || bias.size(0) != columns.count || !bias.is_contiguous()) {
      return nullptr;
    }
  }
  const Matrix out{static_cast<uint64_t>(columns.count), static_cast<uint64_t>(rows->count), columns.count, 0};
  const Dimension results{batches[0]->count, columns.count * rows->count};
  product->shapes = {*second, *first, out};
  product->batches = {*batches[0], *batches[1], results};
  return product->prepare(operands, rounds) ? std::move(product) : nullptr;
}

}  // namespace passhost
