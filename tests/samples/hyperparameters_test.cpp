// Metadata that is missing or makes no sense: the error names the key, the value, what is allowed.
#include "samples/llama/hyperparameters.h"

#include <limits>

#include "samples/llama/model.h"
#include "tests/formats/gguf_builder.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::GgufBuilder;

constexpr std::uint32_t kF32 = 6;  // type of a metadata value

class Hyperparameters : public ::testing::Test {
 protected:
  /// A model of that architecture without layers' tensors: enough to read its sizes.
  static GgufBuilder builder(const std::string& arch) {
    GgufBuilder b;
    b.text("general.architecture", arch);
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::uint32_t>>{
             {"block_count", 2},
             {"context_length", 64},
             {"embedding_length", 32},
             {"feed_forward_length", 48},
             {"attention.head_count", 4},
             {"attention.head_count_kv", 2},
             {"expert_count", 6},
             {"expert_used_count", 2},
             {"expert_feed_forward_length", 16}}) {
      b.number(arch + "." + key, value);
    }
    b.value(arch + ".attention.layer_norm_rms_epsilon", kF32, test::raw(1e-5F));
    return b;
  }
  static llama::Sizes sizes(GgufBuilder b) {
    b.tensor("token_embd.weight", {32, 4}, 0, std::string(32 * 4 * 4, '\0'));
    const test::TempFile file(b.bytes());
    return llama::sizes_of(GgufFile::open(file.path()));
  }
  static void refuse(const GgufBuilder& b, const std::vector<std::string>& parts) {
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)sizes(b); });
  }
};

TEST_F(Hyperparameters, HaveTheDefaultsOfTheFormat) {
  const llama::Sizes s = sizes(builder("qwen2").without("qwen2.attention.head_count_kv"));
  EXPECT_EQ(s.kv_heads, 4);
  EXPECT_EQ(s.head_dim, 8);
  EXPECT_EQ(s.rope_dims, 8);
  EXPECT_EQ(s.rope_base, 10000.0F);
  EXPECT_EQ(s.rope_scale, 1.0F);
}

TEST_F(Hyperparameters, StretchAContextLinearly) {
  const llama::Sizes s = sizes(builder("llama")
                                   .text("llama.rope.scaling.type", "linear")
                                   .value("llama.rope.scaling.factor", kF32, test::raw(4.0F)));
  EXPECT_EQ(s.rope_scale, 0.25F);
}

TEST_F(Hyperparameters, ThatAreMissingAreNamed) {
  for (const std::string key :
       {"block_count", "context_length", "embedding_length", "attention.head_count",
        "expert_used_count", "expert_feed_forward_length", "attention.layer_norm_rms_epsilon"}) {
    refuse(builder("qwen3moe").without("qwen3moe." + key), {"qwen3moe." + key});
  }
  refuse(builder("qwen3").without("qwen3.feed_forward_length"), {"qwen3.feed_forward_length"});
  refuse(builder("llama").without("general.architecture"), {"general.architecture"});
}

TEST_F(Hyperparameters, ThatMakeNoSenseAreNamedWithTheirValues) {
  const auto with = [](const std::string& key, std::uint32_t value) {
    return builder("qwen3moe").number("qwen3moe." + key, value);
  };
  refuse(with("block_count", 0), {"qwen3moe.block_count", "(0)", "[1, "});
  refuse(with("embedding_length", 1U << 30U), {"embedding_length", "(1073741824)", "16777216"});
  refuse(with("attention.head_count_kv", 3), {"head_count_kv", "(3)", "divide", "4"});
  refuse(with("attention.head_count", 64).without("qwen3moe.attention.head_count_kv"),
         {"attention.head_count'", "(64)", "even"});
  refuse(with("attention.key_length", 7), {"attention.key_length", "(7)", "even"});
  refuse(with("attention.value_length", 16), {"attention.value_length", "(16)", "8"});
  refuse(with("rope.dimension_count", 10), {"rope.dimension_count", "(10)", "at most", "8"});
  refuse(with("expert_used_count", 7), {"expert_used_count", "(7)", "at most 6"});
  refuse(with("expert_count", 100).number("qwen3moe.expert_used_count", 65),
         {"expert_used_count", "(65)", "at most 64"});
  refuse(builder("llama").text("llama.rope.scaling.type", "longrope"),
         {"rope.scaling.type", "(longrope)", "none or linear"});
}

TEST_F(Hyperparameters, OfNormsThatNobodyComputesAreRefused) {
  const auto mamba = [](bool normed) {
    GgufBuilder b = builder("mamba").boolean("mamba.ssm.dt_b_c_rms", normed);
    for (const char* key : {"inner_size", "conv_kernel", "state_size", "time_step_rank"}) {
      b.number(std::string("mamba.ssm.") + key, 4);
    }
    return b;
  };
  refuse(mamba(true), {"mamba.ssm.dt_b_c_rms", "(true)"});
  EXPECT_EQ(sizes(mamba(false)).conv_width, 4);
}

TEST_F(Hyperparameters, ThatAreNoNumbersOfTheirRangeAreNamed) {
  const auto with = [](const std::string& key, float value) {
    return builder("llama").value("llama." + key, kF32, test::raw(value));
  };
  refuse(with("attention.layer_norm_rms_epsilon", -1e-5F), {"epsilon", "(-1e-05)", "from 0 to 1"});
  refuse(with("attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN()),
         {"epsilon", "(nan)"});
  refuse(with("rope.freq_base", 0), {"rope.freq_base", "(0)", "from 1 to"});
  refuse(with("rope.freq_base", std::numeric_limits<float>::infinity()), {"freq_base", "(inf)"});
  refuse(builder("llama").text("llama.block_count", "two"), {"llama.block_count", "integer"});
}

}  // namespace
}  // namespace reprise::testing
