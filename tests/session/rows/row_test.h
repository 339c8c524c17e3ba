// What the tests of capabilities share: a device, one of the two forms a pass runs in, and a tiny
// pass whose values are exact.
#pragma once
#include "reprise/backend/backend.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {

/// Where a pass runs, and whether as it is called or as a graph.
struct Form {
  std::string device;
  bool recorded = false;
};
/// For messages of gtest, which finds it by name.
inline void PrintTo(const Form& form, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << form.device << (form.recorded ? " recorded" : " direct");
}
inline std::string form_name(const ::testing::TestParamInfo<Form>& info) {
  return info.param.device + (info.param.recorded ? "_recorded" : "_direct");
}
inline auto both_forms() {
  return ::testing::Values(Form{"cpu", false}, Form{"cpu", true}, Form{"vulkan", false},
                           Form{"vulkan", true});
}

/// Param: the name of a device, or a Form.
template <class Param>
class RowTest : public ::testing::TestWithParam<Param> {
 protected:
  static std::string device_name() {
    if constexpr (std::is_same_v<Param, Form>) {
      return RowTest::GetParam().device;
    } else {
      return RowTest::GetParam();
    }
  }
  /// A device no other test has used: it has no pipelines yet.
  static Device fresh_device(const std::filesystem::path& pipeline_cache = {}) {
    OpenOptions options;
    options.validation = device_name() == "vulkan";
    options.pipeline_cache = pipeline_cache;
    return open_device(device_name(), options);
  }
  static bool recorded() { return RowTest::GetParam().recorded; }
  static GraphSession begin(GraphExecutor& executor, SessionOptions options = {}) {
    return recorded() ? executor.begin_recorded(std::move(options))
                      : executor.begin(std::move(options));
  }
  GraphSession begin(SessionOptions options = {}) { return begin(executor_, std::move(options)); }

  /// y = (x + x) * w
  void pass(GraphSession& s, const Tensor& x) const { s.output("y", mul(s, add(s, x, x), w_)); }
  void pass(GraphSession& s) const { pass(s, s.input("x", {4}, x_)); }
  static Floats result(const Floats& x) { return {2 * x[0], 20 * x[1], 200 * x[2], 2000 * x[3]}; }
  Floats host(const Tensor& tensor) const { return device_.to_host<float>(tensor); }
  std::uint64_t submissions() const { return device_.backend().last_submission(); }
  std::uint64_t allocations() const { return device_.backend().allocation_count(); }

  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(device_name());
  GraphExecutor executor_{device_};
  const Floats x_{1, 2, 3, 4}, other_{5, 6, 7, 8};
  Tensor w_ = device_.from_host({4}, Floats{1, 10, 100, 1000}, "w");
};

using DeviceRows = RowTest<std::string>;
using FormRows = RowTest<Form>;

}  // namespace reprise::testing
