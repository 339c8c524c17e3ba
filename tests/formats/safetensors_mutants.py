#!/usr/bin/env python3
"""Safetensors files that are right or wrong for one reason each, and indexes of shards
(deterministic).
usage: safetensors_mutants.py OUTDIR   -> OUTDIR/* + index.tsv (file, class, expectation, what the error says)
Expectation: 'ok' must open; 'reject' must return an error; 'any' may do either."""
import json
import os
import random
import struct
import sys

WORD = 2 ** 64 - 1
DATA = bytes(random.Random(7).randrange(256) for _ in range(64 + 24 + 6))
TENSORS = {
    "embed": ("F32", [4, 4], 0, 64),
    "layer.0.weight": ("BF16", [3, 4], 64, 88),
    "layer.0.bias": ("F16", [3], 88, 94),
}


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def head(**changes):
    """The header of the good file with entries replaced, or left out with None."""
    entries = {name: entry(*facts) for name, facts in TENSORS.items()}
    entries.update({name.replace("__dot__", "."): e for name, e in changes.items()})
    return {name: e for name, e in entries.items() if e is not None}


def pack(header, data=DATA, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header, ensure_ascii=False).encode()
    size = len(text) if length is None else length
    return struct.pack("<Q", size & WORD) + text + data


def one(e, data_bytes):
    return pack({"w": e}, bytes(data_bytes))


def raw(fields, data_bytes=8):
    """One tensor 'w' with these fields, as text."""
    return pack(b'{"w":{' + fields + b"}}", bytes(data_bytes))


GOOD = b'"dtype":"F32","shape":[2],"data_offsets":[0,8]'


