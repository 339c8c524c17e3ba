#!/bin/bash
# record.sh MODEL.gguf: makes stories260K.db, the capture that the debugger's tests open: a decode run
# of stories260K (not part of this repository) on the CPU without node times, then one through Vulkan
# with them. Facts about the machine and its paths are replaced.
set -euo pipefail
model=$(realpath "$1")
data=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
root=$(realpath "$data/../../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LP_NUM_THREADS=0
llama=("$root/build/release/bin/reprise-llama" -m stories260K.gguf -p "Once upon a time")
cd "$work"
ln -s "$model" stories260K.gguf
"${llama[@]}" -n 12 --device cpu --profile stories.db --profile-mode replay
"${llama[@]}" -n 60 --device vulkan --profile stories.db --profile-mode node
sqlite3 stories.db <<SQL
UPDATE hosts SET hostname = 'example', machine_id_hash = '0000000000000000';
UPDATE runs SET pid = 1;
UPDATE nodes SET src_file = replace(replace(src_file, '$root/', ''), '../../', '');
VACUUM INTO '$work/compact.db';
SQL
mv compact.db "$data/stories260K.db"
