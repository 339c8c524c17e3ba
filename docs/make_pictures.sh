#!/bin/bash
# Draws the pictures of the documents, from the captures that the tests use and from a run of the tutorial.
# usage: docs/make_pictures.sh [NAME]...    all of them, or those of these scripts: slowest_op
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
names=("$@")
bin=${BIN:-build/release/bin}
data=tests/debugger/data
# Files of a checkout are younger than the captures, and would be marked.
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
cp -r "$data/samples" "$data/debugger" "$sources/"
find "$sources" -type f -exec touch -d 2026-01-01 {} +
# draw <script> <argument>...
draw() {
  local script="$1" name
  name=$(basename "$script" .ui)
  shift
  if [[ ${#names[@]} -eq 0 || " ${names[*]} " == *" $name "* ]]; then
    "$bin/reprise-debugger" shot "$@" --size 1600x900 --script "$script" -o "docs/pictures/$name.png"
  fi
}
for script in docs/pictures/debugger.ui docs/tours/stories260K/*.ui; do
  draw "$script" "$data/stories260K.db" --source "$sources"
done
for script in docs/tours/demo/*.ui; do
  draw "$script" "$data/after.db" --against "$data/before.db" --source "$sources"
done
"$bin/tutorial_5_profile" samples/models/tales-q8_0.gguf "Once upon a time" "$sources/tutorial.db" cpu >/dev/null
for script in docs/tutorial/*.ui; do
  draw "$script" "$sources/tutorial.db" --source samples/tutorial
done