def files():
    good = pack(head())
    meta = {"__metadata__": {"format": "pt", "author": "caf\u00e9"}}
    text_end = len(good) - len(DATA)

    yield "valid", "valid", "ok", good
    yield "valid_metadata", "valid", "ok", pack({**meta, **head()})
    yield "valid_padded_header", "valid", "ok", pack(json.dumps(head()).encode() + b" " * 13)
    yield "valid_no_tensors", "valid", "ok", pack({}, b"")
    yield "valid_only_metadata", "valid", "ok", pack(meta, b"")
    yield "valid_scalar", "valid", "ok", one(entry("F64", [], 0, 8), 8)
    yield "valid_empty_extent", "valid", "ok", one(entry("F32", [0, 7], 0, 0), 0)
    yield "valid_rank_9", "valid", "ok", one(entry("U8", [1] * 8 + [5], 0, 5), 5)
    yield "valid_fields_in_another_order", "valid", "ok", raw(
        b'"data_offsets":[0,8],"shape":[2],"dtype":"F32"')
    yield "valid_escaped_name", "valid", "ok", pack(
        b'{"a\\"\\u00e9\\n\\ud83d\\ude00":{' + GOOD + b"}}", bytes(8))
    yield "valid_order_of_data", "valid", "ok", pack(
        head(embed=entry("F32", [4, 4], 30, 94), **{
            "layer__dot__0__dot__weight": entry("BF16", [3, 4], 6, 30),
            "layer__dot__0__dot__bias": entry("F16", [3], 0, 6)}))
    for dtype, size in (("BOOL", 8), ("U8", 8), ("I8", 8), ("F8_E5M2", 8), ("F8_E4M3", 8),
                        ("F8_E8M0", 8), ("I16", 16), ("U16", 16), ("F16", 16), ("BF16", 16),
                        ("I32", 32), ("U32", 32), ("F32", 32), ("I64", 64), ("U64", 64),
                        ("F64", 64), ("C64", 64), ("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6)):
        yield f"dtype_{dtype}", "valid", "ok", one(entry(dtype, [8], 0, size), size)
        yield f"dtype_{dtype}_short", "size", "reject", one(entry(dtype, [8], 0, size - 1), size - 1)
        yield f"dtype_{dtype}_long", "size", "reject", one(entry(dtype, [8], 0, size + 1), size + 1)
    yield "dtype_unknown", "dtype", "ok", one(entry("F1_X", [3], 0, 5), 5)
    yield "dtype_empty", "dtype", "ok", one(entry("", [3], 0, 5), 5)
    yield "dtype_lower_case", "dtype", "ok", one(entry("f32", [3], 0, 5), 5)
    yield "dtype_F4_odd", "size", "reject", one(entry("F4", [3], 0, 2), 2)
    yield "dtype_F6_odd", "size", "reject", one(entry("F6_E2M3", [2], 0, 2), 2)

    for size in (0, 1, 7, 8, 9):
        yield f"cut_{size}", "truncation", "reject", good[:size]
    for i in range(1, 16):
        yield f"cut_header_{i:02d}", "truncation", "reject", good[:8 + (text_end - 8) * i // 16]
    for cut in (1, 6, len(DATA)):
        yield f"cut_data_{cut}", "truncation", "reject", good[:-cut]
    yield "trailing_bytes", "cover", "reject", good + b"x"
    for n in (0, 1, 2, text_end - 9, text_end - 7, len(good), 100_000_001, 2 ** 31, 2 ** 32, 2 ** 62,
              2 ** 63 - 1, 2 ** 63, WORD - 7, WORD):
        yield f"length_{n:x}", "header_length", "reject", pack(head(), length=n)

    for name, text in (("empty", b""), ("spaces", b"   "), ("null", b"null"), ("list", b"[]"),
                       ("number", b"7"), ("text", b'"x"'), ("two", b"{}{}"), ("comma", b'{"w":{},}'),
                       ("leading_space", b" {}"), ("bom", b"\xef\xbb\xbf{}"), ("comment", b"{/**/}"),
                       ("nul", b"{}\0"), ("open", b'{"w":{'), ("quote", b'{"w'), ("bare", b"{w:1}"),
                       ("nan", b'{"w":NaN}'), ("single_quotes", b"{'w':{}}"),
                       ("bad_escape", b'{"\\x":{}}'), ("lone_surrogate", b'{"\\ud800":{}}'),
                       ("bad_utf8", b'{"\xff\xfe":{}}'), ("overlong", b'{"\xc0\xaf":{}}'),
                       ("control", b'{"a\nb":{}}')):
        yield f"json_{name}", "json", "reject", pack(text, b"")
    for kind, begin, end in (("lists", b"[", b"]"), ("objects", b'{"a":', b"}")):
        for depth in (2, 60_000):
            yield f"deep_{kind}_{depth}", "depth", "reject", pack(
                b'{"w":' + begin * depth + b"1" + end * depth + b"}", b"")
        yield f"open_{kind}_200k", "depth", "reject", pack(b'{"w":' + begin * 200_000, b"")
    yield "deep_metadata", "depth", "reject", pack(b'{"__metadata__":{"a":{"b":"c"}}}', b"")
    yield "deep_shape", "depth", "reject", raw(b'"dtype":"F32","shape":[[2]],"data_offsets":[0,8]')

    for name, value in (("null", b"null"), ("list", b"[]"), ("number", b"1"), ("text", b'"F32"'),
                        ("empty", b"{}")):
        yield f"entry_{name}", "entry", "reject", pack(b'{"w":' + value + b"}", b"")
    for name, fields in (
            ("no_dtype", b'"shape":[2],"data_offsets":[0,8]'),
            ("no_shape", b'"dtype":"F32","data_offsets":[0,8]'),
            ("no_offsets", b'"dtype":"F32","shape":[2]'),
            ("other_field", GOOD + b',"strides":[1]'),
            ("dtype_twice", GOOD + b',"dtype":"F32"'),
            ("shape_twice", GOOD + b',"shape":[2]'),
            ("offsets_twice", GOOD + b',"data_offsets":[0,8]'),
            ("dtype_number", b'"dtype":1,"shape":[2],"data_offsets":[0,8]'),
            ("dtype_list", b'"dtype":["F32"],"shape":[2],"data_offsets":[0,8]'),
            ("dtype_null", b'"dtype":null,"shape":[2],"data_offsets":[0,8]'),
            ("shape_number", b'"dtype":"F32","shape":2,"data_offsets":[0,8]'),
            ("shape_text", b'"dtype":"F32","shape":"[2]","data_offsets":[0,8]'),
            ("shape_object", b'"dtype":"F32","shape":{"0":2},"data_offsets":[0,8]'),
            ("offsets_number", b'"dtype":"F32","shape":[2],"data_offsets":8'),
            ("offsets_none", b'"dtype":"F32","shape":[2],"data_offsets":[]'),
            ("offsets_one", b'"dtype":"F32","shape":[2],"data_offsets":[0]'),
            ("offsets_three", b'"dtype":"F32","shape":[2],"data_offsets":[0,8,8]')):
        yield f"entry_{name}", "entry", "reject", raw(fields)
    for name, item in (("negative", b"-2"), ("minus_zero", b"-0"), ("fraction", b"2.0"),
                       ("exponent", b"2e0"), ("bool", b"true"), ("null", b"null"),
                       ("text", b'"2"'), ("huge", b"1" + b"0" * 400), ("2^64", b"18446744073709551616")):
        yield f"shape_{name}", "number", "reject", raw(
            b'"dtype":"F32","shape":[%s],"data_offsets":[0,8]' % item)
        yield f"offset_{name}", "number", "reject", raw(
            b'"dtype":"F32","shape":[2],"data_offsets":[0,%s]' % item)

    for i, shape in enumerate(([2 ** 64 - 1, 1], [2 ** 63, 2], [2 ** 62, 4], [2 ** 61, 2, 4],
                               [2 ** 32, 2 ** 32], [2 ** 31, 2 ** 31, 4], [2 ** 57], [2 ** 56, 2],
                               [0, 2 ** 57], [2 ** 40, 0, 2 ** 40], [2 ** 16] * 4,
                               [4194305, 4194305, 211106198978564])):
        wrapped = 4
        for dim in shape:
            wrapped = wrapped * dim % 2 ** 64
        end = wrapped if wrapped <= 64 else 64
        yield f"product_wraps_{i:02d}", "size_overflow", "reject", one(entry("F32", shape, 0, end), end)
    yield "rank_64", "shape", "ok", one(entry("U8", [1] * 64, 0, 1), 1)
    yield "rank_65", "shape", "reject", one(entry("U8", [1] * 65, 0, 1), 1)
    yield "rank_1m", "shape", "reject", one(entry("U8", [1] * 1_000_000, 0, 1), 1)

    for name, begin, end in (("reversed", 8, 0), ("beyond", 4, 12), ("far", 0, 2 ** 62),
                             ("wraps", WORD - 7, 0), ("top", 2 ** 63, 2 ** 63 + 8), ("last", WORD, WORD)):
        yield f"range_{name}", "range", "reject", one(entry("F32", [2], begin, end), 8)
    bias = "layer__dot__0__dot__bias"
    weight = "layer__dot__0__dot__weight"
    yield "hole_at_begin", "cover", "reject", one(entry("F32", [2], 8, 16), 16)
    yield "hole_at_end", "cover", "reject", one(entry("F32", [2], 0, 8), 16)
    yield "hole_between", "cover", "reject", pack(head(**{weight: None}))
    yield "overlap_whole", "cover", "reject", pack(
        head(**{bias: entry("F16", [3], 0, 6)}), DATA[:88])
    yield "overlap_part", "cover", "reject", pack(
        head(**{weight: entry("BF16", [3, 4], 60, 84), bias: entry("F16", [5], 84, 94)}))
    yield "same_bytes_twice", "cover", "reject", pack(
        {"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 0, 8)}, bytes(8))
    yield "empty_tensors_share_a_place", "cover", "ok", pack(
        {"a": entry("F32", [0], 8, 8), "b": entry("F32", [2], 0, 8), "c": entry("F32", [0], 8, 8),
         "d": entry("F32", [0], 0, 0)}, bytes(8))
    yield "empty_tensor_inside_another", "cover", "reject", pack(
        {"a": entry("F32", [0], 4, 4), "b": entry("F32", [2], 0, 8)}, bytes(8))

    yield "name_twice", "name", "reject", pack(
        b'{"w":{' + GOOD + b'},"w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}', bytes(16))
    yield "name_twice_escaped", "name", "reject", pack(
        b'{"w":{' + GOOD + b'},"\\u0077":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}', bytes(16))
    yield "metadata_twice", "name", "reject", pack(b'{"__metadata__":{},"__metadata__":{}}', b"")
    yield "metadata_key_twice", "name", "reject", pack(b'{"__metadata__":{"a":"b","a":"c"}}', b"")
    for name, value in (("list", b"[]"), ("text", b'"x"'), ("null", b"null"), ("number", b'{"a":1}'),
                        ("bool", b'{"a":true}'), ("list_inside", b'{"a":[]}')):
        yield f"metadata_{name}", "metadata", "reject", pack(b'{"__metadata__":' + value + b"}", b"")
    for name, text in (("empty", ""), ("sql", "x'); DROP TABLE ops;--"), ("path", "../../etc/passwd"),
                       ("ansi", "\x1b]0;pwn\x07\x1b[2J"), ("format", "%n%s%1000000d"), ("nul", "a\0b"),
                       ("long", "n" * 1_000_000), ("imgui", "##a###b%s")):
        yield f"name_{name}", "hostile_text", "ok", pack(
            json.dumps({text: entry("F32", [2], 0, 8)}).encode(), bytes(8))
    many = {f"t{i}": entry("U8", [1], i, i + 1) for i in range(20_000)}
    yield "many_tensors", "valid", "ok", pack(many, bytes(20_000))

    draw = random.Random(42)
    for i in range(200):
        damaged = bytearray(good)
        for _ in range(draw.randrange(1, 5)):
            damaged[draw.randrange(text_end)] = draw.choice(
                [0, 1, 0x7F, 0x80, 0xFF, *b'{}[]",:0123456789', draw.randrange(256)])
        yield f"random_{i:03d}", "random", "any", bytes(damaged)


def indexes():
    """Over the shards a.safetensors (x, y) and b.safetensors (z)."""
    def index(weight_map, **more):
        return json.dumps({"metadata": {"total_size": 24}, "weight_map": weight_map, **more}).encode()

    good = {"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"}
    yield "valid", "valid", "ok", index(good)
    yield "valid_part", "valid", "ok", index({"y": "a.safetensors"})
    yield "valid_no_tensors", "valid", "ok", index({})
    yield "valid_no_metadata", "valid", "ok", json.dumps({"weight_map": good}).encode()
    yield "valid_other_entries", "valid", "ok", index(good, extra=[1, {"a": [None, True, -1.5e3]}])
    yield "no_map", "index", "reject", b'{"metadata":{}}'
    yield "two_maps", "index", "reject", b'{"weight_map":{},"weight_map":{}}'
    yield "tensor_twice", "index", "reject", b'{"weight_map":{"x":"a.safetensors","x":"a.safetensors"}}'
    yield "tensor_elsewhere", "index", "reject", index({"x": "b.safetensors"})
    yield "tensor_nowhere", "index", "reject", index({"q": "a.safetensors"})
    yield "shard_missing", "index", "reject", index({"x": "c.safetensors"})
    yield "shard_itself", "index", "reject", index({"x": "shard_itself.index.json"})
    for name, value in (("null", None), ("list", ["a.safetensors"]), ("number", 1), ("object", {})):
        yield f"shard_{name}", "index", "reject", index({"x": value})
    for name, value in (("null", None), ("list", []), ("text", "a.safetensors"), ("number", 3)):
        yield f"map_{name}", "index", "reject", json.dumps({"weight_map": value}).encode()
    for name, path in (("parent", "../safetensors_mutants/a.safetensors"), ("absolute", "/etc/passwd"),
                       ("folder", "sub/a.safetensors"), ("backslash", "..\\a.safetensors"),
                       ("dot", "."), ("dots", ".."), ("empty", ""), ("nul", "a.safetensors\0.x"),
                       ("here", "./a.safetensors")):
        yield f"path_{name}", "path", "reject", index({"x": path})
    for name, text in (("empty", b""), ("list", b"[]"), ("cut", index(good)[:-2]), ("two", b"{}{}"),
                       ("bad_utf8", b'{"weight_map":{"\xff":"a.safetensors"}}'),
                       ("deep", b'{"metadata":' + b"[" * 60_000 + b"]" * 60_000 + b"}"),
                       ("open", b'{"metadata":' + b'{"a":' * 60_000)):
        yield f"json_{name}", "json", "reject", text


# What the error says, of at least one file for each check; the others may meet several.
SAYS = {
    "cut_0.safetensors": "the header length at offset 0 needs (8) bytes",
    "cut_header_01.safetensors": "the header at offset 8 needs (",
    "length_5f5e101.safetensors": "its header has (100000001) bytes, but at most 100000000 are allowed.",
    "json_list.safetensors": "its header does not begin with '{'.",
    "json_two.safetensors": "its JSON text is wrong at byte (3)",
    "json_nul.safetensors": "its JSON text is wrong at byte (3)",
    "entry_list.safetensors": "the entry 'w' must be an object, but there is (a list).",
    "metadata_twice.safetensors": "the entry '__metadata__' occurs twice.",
    "metadata_number.safetensors": "the value of 'a' in '__metadata__' must be a text, but there is (a number).",
    "metadata_key_twice.safetensors": "the key 'a' of '__metadata__' occurs twice.",
    "entry_dtype_number.safetensors": "the field dtype of the tensor 'w' must be a text, but there is (a number).",
    "entry_shape_number.safetensors":
        "the field shape of the tensor 'w' must be a list of numbers, but there is (a number).",
    "entry_other_field.safetensors": "the tensor 'w' has the field 'strides', but fields are",
    "entry_shape_twice.safetensors": "the field 'shape' of the tensor 'w' occurs twice.",
    "entry_no_dtype.safetensors": "the tensor 'w' has no field dtype.",
    "entry_offsets_one.safetensors": "the data_offsets of the tensor 'w' have (1) numbers, but must have two",
    "entry_offsets_three.safetensors": "the data_offsets of the tensor 'w' have more than the two numbers",
    "shape_negative.safetensors":
        "the shape of the tensor 'w' must hold whole numbers from 0, but there is (a negative number).",
    "product_wraps_00.safetensors":
        "the shape of the tensor 'w' has the extent (18446744073709551615), but elements are at most 2^56.",
    "product_wraps_04.safetensors":
        "the tensor 'w' has the shape ([4294967296, 4294967296]), but elements are at most 2^56.",
    "rank_65.safetensors": "the shape of the tensor 'w' has more than (64) extents",
    "name_twice.safetensors": "the tensor name 'w' occurs twice.",
    "range_reversed.safetensors": "the tensor 'w' lies from (8) to (0) in the data, but the data has 8 bytes.",
    "range_beyond.safetensors": "the tensor 'w' lies from (4) to (12) in the data, but the data has 8 bytes.",
    "dtype_F32_short.safetensors": "of shape [8] and type F32 has (31) bytes, but needs 32.",
    "dtype_F4_odd.safetensors": "of shape [3] and type F4 has (2) bytes, but needs 2 and whole ones.",
    "hole_at_begin.safetensors": "the tensor 'w' begins at offset (8) of the data, but the one before it ends at 0;",
    "same_bytes_twice.safetensors": "begins at offset (0) of the data, but the one before it ends at 8;",
    "hole_at_end.safetensors": "the data has (16) bytes, but its tensors end at 8.",
    "no_map.index.json": "it has no 'weight_map'.",
    "two_maps.index.json": "'weight_map' occurs twice.",
    "tensor_twice.index.json": "the tensor name 'x' occurs twice.",
    "shard_number.index.json": "the file of the tensor 'x' must be a text, but there is (a number).",
    "map_list.index.json": "'weight_map' must be an object of tensors and file names, but there is (a list).",
    "json_list.index.json": "the index must be an object, but there is (a list).",
    "json_deep.index.json": "it nests deeper than (16) levels.",
    "path_dots.index.json": "the tensor 'x' lies in the file ('..'), but shards are plain file names",
}


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    shards = {"a": {"x": entry("F32", [2], 0, 8), "y": entry("F32", [2], 8, 16)},
              "b": {"z": entry("F32", [2], 0, 8)}}
    for name, header in shards.items():
        with open(f"{out}/{name}.safetensors", "wb") as file:
            file.write(pack(header, bytes(16 if name == "a" else 8)))
    made = [(f"{n}.safetensors", c, e, b) for n, c, e, b in files()]
    made += [(f"{n}.index.json", c, e, b) for n, c, e, b in indexes()]
    assert len({row[0] for row in made}) == len(made)
    assert SAYS.keys() <= {name for name, _, expectation, _ in made if expectation == "reject"}
    for name, _, _, data in made:
        with open(f"{out}/{name}", "wb") as file:
            file.write(data)
    with open(f"{out}/index.tsv", "w") as file:
        for name, kind, expectation, _ in made:
            file.write(f'{name}\t{kind}\t{expectation}\t{SAYS.get(name, "")}\n')
    print(len(made), "files", sum(len(row[3]) for row in made), "bytes")


if __name__ == "__main__":
    main()
