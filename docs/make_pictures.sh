#!/bin/bash
# Draws the pictures of the documents from the captures that the tests use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=tests/debugger/data
# Files of a checkout are younger than the captures, and would be marked.
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
cp -r "$data/samples" "$data/debugger" "$sources/"
find "$sources" -type f -exec touch -d 2026-01-01 {} +
# draw <script> <argument>...
draw() {
  local script="$1"
  shift
  "${DEBUGGER:-build/release/bin/reprise-debugger}" shot "$@" --size 1600x900 --source "$sources" \
    --script "$script" -o "docs/pictures/$(basename "$script" .ui).png"
}
for script in docs/pictures/debugger.ui docs/tours/stories260K/*.ui; do
  draw "$script" "$data/stories260K.db"
done
for script in docs/tours/demo/*.ui; do
  draw "$script" "$data/after.db" --against "$data/before.db"
done
