// Shapes of the llama sample at 0.5 B, a speech encoder of 384 over 1,500 frames, a vision
// transformer of 384 over 196 patches, a small convolutional network, and an encoder of 256 over
// 8 sequences of 128.
#include "bench/op_list.h"

#include <algorithm>
#include <array>
#include <utility>

namespace reprise::bench {
namespace {

constexpr std::array kCalls{
    "add f32[1500,384] f32[1500,384]",
    "add f32[1500,1536] f32[1536]",
    "add f32[64,56,56] f32[64,1,1]",
    "sub f32[1500,384] f32[1500,384]",
    "mul f32[1500,384] f32[1500,384]",
    "div f32[1500,384] f32[1500,384]",
    "add_rms_norm f32[512,896] f32[512,896] f32[896] eps=1e-6",
    "argmax f32[1,151936]",
    "argsort f32[1,151936] descending=1",
    "argsort f32[64,1024] descending=1",
    "attention f32[1,14,64] f32[2048,2,64] f32[2048,2,64] kv_len=2048 causal=1",
    "attention f32[1,14,64] f16[2048,2,64] f16[2048,2,64] kv_len=2048 causal=1",
    "attention f32[128,14,64] f16[128,2,64] f16[128,2,64] kv_len=128 causal=1",
    "attention f32[1500,6,64] f32[1500,6,64] f32[1500,6,64] kv_len=1500",
    "attention f32[196,6,64] f32[196,6,64] f32[196,6,64] kv_len=196",
    "attention f32[128,8,32] f32[128,8,32] f32[128,8,32] f32[128,128] kv_len=128",
    "causal_mask f32[8,512,512]",
    "clamp f32[1500,384] min=-1 max=1",
    "combine_experts f32[512,8,768] f32[512,8]",
    "concat f32[1500,384] f32[1500,384] dim=1",
    "concat f32[196,384] f32[1,384] dim=0",
    "conv_1d f32[80,3000] f32[384,80,3] stride=1 padding=1 dilation=1 groups=1",
    "conv_1d f32[384,3000] f16[384,384,3] stride=2 padding=1 dilation=1 groups=1",
    "conv_2d f32[64,56,56] f32[64,64,3,3] stride_y=1 stride_x=1 padding_y=1 padding_x=1 "
    "dilation_y=1 dilation_x=1 groups=1",
    "conv_2d f32[64,56,56] f32[128,64,3,3] stride_y=2 stride_x=2 padding_y=1 padding_x=1 "
    "dilation_y=1 dilation_x=1 groups=1",
    "conv_2d f32[3,224,224] f32[384,3,16,16] stride_y=16 stride_x=16 dilation_y=1 dilation_x=1 "
    "groups=1",
    "conv_2d f32[96,56,56] f32[96,1,3,3] stride_y=1 stride_x=1 padding_y=1 padding_x=1 "
    "dilation_y=1 dilation_x=1 groups=96",
    "copy f32[1500,6,64]{1,0,2} dtype=f32",
    "copy f32[2048,1024]{1,0} dtype=f32",
    "copy f32[1500,384] dtype=f16",
    "copy f16[2048,2048] dtype=f32",
    "copy f32[2048,2048] dtype=q8_0",
    "copy f32[2048,2048] dtype=q4_0",
    "cos f32[1500,384]",
    "cumsum f32[100,4096]",
    "exp f32[1500,384]",
    "gated_delta f32[1,16,128,128] f32[64,16,128] f32[64,16,128] f32[64,16,128] f32[64,16] "
    "f32[64,16] past=1",
    "gelu f32[1500,1536]",
    "gelu_erf f32[1500,1536]",
    "gelu_mul f32[512,4864] f32[512,4864]",
    "gelu_quick f32[1500,1536]",
    "get_rows f32[151936,64] i32[512]",
    "get_rows f16[4096,1024] i32[512]",
    "get_rows q8_0[4096,1024] i32[512]",
    "get_rows q4_0[4096,1024] i32[512]",
    "l2_norm f32[1500,384] eps=1e-6",
    "layer_norm f32[1500,384] f32[384] f32[384] eps=1e-5",
    "log f32[1500,384]",
    "log_softmax f32[1,151936] - - scale=1",
    "matmul f32[1,896] f32[4864,896]",
    "matmul f32[1,896] f16[4864,896]",
    "matmul f32[1,896] q8_0[4864,896]",
    "matmul f32[1,896] q4_0[4864,896]",
    "matmul f32[128,896] f32[4864,896]",
    "matmul f32[128,896] q8_0[4864,896]",
    "matmul f32[1500,384] f32[1536,384]",
    "matmul_experts f32[1,8,768] q8_0[64,2048,768] i32[1,8]",
    "matmul_group f32[1,896] f16[896,896] f16[128,896] f16[128,896]",
    "max f32[1500,384]",
    "mean f32[1500,384]",
    "neg f32[1500,384]",
    "pad f32[64,112,112] before1=1 before2=1 after1=1 after2=1",
    "pool_1d f32[384,3000] width=2 stride=2",
    "pool_2d f32[64,112,112] height=3 width=3 stride_y=2 stride_x=2 padding_y=1 padding_x=1",
    "relu f32[64,112,112]",
    "repeat f32[8,1,64] rank=3 extent=-1 dim0=8 dim1=512 dim2=64",
    "rms_norm f32[512,896] f32[896] eps=1e-6",
    "rope f32[512,14,64] base=10000 scale=1 dims=64 magnitude=1",
    "rope_set_rows f16[2048,2,64] f32[512,2,64] base=10000 scale=1 dims=64",
    "route_top_k f32[512,128] k=8 normalise=1 scale=1",
    "sample f32[1,151936] repetition_penalty=1",
    "sample f32[1,151936] temperature=1 top_p=1 repetition_penalty=1",
    "sample f32[1,151936] temperature=1 top_k=40 top_p=1 repetition_penalty=1",
    "sample f32[1,151936] temperature=1 top_p=0.9 repetition_penalty=1",
    "scale f32[1500,384] scale=0.5",
    "set_rows f16[2048,2,64] f32[512,2,64]",
    "sigmoid f32[1500,384]",
    "sigmoid_mul f32[512,4864] f32[512,4864]",
    "silu f32[1500,384]",
    "silu_mul f32[512,4864] f32[512,4864]",
    "sin f32[1500,384]",
    "softcap f32[1,151936] cap=30",
    "softmax f32[1182,197] - - scale=1",
    "softmax f32[9000,1500] - - scale=1",
    "softmax f32[8,8,128,128] - - scale=1",
    "solve_triangular f32[16,64,64] f32[16,64,128] unit=1",
    "sqr f32[1500,384]",
    "sqrt f32[1500,384]",
    "ssm_conv f32[1,1536,3] f32[64,1536] f32[1536,4] past=1",
    "ssm_scan f32[1,1536,1,16] f32[64,1536,1] f32[64,1536] f32[1536,16] f32[64,1,16] f32[64,1,16] "
    "past=1",
    "sum f32[2048,2048]",
    "sum_rows f32[1500,384]",
    "tanh f32[1500,384]",
    "top_k f32[1,151936] k=40",
    "top_k f32[1,151936] k=1000",
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOthers{{
    {"advance", "writes the state of a session"},
    {"expert_check", "is recorded by sessions that have experts on a budget"},
    {"collect", "is recorded by sessions of several iterations"},
    {"plan", "is recorded by sessions that have a state"},
}};

}  // namespace

std::span<const char* const> op_list() { return kCalls; }

std::string_view why_not_listed(std::string_view op) {
  const auto* const it = std::ranges::find(kOthers, op, [](const auto& p) { return p.first; });
  return it == kOthers.end() ? std::string_view() : it->second;
}

}  // namespace reprise::bench
