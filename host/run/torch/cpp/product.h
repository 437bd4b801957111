// Products of matrices as single calls of the copy of cuBLAS that libtorch has loaded.
#pragma once

#include "prepared.h"

namespace passhost {

// Whether an op is a product, with these arguments beside its operands.
bool is_product(const std::string& op, const std::vector<c10::IValue>& arguments);

// The product that it is for these operands, as ATen describes it, whether or not it rounds factors of f32. Nothing where ATen
// makes several calls.
std::unique_ptr<LibraryCall> product(const std::string& op, const Operands& operands, bool rounds);

}  // namespace passhost
