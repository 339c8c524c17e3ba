// Views of persistent tensors outside of sessions: the same checks and rules, nothing recorded.
#include <array>
#include <string>
#include <utility>

#include "framework/core/op.h"
#include "reprise/ops/views.h"

namespace reprise {
namespace {

class NoSession final : public Recorder {
 public:
  /// `what` of the view, after the name of the tensor it is of.
  explicit NoSession(std::string what) : what_(std::move(what)) {}
  std::string tensor_name(const TensorRecord& tensor) const override {
    return tensor.name.empty() ? "" : "'" + tensor.name + "'";
  }
  /// No file and line: functions without a Site do not know who calls them.
  Site site() { return {*this, "", "", 0}; }

 private:
  void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) override {
    const TensorRecord& x = *call.inputs[0];
    x.buffer->require_alive();
    results[0] = Tensor::over(x.buffer, outputs.specs[0], x.offset + outputs.offset,
                              x.name.empty() ? "" : x.name + "." + what_);
  }
  void require_open() const override {}
  std::uint32_t open_scope(std::uint32_t outer, std::string_view /*name*/,
                           std::int32_t /*index*/) override {
    return outer;
  }
  std::string scope_path(std::uint32_t /*scope*/) const override { return {}; }
  std::string_view session_name() const override { return "outside of sessions"; }
  std::uint32_t op_count() const override { return 0; }

  std::string what_;
};

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) {
    text += (text.empty() ? "(" : ", ") + std::to_string(number);
  }
  return text + ")";
}

}  // namespace

Tensor reshape(TensorRef x, const Shape& shape) {
  return reshape(NoSession("reshape" + to_string(shape)).site(), x, shape);
}

Tensor permute(TensorRef x, std::span<const std::size_t> axes) {
  return permute(NoSession("permute" + list_of(axes)).site(), x, axes);
}

Tensor slice(TensorRef x, std::size_t dim, std::int64_t start, std::int64_t length) {
  const std::array numbers{static_cast<std::int64_t>(dim), start, length};
  return slice(NoSession("slice" + list_of(numbers)).site(), x, dim, start, length);
}

}  // namespace reprise
