#!/usr/bin/env python3
"""Write GGUF v3 models with random weights: any architecture of reprise-llama, any weight format.

  make_random_model.py OUT.gguf --arch qwen3 --type q8_0 [--seed 1] [--set dim=256 ...]
  make_random_model.py --tests FOLDER      the models that tests compare backends with

The same arguments give the same bytes. Needs nothing but Python 3.9. Matrices have the named type;
norms, biases, routers and the small tensors of state-space layers are f32, as converters leave them.
Quantised weights are random blocks, not rounded numbers: what counts is that every bit of a block
is used. The vocabulary is SentencePiece-like: three control tokens, the bytes, and some letters.
"""
import argparse
import array
import math
import os
import random
import struct

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9  # metadata types of the format

# Block formats: ggml type, general.file_type, elements and bytes of a block, and where its 16-bit
# floats lie: (offset, factor), the factor times the standard deviation that weights shall have.
BLOCKS = {
    "q4_0": (2, 2, 32, 18, [(0, 1 / 4.6)]),
    "q4_1": (3, 3, 32, 20, [(0, 1 / 4.6), (2, -7.5 / 4.6)]),
    "q5_0": (6, 8, 32, 22, [(0, 1 / 9.2)]),
    "q5_1": (7, 9, 32, 24, [(0, 1 / 9.2), (2, -15.5 / 9.2)]),
    "q8_0": (8, 7, 32, 34, [(0, 1 / 74)]),
    "q2_K": (10, 10, 256, 84, [(80, 1 / 15), (82, 1.5 / 15)]),
    "q3_K": (11, 12, 256, 110, [(108, 1 / 43)]),
    "q4_K": (12, 15, 256, 144, [(0, 1 / 256), (2, 7.5 / 256)]),
    "q5_K": (13, 17, 256, 176, [(0, 1 / 522), (2, 15.5 / 522)]),
    "q6_K": (14, 18, 256, 210, [(208, 1 / 1366)]),
    "iq4_nl": (20, 25, 32, 18, [(0, 1 / 70)]),
    "iq4_xs": (23, 30, 256, 136, [(0, 1 / 1300)]),
}
PLAIN = {"f32": (0, 0), "f16": (1, 1), "bf16": (30, 32)}
TYPES = [*PLAIN, *BLOCKS]

SIZES = dict(layers=2, dim=64, ffn=96, heads=4, kv_heads=2, head_dim=16, vocabulary=288, context=256,
             experts=6, used=2, expert_ffn=32, window=8, conv=4, inner=128, state=16, rank=4)
# What an architecture has in the place of these sizes: heads that are no part of the width.
OTHER_SIZES = {"mixtral": dict(expert_ffn=96), "qwen3": dict(head_dim=32), "qwen3moe": dict(head_dim=32), "gemma": dict(head_dim=32),
               "gemma2": dict(head_dim=32, layers=4)}


class Random:
    """Values that depend on the seed and the name of the tensor alone."""

    def __init__(self, seed, name):
        self.source = random.Random(f"{seed}/{name}")

    def uniform(self, count, low, high):
        words = array.array("H", self.source.randbytes(2 * count))
        step = (high - low) / 65535
        return [low + step * word for word in words]

    def matrix(self, kind, count, deviation):
        if kind in BLOCKS:
            _, _, elements, size, floats = BLOCKS[kind]
            blocks = count // elements
            data = bytearray(self.source.randbytes(blocks * size))
            for at, factor in floats:  # the low byte stays random: scales differ by a few percent
                data[at + 1::size] = struct.pack("<e", factor * deviation)[1:] * blocks
            return bytes(data)
        return plain(kind, self.uniform(count, -math.sqrt(3) * deviation, math.sqrt(3) * deviation))


def plain(kind, values):
    if kind == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    data = struct.pack(f"<{len(values)}f", *values)
    if kind == "f32":
        return data
    cut = bytearray(2 * len(values))
    cut[0::2], cut[1::2] = data[2::4], data[3::4]
    return bytes(cut)


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    if kind == STR:
        return string(v)
    if kind == ARR:
        of, items = v
        return struct.pack("<IQ", of, len(items)) + b"".join(value(of, item) for item in items)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], v)


def vocabulary(size):
    """Tokens, scores, types: <unk> <s> </s>, the bytes, then a space and letters."""
    letters = ["\u2581"] + [chr(c) for c in range(ord("a"), ord("z") + 1)]
    pieces = (letters + [f"\u2581{i}" for i in range(size)])[:size - 259]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + pieces
    return tokens, [-float(i) for i in range(size)], [2, 3, 3] + [6] * 256 + [1] * len(pieces)


