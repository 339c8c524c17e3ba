#include "tests/debugger/synthetic_capture.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace reprise::testing {
namespace {

class CaptureBuilder {
 public:
  std::uint32_t add_tensor(const std::string& name, const std::string& role) {
    Capture::Tensor tensor;
    tensor.name = name;
    tensor.dtype = "f32";
    tensor.shape_json = "[1,64]";
    tensor.role = role;
    tensor.bytes = 256;
    capture_.tensors.push_back(std::move(tensor));
    writers_.emplace_back();
    return static_cast<std::uint32_t>(capture_.tensors.size() - 1);
  }

  /// The tensor that a new node writes.
  std::uint32_t add_node(const std::string& scope, const std::string& op,
                         const std::vector<std::uint32_t>& reads) {
    const auto node = static_cast<std::uint32_t>(capture_.nodes.size());
    const std::uint32_t output = add_tensor(scope + "/" + op, "activation");
    Capture::Node added;
    added.op = op;
    added.scope = scope;
    added.operands.first = static_cast<std::uint32_t>(capture_.operands.size());
    for (const std::uint32_t tensor : reads) {
      capture_.operands.push_back({"in", tensor, true, false});
      if (writers_[tensor]) {
        capture_.edges.push_back({*writers_[tensor], node, tensor, "RAW"});
      }
    }
    capture_.operands.push_back({"out", output, false, true});
    added.operands.count =
        static_cast<std::uint32_t>(capture_.operands.size()) - added.operands.first;
    added.steps = {node, 1};
    capture_.step_order.push_back(node);
    Capture::Step step;
    step.kind = "dispatch";
    step.node = node;
    capture_.steps.push_back(std::move(step));
    if (node > 0) {
      Capture::Barrier barrier;
      barrier.before_step = node;
      barrier.required = barrier.emitted = true;
      barrier.cause_src = node - 1;
      barrier.cause_dst = node;
      barrier.kind = "RAW";
      barrier.reason = "it wrote what the next reads";
      barrier.size_bytes = 256;
      capture_.barriers.push_back(std::move(barrier));
    }
    writers_[output] = node;
    capture_.nodes.push_back(std::move(added));
    return output;
  }

  Capture finish() {
    std::sort(capture_.edges.begin(), capture_.edges.end(), [](const auto& a, const auto& b) {
      return std::tie(a.dst, a.src, a.tensor) < std::tie(b.dst, b.src, b.tensor);
    });
    return std::move(capture_);
  }

 private:
  Capture capture_;
  std::vector<std::optional<std::uint32_t>> writers_;  // of tensors
};

}  // namespace

Capture chain_capture(const std::vector<std::pair<std::string, std::string>>& nodes) {
  CaptureBuilder builder;
  std::optional<std::uint32_t> last;
  for (const auto& [scope, op] : nodes) {
    std::vector<std::uint32_t> reads{builder.add_tensor(op + ".weight", "param")};
    if (last) {
      reads.push_back(*last);
    }
    last = builder.add_node(scope, op, reads);
  }
  return builder.finish();
}

Capture decoder_capture(std::size_t layers) {
  CaptureBuilder builder;
  const auto weight = [&](const std::string& name) { return builder.add_tensor(name, "param"); };
  std::uint32_t x = builder.add_node("", "get_rows", {weight("token_embd")});
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string layer = "layer." + std::to_string(i);
    const auto attn = [&](const std::string& op, const std::vector<std::uint32_t>& reads) {
      return builder.add_node(layer + "/attn", op, reads);
    };
    const auto ffn = [&](const std::string& op, const std::vector<std::uint32_t>& reads) {
      return builder.add_node(layer + "/ffn", op, reads);
    };
    const std::uint32_t h = attn("rms_norm", {x, weight("attn_norm")});
    const std::uint32_t q = attn("rope", {attn("matmul", {h, weight("wq")})});
    const std::uint32_t k = attn("rope", {attn("matmul", {h, weight("wk")})});
    const std::uint32_t v = attn("matmul", {h, weight("wv")});
    const std::uint32_t keys = attn("set_rows", {k}), values = attn("set_rows", {v});
    const std::uint32_t scores = attn("softmax", {attn("matmul", {q, keys})});
    const std::uint32_t mixed = attn("matmul", {scores, values});
    x = attn("add", {x, attn("matmul", {mixed, weight("wo")})});
    const std::uint32_t f = ffn("rms_norm", {x, weight("ffn_norm")});
    const std::uint32_t gate = ffn("matmul", {f, weight("gate")});
    const std::uint32_t up = ffn("matmul", {f, weight("up")});
    const std::uint32_t silu = ffn("silu_mul", {gate, up});
    x = ffn("add", {x, ffn("matmul", {silu, weight("down")})});
  }
  builder.add_node("", "matmul", {builder.add_node("", "rms_norm", {x}), weight("output")});
  return builder.finish();
}

}  // namespace reprise::testing
