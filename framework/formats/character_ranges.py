#!/usr/bin/env python3
"""Writes character_ranges.cpp: the letters and numbers of the Unicode version of this Python (Debian
12: 14.0.0).
usage: character_ranges.py > character_ranges.cpp
       character_ranges.py --check character_ranges.cpp   status 1 if it differs"""
import sys
import unicodedata


def ranges(kind):
    found = []
    for code in range(0x110000):
        if unicodedata.category(chr(code))[0] == kind:
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def table(name, kind):
    items = ["{0x%X, 0x%X}" % tuple(r) for r in ranges(kind)]
    lines = [", ".join(items[i:i + 4]) for i in range(0, len(items), 4)]
    return ("constexpr CharacterRange k%s[] = {\n    " % name + ",\n    ".join(lines) + "};\n")


def main():
    text = f"""// Made by character_ranges.py from Unicode {unicodedata.unidata_version}: general categories L and N.
#include "framework/formats/character_class.h"

namespace reprise {{
namespace {{

// clang-format off
{table("Letters", "L")}
{table("Numbers", "N")}// clang-format on

}}  // namespace

std::span<const CharacterRange> letter_ranges() {{ return kLetters; }}

std::span<const CharacterRange> number_ranges() {{ return kNumbers; }}

}}  // namespace reprise
"""
    if sys.argv[1:2] != ["--check"]:
        sys.stdout.write(text)
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        kept = file.read()
    if kept.split("\n")[0] != text.split("\n")[0]:
        print(f"made by another version of Unicode than {unicodedata.unidata_version}: not compared")
    elif kept != text:
        sys.exit(f"error: {sys.argv[2]} is not what character_ranges.py writes.")


main()
