// Mamba: every layer is a selective state space; no attention, no positions.
// Source: Gu & Dao 2023, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces".
#include "samples/llama/archs/architecture.h"
#include "samples/llama/blocks.h"

namespace llama {

const Architecture& mamba_architecture() {
  static const Architecture architecture{
      .name = "mamba",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            sizes.inner = keys.count("ssm.inner_size");
            sizes.conv_width = keys.count("ssm.conv_kernel");
            sizes.state = keys.count("ssm.state_size");
            sizes.step_rank = keys.count("ssm.time_step_rank");
            if (sizes.conv_width < 2) {
              keys.refuse("ssm.conv_kernel", std::to_string(sizes.conv_width),
                          "must be at least 2");
            }
            // Of Falcon-Mamba: the step, b and c are normed.
            const std::string normed = keys.key("ssm.dt_b_c_rms");
            if (keys.has("ssm.dt_b_c_rms") && keys.file().value(normed).as_bool()) {
              keys.refuse("ssm.dt_b_c_rms", "true", "only models without these norms are known");
            }
          },
      .load = [](const LayerTensors& tensors, const Sizes& sizes,
                 Layer& layer) { tensors.state_space(sizes, layer); },
      .layer = [](reprise::Recorder& s, const Model& m, const Layer& w,
                  const reprise::Tensor& x) { return state_space(s, m, w, x); },
  };
  return architecture;
}

}  // namespace llama
