// What tests of host steps share: sessions on both backends, with and without device memory that
// the host can reach, and in both forms of recordings.
#pragma once
#include <algorithm>

#include "tests/testing.h"

namespace reprise::testing {

using Values = std::vector<float>;

/// A device, whether the host reaches its memory through copies alone, and the form of recordings.
struct HostStepPlace {
  std::string device;
  bool mapped = true;
  bool joined = false;
};

class HostStepSessions : public ::testing::TestWithParam<HostStepPlace> {
 protected:
  static Device open(const HostStepPlace& where) {
    if (where.mapped) {
      return test_device(where.device);
    }
    OpenOptions options = test_options(where.device);
    options.map_device_memory = false;
    return open_device(where.device, options);
  }
  GraphSession begin(bool recorded, SessionOptions options = {}) {
    return recorded ? executor_.begin_recorded(std::move(options))
                    : executor_.begin(std::move(options));
  }
  static FinishResult finish(GraphSession& s, bool recorded = true) {
    return s.finish({.joined_host_steps = recorded && GetParam().joined});
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = open(GetParam());
  GraphExecutor executor_{device_};
  Values x_{4, 1, 3, 2};
  TensorSpec spec_{{4}, DType::f32};
};

inline void sort_values(HostStepCall& call) {
  const auto from = call.input<float>(0);
  const auto to = call.output<float>(0);
  std::ranges::copy(from, to.begin());
  std::ranges::sort(to);
}

inline auto host_step_places() {
  return ::testing::Values(HostStepPlace{"cpu"}, HostStepPlace{"cpu", false},
                           HostStepPlace{"cpu", true, true}, HostStepPlace{"vulkan"},
                           HostStepPlace{"vulkan", false}, HostStepPlace{"vulkan", true, true});
}
inline std::string name_of_place(const ::testing::TestParamInfo<HostStepSessions::ParamType>& p) {
  return p.param.device + (p.param.mapped ? "" : "_through_copies") +
         (p.param.joined ? "_joined" : "");
}

}  // namespace reprise::testing
