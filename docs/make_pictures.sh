#!/bin/bash
# Draws the pictures of the documents from the captures that the tests use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=tests/debugger/data
# draw <script> <argument>...
draw() {
  local script="$1"
  shift
  "${DEBUGGER:-build/release/bin/reprise-debugger}" shot "$@" --size 1600x900 --source "$data" \
    --script "$script" -o "docs/pictures/$(basename "$script" .ui).png"
}
for script in docs/pictures/debugger.ui docs/tours/stories260K/*.ui; do
  draw "$script" "$data/stories260K.db"
done
for script in docs/tours/demo/*.ui; do
  draw "$script" "$data/after.db" --against "$data/before.db"
done
