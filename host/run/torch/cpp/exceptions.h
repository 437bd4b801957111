// How exceptions of libtorch reach Rust.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <string>

namespace rust::behavior {

// cxx calls this around every function that may throw. The default asks for `what()`, and libtorch's carries a
// backtrace whose symbols take a tenth of a second to look up: far too long for a question about types that is
// answered with no.
template <typename Try, typename Fail>
static void trycatch(Try&& call, Fail&& fail) noexcept {
  try {
    call();
  } catch (const c10::OutOfMemoryError& error) {
    // The marks by which `OpError` knows this kind and the next: a message is all that crosses.
    fail(std::string("\x1f") + error.what_without_backtrace());
  } catch (const c10::NotImplementedError& error) {
    fail(std::string("\x1e") + error.what_without_backtrace());
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("libtorch threw something that is no exception");
  }
}

}  // namespace rust::behavior
