#!/usr/bin/env python3
"""Seeds of the tokenizer's fuzzer: random bytes of several lengths, and texts (deterministic).
usage: tokenizer_seeds.py OUTDIR"""
import os
import random
import sys


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    draw = random.Random(7)
    texts = ["It's 12345 o'clock,  isn't it?\r\n\n", "\u4f60\u597d \u041f\u0440\u0438 \U0001f468\u200d\U0001f469", "<0><1> a\u2581b"]
    for i in range(60):
        head = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 80)))
        with open(f"{out}/{i:02d}", "wb") as file:
            file.write(texts[i % len(texts)].encode() + head)


main()
