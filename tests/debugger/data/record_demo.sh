#!/bin/bash
# record_demo.sh [DEBUGGER]: makes before.db and after.db, the captures of reprise-debugger --demo that
# the debugger's tests open. Facts about the machine and its paths are replaced; a commit is made up
# for each, as they come from one build.
set -euo pipefail
data=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
root=$(realpath "$data/../../..")
debugger=$(realpath "${1:-$root/build/release/bin/reprise-debugger}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$debugger" shot --demo --keep "$work" -o "$work/demo.png" --size 64x64
for name in before after; do
  commit=3f1c0a9d2e
  [[ "$name" == before ]] || commit=b7e54d810c
  sqlite3 "$work/$name.db" <<SQL
UPDATE hosts SET hostname = 'example', machine_id_hash = '0000000000000000';
UPDATE runs SET pid = 1;
UPDATE builds SET git_commit = '$commit', git_dirty = 0;
UPDATE nodes SET src_file = replace(replace(src_file, '$root/', ''), '../../', '');
UPDATE events SET message = replace(replace(message, '$root/', ''), '../../', '');
VACUUM INTO '$work/compact.db';
SQL
  mv "$work/compact.db" "$data/$name.db"
done
mkdir -p "$data/debugger/demo"
cp "$root/debugger/demo/demo_capture.cpp" "$data/debugger/demo/"