class Model:
    def __init__(self, arch, kind, seed, sizes):
        self.arch, self.kind, self.seed, self.z = arch, kind, seed, sizes
        self.tensors = []
        ARCHITECTURES[arch](self)

    def add(self, name, shape, kind, data):
        self.tensors.append((name, shape, kind, data))

    def matrix(self, name, *shape, deviation=None):
        deviation = deviation or 1 / math.sqrt(shape[-1])
        if self.kind in BLOCKS and shape[-1] % BLOCKS[self.kind][2]:
            raise SystemExit(f"error: Rows of {name} have ({shape[-1]}) elements, but {self.kind} "
                             f"needs a multiple of {BLOCKS[self.kind][2]}.")
        data = Random(self.seed, name).matrix(self.kind, math.prod(shape), deviation)
        self.add(name, shape, self.kind, data)

    def vector(self, name, *shape, low=0.8, high=1.2):
        self.add(name, shape, "f32",
                 plain("f32", Random(self.seed, name).uniform(math.prod(shape), low, high)))

    def ends(self, tied):
        """A head that is tied would give back the token that came in, were embeddings larger."""
        z = self.z
        small = 2 / z["dim"] if self.arch.startswith("gemma") else 1 / math.sqrt(z["dim"])
        self.matrix("token_embd.weight", z["vocabulary"], z["dim"], deviation=small if tied else 1)
        self.vector("output_norm.weight", z["dim"])
        if not tied:
            self.matrix("output.weight", z["vocabulary"], z["dim"])

    def attention(self, p, bias=False, head_norms=False):
        z = self.z
        q, kv = z["heads"] * z["head_dim"], z["kv_heads"] * z["head_dim"]
        self.vector(p + "attn_norm.weight", z["dim"])
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            self.matrix(p + f"attn_{name}.weight", rows, z["dim"])
            if bias:
                self.vector(p + f"attn_{name}.bias", rows, low=-0.3, high=0.3)
            if head_norms and name != "v":
                self.vector(p + f"attn_{name}_norm.weight", z["head_dim"])
        self.matrix(p + "attn_output.weight", z["dim"], q)

    def feed_forward(self, p):
        z = self.z
        self.vector(p + "ffn_norm.weight", z["dim"])
        self.matrix(p + "ffn_gate.weight", z["ffn"], z["dim"])
        self.matrix(p + "ffn_up.weight", z["ffn"], z["dim"])
        self.matrix(p + "ffn_down.weight", z["dim"], z["ffn"])

    def experts(self, p):
        z = self.z
        self.vector(p + "ffn_norm.weight", z["dim"])
        self.vector(p + "ffn_gate_inp.weight", z["experts"], z["dim"], low=-0.3, high=0.3)
        self.matrix(p + "ffn_gate_exps.weight", z["experts"], z["expert_ffn"], z["dim"])
        self.matrix(p + "ffn_up_exps.weight", z["experts"], z["expert_ffn"], z["dim"])
        self.matrix(p + "ffn_down_exps.weight", z["experts"], z["dim"], z["expert_ffn"])

    def layers(self, make):
        for layer in range(self.z["layers"]):
            make(f"blk.{layer}.")

    def state_space(self, p):
        z = self.z
        self.vector(p + "attn_norm.weight", z["dim"])
        self.matrix(p + "ssm_in.weight", 2 * z["inner"], z["dim"])
        self.vector(p + "ssm_conv1d.weight", z["inner"], z["conv"], low=-0.9, high=0.9)
        self.vector(p + "ssm_conv1d.bias", z["inner"], low=-0.3, high=0.3)
        self.matrix(p + "ssm_x.weight", z["rank"] + 2 * z["state"], z["inner"])
        self.vector(p + "ssm_dt.weight", z["inner"], z["rank"], low=-0.9, high=0.9)
        self.vector(p + "ssm_dt.bias", z["inner"], low=-3, high=0)
        self.vector(p + "ssm_a", z["inner"], z["state"], low=-4, high=-0.2)
        self.vector(p + "ssm_d", z["inner"])
        self.matrix(p + "ssm_out.weight", z["dim"], z["inner"])


def attention_model(tied=False, experts=False, **attention):
    def make(m):
        m.ends(tied)

        def layer(p):
            m.attention(p, **attention)
            (m.experts if experts else m.feed_forward)(p)
        m.layers(layer)
    return make


def gemma2(m):
    m.ends(True)

    def layer(p):
        m.attention(p)
        m.vector(p + "post_attention_norm.weight", m.z["dim"])
        m.feed_forward(p)
        m.vector(p + "post_ffw_norm.weight", m.z["dim"])
    m.layers(layer)


def mamba(m):
    m.ends(True)
    m.layers(m.state_space)


# mixtral is not a name of its own: it is a llama with experts.
ARCHITECTURES = {
    "llama": attention_model(), "mixtral": attention_model(experts=True),
    "qwen2": attention_model(tied=True, bias=True), "qwen3": attention_model(head_norms=True),
    "qwen3moe": attention_model(experts=True, head_norms=True),
    "gemma": attention_model(tied=True), "gemma2": gemma2, "mamba": mamba,
}


