#!/usr/bin/env python3
"""Seeds of the profile fuzzer: the databases of all schema versions in small pages.
usage: profile_seeds.py OUTDIR"""
import os
import shutil
import sqlite3
import sys

VERSIONS = os.path.join(os.path.dirname(__file__), "..", "profile", "versions")


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sorted(os.listdir(VERSIONS)):
        path = os.path.join(out, name)
        shutil.copy(os.path.join(VERSIONS, name), path)
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA journal_mode=DELETE")
            database.execute("PRAGMA page_size=512")
            database.execute("VACUUM")


main()
