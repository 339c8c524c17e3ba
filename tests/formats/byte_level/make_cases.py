#!/usr/bin/env python3
"""Writes cases.json: a small byte-level vocabulary for each pre-tokenizer, texts, the words that
the regular expression of the pre-tokenizer cuts them into (Python's module regex) and their ids
(Hugging Face's tokenizers, by hf_ids.js).
usage: make_cases.py > cases.json   in a folder where `npm install tokenizers@0.23.2` was run,
                                    with `pip install regex`"""
import collections
import json
import os
import random
import subprocess
import sys
import unicodedata

import regex

MERGES = 400
CONTRACTIONS = r"'s|'t|'re|'ve|'m|'ll|'d"
SPACES = r"\s+(?!\S)|\s+"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|" + SPACES
PATTERNS = {
    "gpt-2": CONTRACTIONS + r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|" + SPACES,
    "llama-bpe": f"(?i:{CONTRACTIONS})" + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + REST,
    "qwen2": f"(?i:{CONTRACTIONS})" + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + REST,
}
CONTROL = ["<|begin|>", "<|end|>", "<|end_of_turn|>"]
SCRIPTS = [
    "It's what they'd've said: we'll see, I'm sure you're RIGHT, DON'T YOU'VE HE'S 'Twas rock'n'roll's",
    "for (int i = 0; i < 1024; ++i) {\n\tsum += values[i] * 3.14159e-10;\r\n}\n\n\n  // 100% done!!!",
    "1 12 123 1234 12345 1,234,567.89 \u00b2\u00b3 \u216b \u0664\u0665\u0666\u0667 \u0967\u0968\u0969 \u2460\u2461",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u041a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "\u03a7\u03b1\u03af\u03c1\u03b5\u03c4\u03b5 \u03ba\u03cc\u03c3\u03bc\u03b5",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff01\u3000\u7b2c12\u7ae0",
    "\u3053\u3093\u306b\u3061\u306f\u3001\u30ab\u30bf\u30ab\u30ca\u3068\u6f22\u5b57\u3067\u3059\u3002",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c \u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "caf\u00e9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m Stra\u00dfe \u0130stanbul",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7 \u270c\U0001f3fd \u2764\ufe0f ok\U0001f44d\U0001f44d",
    "a  b   c    d\t\te \n f\n\n g \r\n\r\n h\u00a0i\u2003j\u3000k \u200bl",
    "   leading", "trailing   ", "\n", " ", "  ", " \n", "\n ", "\t", "\r\n\r\n", "", "'", "''", " '", "'s", "'S",
    "'\u017f\u017f x'\u017fy", "'LL'll'Ll'lL", "x'", "a'b'c'd'e", "?!'re", "\u2019s it\u2019s",
    "snake_case camelCase kebab-case <tag attr=\"v\"> https://example.org/a?b=c&d=%20#e",
    "\u0000\u0001\u007f\u0080\u009f\u00ad\ufeff\ufffd\ue000\U0010ffff",
    "text<|end|>more<|begin|> <|end_of_turn|> <|end<|end|>",
]


def byte_alphabet():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in own]
    return {**{b: chr(b) for b in own}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def random_texts(count):
    """Of letters, marks, spaces and signs that are in Unicode 14, which the library knows."""
    draw = random.Random(20261122)
    pools = ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " \t\n\r", "  \n",
             "'stremdlvSTREMDLV\u017f", "'.,;:!?-_()[]{}<>|/\\@#$%^&*+=~`\""]
    whole = [chr(c) for c in range(0x80, 0x30000)
             if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    for _ in range(count):
        text = ""
        for _ in range(draw.randrange(1, 12)):
            pool = whole if draw.randrange(4) == 0 else draw.choice(pools)
            text += "".join(draw.choice(pool) for _ in range(draw.randrange(1, 5)))
        yield text


def learn(words, alphabet):
    counts = collections.Counter(words)
    parts = {w: [alphabet[b] for b in w.encode()] for w in counts}
    merges = []
    while len(merges) < MERGES:
        pairs = collections.Counter()
        for word, count in counts.items():
            for pair in zip(parts[word], parts[word][1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = max(sorted(pairs), key=pairs.get)
        merges.append(best)
        for word, old in parts.items():
            new = []
            for part in old:
                if new and (new[-1], part) == best:
                    new[-1] += part
                else:
                    new.append(part)
            parts[word] = new
    return merges


def spec(pattern, tokens, merges, ignore_merges):
    bytes_only = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
        "added_tokens": [{"id": tokens.index(t), "content": t, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": True} for t in CONTROL],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            bytes_only]},
        "post_processor": None, "decoder": bytes_only,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": ignore_merges,
                  "vocab": {t: i for i, t in enumerate(tokens) if t not in CONTROL},
                  "merges": [f"{a} {b}" for a, b in merges]}}


def main():
    alphabet = byte_alphabet()
    texts = SCRIPTS + list(random_texts(150))
    kinds, specs = {}, {}
    for pre, pattern in PATTERNS.items():
        words = [w for t in texts for w in regex.findall(pattern, t)]
        merges = learn(words, alphabet)
        # Words that no merges make: only a tokenizer that looks for whole words first finds them.
        whole = ["".join(alphabet[b] for b in w.encode()) for w in (" careful", "sum", "!!!")]
        tokens = list(dict.fromkeys([*alphabet.values(), *("".join(m) for m in merges), *whole, *CONTROL]))
        kinds[pre] = {"tokens": tokens, "merges": [f"{a} {b}" for a, b in merges],
                      "control": len(CONTROL), "cases": []}
        specs[pre] = spec(pattern, tokens, merges, pre == "llama-bpe")
    here = os.path.dirname(os.path.abspath(__file__))
    told = subprocess.run(["node", os.path.join(here, "hf_ids.js")], check=True, capture_output=True,
                          input=json.dumps({"tokenizers": specs, "texts": texts}).encode(),
                          env={**os.environ, "NODE_PATH": os.path.join(os.getcwd(), "node_modules")})
    for pre, ids in json.loads(told.stdout).items():
        for text, expected in zip(texts, ids):
            kinds[pre]["cases"].append({"text": text, "ids": expected,
                                        "words": regex.findall(PATTERNS[pre], text)})
    json.dump(kinds, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


main()
