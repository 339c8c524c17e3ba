// A call of an op as text, so that any op can be measured by itself:
// "conv_2d f32[64,56,56] f32[64,64,3,3] stride_y=1 stride_x=1 dilation_y=1 dilation_x=1 groups=1".
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {
struct OpDef;
}

namespace reprise::bench {

/// The op, its operands in the order of its schema, and its attributes; those that are not given
/// are 0. An operand is a dtype and dimensions, "q8_0[768,2048]"; "{1,0,2}" behind them permutes
/// it; "-" leaves out an optional one. Operands at the end may be left out likewise.
class OpText {
 public:
  /// Errors: unknown_name for the op or an attribute; invalid_argument for any other text.
  explicit OpText(std::string_view text);
  const std::string& text() const { return text_; }
  const OpDef& op() const { return *op_; }
  /// Operands on the device: numbers from a normal distribution, and row numbers within the table
  /// that they are of.
  /// Errors: unsupported for dtypes that are not encoded here.
  std::vector<Tensor> operands(const Device& device) const;
  /// Operands that `make` returns for the number of an operand and its shape, then permuted.
  using Make = std::function<Tensor(std::size_t operand, const TensorSpec& spec)>;
  std::vector<Tensor> operands(const Make& make) const;
  /// Errors: those of the op.
  void record(GraphSession& session, const std::vector<Tensor>& operands) const;

 private:
  struct Operand {
    bool absent = false;
    DType dtype = DType::f32;
    std::vector<std::int64_t> dims;
    std::vector<std::size_t> axes;  // empty: as they are
  };
  Tensor operand(const Device& device, std::size_t i, const TensorSpec& spec) const;
  void add_operand(std::string_view word);
  void set_attribute(std::string_view word);

  std::string text_;
  const OpDef* op_;
  std::vector<Operand> operands_;
  std::vector<std::byte> attributes_;
};

}  // namespace reprise::bench