def metadata(m, kind):
    z, name = m.z, {"mixtral": "llama"}.get(m.arch, m.arch)
    tokens, scores, types = vocabulary(z["vocabulary"])
    yield "general.architecture", STR, name
    yield "general.name", STR, f"random {m.arch}"
    yield "general.file_type", U32, (BLOCKS.get(kind) or PLAIN[kind])[1]
    yield "general.quantization_version", U32, 2
    keys = [("block_count", U32, z["layers"]), ("context_length", U32, z["context"]),
            ("embedding_length", U32, z["dim"]), ("vocab_size", U32, z["vocabulary"]),
            ("attention.layer_norm_rms_epsilon", F32, 1e-5)]
    if m.arch == "mamba":
        keys += [("feed_forward_length", U32, 0), ("attention.head_count", U32, 0),
                 ("ssm.conv_kernel", U32, z["conv"]), ("ssm.inner_size", U32, z["inner"]),
                 ("ssm.state_size", U32, z["state"]), ("ssm.time_step_rank", U32, z["rank"])]
    else:
        keys += [("feed_forward_length", U32, z["expert_ffn"] if m.arch == "mixtral" else z["ffn"]),
                 ("attention.head_count", U32, z["heads"]), ("attention.head_count_kv", U32, z["kv_heads"]),
                 ("attention.key_length", U32, z["head_dim"]),
                 ("attention.value_length", U32, z["head_dim"]),
                 ("rope.dimension_count", U32, z["head_dim"]), ("rope.freq_base", F32, 10000.0)]
    if m.arch in ("mixtral", "qwen3moe"):
        keys += [("expert_count", U32, z["experts"]), ("expert_used_count", U32, z["used"])]
    if m.arch == "qwen3moe":
        keys += [("expert_feed_forward_length", U32, z["expert_ffn"])]
    if m.arch == "gemma2":
        keys += [("attention.sliding_window", U32, z["window"]),
                 ("attn_logit_softcapping", F32, 1.5), ("final_logit_softcapping", F32, 0.5)]
    for key, kind_of, v in keys:
        yield f"{name}.{key}", kind_of, v
    yield "tokenizer.ggml.model", STR, "llama"
    yield "tokenizer.ggml.pre", STR, "default"
    yield "tokenizer.ggml.tokens", ARR, (STR, tokens)
    yield "tokenizer.ggml.scores", ARR, (F32, scores)
    yield "tokenizer.ggml.token_type", ARR, (I32, types)
    for token, number in (("bos", 1), ("eos", 2), ("unknown", 0)):
        yield f"tokenizer.ggml.{token}_token_id", U32, number
    yield "tokenizer.ggml.add_bos_token", BOOL, True
    yield "tokenizer.ggml.add_eos_token", BOOL, False
    yield "tokenizer.ggml.add_space_prefix", BOOL, True


def write(path, arch, kind, seed, sizes, align=32):
    m = Model(arch, kind, seed, {**SIZES, **OTHER_SIZES.get(arch, {}), **sizes})
    keys = list(metadata(m, kind))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(m.tensors), len(keys))
    head += b"".join(string(key) + struct.pack("<I", of) + value(of, v) for key, of, v in keys)
    body = bytearray()
    for name, shape, of, data in m.tensors:
        head += string(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", (BLOCKS.get(of) or PLAIN[of])[0], len(body))
        body += data + bytes(-len(data) % align)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % align) + body)


# Rows of 256 elements, so that every block format fits.
WIDE = dict(dim=256, ffn=256, heads=8, kv_heads=4, head_dim=32)


def write_tests(folder):
    os.makedirs(folder, exist_ok=True)
    for arch in ARCHITECTURES:
        for kind in ("f32", "f16", "q8_0", "q4_0"):
            write(os.path.join(folder, f"{arch}-{kind}.gguf"), arch, kind, 1, {})
    for kind in TYPES:
        write(os.path.join(folder, f"wide-{kind}.gguf"), "llama", kind, 1, WIDE)


def size(text):
    name, _, number = text.partition("=")
    if name not in SIZES or not number.isdigit() or int(number) < 1:
        raise argparse.ArgumentTypeError(f"({text}) is no NAME=NUMBER; names: {', '.join(SIZES)}")
    return name, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", help="the file to write")
    parser.add_argument("--arch", default="llama", choices=ARCHITECTURES)
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", type=size, nargs="+", default=[], metavar="NAME=NUMBER",
                        help="sizes: " + ", ".join(f"{k}={v}" for k, v in SIZES.items()))
    parser.add_argument("--tests", metavar="FOLDER", help="write the models that tests use")
    a = parser.parse_args()
    if (a.out is None) == (a.tests is None):
        parser.error("either OUT.gguf or --tests FOLDER is needed")
    if a.tests:
        write_tests(a.tests)
    else:
        write(a.out, a.arch, a.type, a.seed, dict(a.set))


if __name__ == "__main__":
    main()
