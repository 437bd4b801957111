#include "view.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace passhost {

// Outside inference mode autograd keeps account of views.
bool PreparedView::run(const at::Tensor& operand, rust::Vec<size_t>& results) const {
  if (results_.empty() || operand.scalar_type() != type_ || operand.sizes() != sizes_ ||
      operand.strides() != strides_ || !c10::InferenceMode::is_enabled()) {
    return false;
  }
  results.reserve(results_.size());
  for (const Result& result : results_) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
        c10::TensorImpl::VIEW, c10::Storage(operand.storage()), operand.key_set(), operand.dtype());
    view.unsafeGetTensorImpl()->set_storage_offset(operand.storage_offset() + result.offset);
    view.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes, result.strides);
    results.push_back(reinterpret_cast<size_t>(new at::Tensor(std::move(view))));
  }
  return true;
}

void PreparedView::learn(const at::Tensor& operand, const rust::Vec<size_t>& results) {
  results_.clear();
  for (size_t address : results) {
    const at::Tensor& result = *reinterpret_cast<const at::Tensor*>(address);
    if (!result.is_alias_of(operand) || result.dtype() != operand.dtype()) {
      results_.clear();
      return;
    }
    results_.push_back(
        {result.sizes().vec(), result.strides().vec(), result.storage_offset() - operand.storage_offset()});
  }
  type_ = operand.scalar_type();
  sizes_ = operand.sizes().vec();
  strides_ = operand.strides().vec();
}

}  // namespace passhost
