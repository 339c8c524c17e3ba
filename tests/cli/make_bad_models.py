#!/usr/bin/env python3
"""Model files that must be refused, each for one reason: made from a good one.
usage: make_bad_models.py GOOD.gguf OUTDIR"""
import os
import struct
import sys


def main():
    good, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    with open(good, "rb") as f:
        model = f.read()

    def write(name, data):
        with open(os.path.join(out, name), "wb") as f:
            f.write(data)

    write("truncated.gguf", model[: len(model) // 2])
    write("not_gguf.gguf", b"this is no model\n" * 100)
    key = b"general.architecture" + struct.pack("<IQ", 8, 5)
    at = model.index(key) + len(key)
    write("other_architecture.gguf", model[:at] + b"bloom" + model[at + 5 :])
    # A name and a text that would drive a terminal: by ESC, and by CSI, a control character of C1.
    write("escapes_architecture.gguf", model[:at] + b"\x1b[3\xc2\x9b"[:5] + model[at + 5 :])
    write("no_block_count.gguf", model.replace(b"llama.block_count", b"llama.black_count"))
    for name, key, number in (("three_key_heads", b"llama.attention.head_count_kv", 3),
                              ("narrow_ffn", b"llama.feed_forward_length", 383)):
        at = model.index(key) + len(key) + 4  # behind the type
        write(name + ".gguf", model[:at] + struct.pack("<I", number) + model[at + 4 :])
    write("no_attn_q.gguf", model.replace(b"blk.0.attn_q.weight", b"blk.0.attn_p.weight"))
    # Of the same size, so only the type is wrong: i16 for f16 is none of ours, and no norm takes the
    # i32 for f32.
    name = b"blk.0.attn_q.weight"
    at = model.index(name) + len(name) + 4 + 2 * 8
    assert model[at : at + 4] == struct.pack("<I", 1)
    write("other_type.gguf", model[:at] + struct.pack("<I", 25) + model[at + 4 :])
    write("split_blocks.gguf", model[:at] + struct.pack("<I", 12) + model[at + 4 :])  # q4_K, of 256
    name = b"blk.0.attn_norm.weight"
    at = model.index(name) + len(name) + 4 + 8
    assert model[at : at + 4] == struct.pack("<I", 0)
    write("i32_weights.gguf", model[:at] + struct.pack("<I", 26) + model[at + 4 :])


main()
