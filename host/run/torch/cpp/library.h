// Functions of the libraries that libtorch has loaded.
#pragma once

#include <ATen/core/Tensor.h>
#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace passhost {

// A function that libtorch_cuda exports, or a library behind it.
template <typename F>
struct Export;
template <typename R, typename... A>
struct Export<R(A...)> {
  R (*function)(A...);
  explicit Export(const char* name) : function(reinterpret_cast<R (*)(A...)>(dlsym(RTLD_DEFAULT, name))) {
    if (function == nullptr) {
      throw std::runtime_error(std::string("libtorch has not loaded ") + name);
    }
  }
  R operator()(A... arguments) const { return function(arguments...); }
};

// The largest power of two, up to 256, that its address is a multiple of.
inline uint32_t alignment(const at::Tensor& tensor) {
  const auto address = reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) | 256;
  return static_cast<uint32_t>(address & -address);
}

}  // namespace passhost
