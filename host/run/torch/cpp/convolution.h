// Convolutions as single calls of the copy of cuDNN that libtorch has loaded.
#pragma once

#include "prepared.h"

namespace passhost {

// Whether an op is a convolution without a bias, with these arguments beside its operands.
bool is_convolution(const std::string& op, const std::vector<c10::IValue>& arguments);

// The convolution of these operands, as ATen describes it, whether or not it rounds factors of f32. Nothing where ATen makes
// several calls.
std::unique_ptr<LibraryCall> convolution(const std::vector<c10::IValue>& arguments, const Operands& operands,
                                         bool rounds);

}  // namespace passhost
