// What cases of the conformance throw.
#include "tests/conformance/conformance.h"

namespace reprise::testing {

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw Nonconforming(what);
  }
}

void require_error(ErrorCode code, const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    require(error.code() == code, "expected " + std::string(name_of(code)) + ", but got " +
                                      std::string(name_of(error.code())) + ": " + error.what());
    return;
  }
  throw Nonconforming("expected " + std::string(name_of(code)) + ", but nothing was thrown");
}

}  // namespace reprise::testing
