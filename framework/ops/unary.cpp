#include "reprise/ops/unary.h"

#include "framework/core/record.h"
#include "framework/ops/activations.h"
#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {
    "unary.cos", "unary.exp", "unary.gelu", "unary.gelu_erf", "unary.gelu_quick",
    "unary.log", "unary.neg", "unary.relu", "unary.sigmoid",  "unary.silu",
    "unary.sin", "unary.sqr", "unary.sqrt", "unary.tanh"};

template <class F>
void reference(const HostCall& call) {
  unary_reference(call, F());
}

template <std::uint64_t kOperations, class F>
constexpr OpDef function(std::string_view name, F /*f*/) {
  return unary_def(name, shaders_of(kShaders, name, 1), cost_per_element<kOperations>,
                   reference<F>);
}

}  // namespace

extern const OpDef cos_def, exp_def, gelu_def, gelu_erf_def, gelu_quick_def, log_def, neg_def,
    relu_def, sigmoid_def, silu_def, sin_def, sqr_def, sqrt_def, tanh_def;
constinit const OpDef cos_def = function<1>("cos", [](double x) { return std::cos(x); });
constinit const OpDef exp_def = function<1>("exp", [](double x) { return std::exp(x); });
constinit const OpDef gelu_def = function<8>("gelu", [](double x) { return gelu_of(x); });
constinit const OpDef gelu_erf_def = function<5>("gelu_erf", [](double x) {
  constexpr double kRootOfHalf = 0.70710678118654752;
  return x / 2 * std::erfc(-kRootOfHalf * x);
});
constinit const OpDef gelu_quick_def =
    function<5>("gelu_quick", [](double x) { return x / (1 + std::exp(-1.702 * x)); });
constinit const OpDef log_def = function<1>("log", [](double x) { return std::log(x); });
constinit const OpDef neg_def = function<1>("neg", [](double x) { return -x; });
constinit const OpDef relu_def = function<1>("relu", [](double x) { return x < 0 ? 0 : x; });
constinit const OpDef sigmoid_def = function<4>("sigmoid", [](double x) { return sigmoid_of(x); });
constinit const OpDef silu_def = function<4>("silu", [](double x) { return silu_of(x); });
constinit const OpDef sin_def = function<1>("sin", [](double x) { return std::sin(x); });
constinit const OpDef sqr_def = function<1>("sqr", [](double x) { return x * x; });
constinit const OpDef sqrt_def = function<1>("sqrt", [](double x) { return std::sqrt(x); });
constinit const OpDef tanh_def = function<1>("tanh", [](double x) { return std::tanh(x); });

}  // namespace reprise::ops

namespace reprise {

Tensor cos(Site site, TensorRef x) { return record(site, ops::cos_def, {x}); }
Tensor exp(Site site, TensorRef x) { return record(site, ops::exp_def, {x}); }
Tensor gelu(Site site, TensorRef x) { return record(site, ops::gelu_def, {x}); }
Tensor gelu_erf(Site site, TensorRef x) { return record(site, ops::gelu_erf_def, {x}); }
Tensor gelu_quick(Site site, TensorRef x) { return record(site, ops::gelu_quick_def, {x}); }
Tensor log(Site site, TensorRef x) { return record(site, ops::log_def, {x}); }
Tensor neg(Site site, TensorRef x) { return record(site, ops::neg_def, {x}); }
Tensor relu(Site site, TensorRef x) { return record(site, ops::relu_def, {x}); }
Tensor sigmoid(Site site, TensorRef x) { return record(site, ops::sigmoid_def, {x}); }
Tensor silu(Site site, TensorRef x) { return record(site, ops::silu_def, {x}); }
Tensor sin(Site site, TensorRef x) { return record(site, ops::sin_def, {x}); }
Tensor sqr(Site site, TensorRef x) { return record(site, ops::sqr_def, {x}); }
Tensor sqrt(Site site, TensorRef x) { return record(site, ops::sqrt_def, {x}); }
Tensor tanh(Site site, TensorRef x) { return record(site, ops::tanh_def, {x}); }

}  // namespace reprise
