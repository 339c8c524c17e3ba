#!/bin/bash
# What building costs, beside another commit: user and system seconds of cold builds without a
# compiler cache, one tree after the other on this machine, and the size of the programs.
# usage: bench/build_cost.sh [COMMIT]    a434f33 unless given; both trees are clones of what is committed
set -euo pipefail
root=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
base=$(git -C "$root" rev-parse --verify "${1:-a434f33}^{commit}")
here=$(git -C "$root" rev-parse HEAD)
export CCACHE_DISABLE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# seconds <command>...: user and system time of it and of what it started; its output goes to a log.
seconds() {
  local TIMEFORMAT='%U %S'
  { time "$@" >>"$scratch/log" 2>&1; } 2>&1 | awk '{ printf "%.0f", $1 + $2 }'
}

# step <tree> <name>: one of the builds. `programs` is what the demo left of the release build.
step() {
  cd "$scratch/$1"
  case "$2" in
    demo)
      cmake --preset release >>"$scratch/log"
      # Its own command, whatever targets it names.
      seconds bash -c "$(grep -E '^cmake --build --preset release' demo)"
      ;;
    programs) seconds cmake --build --preset release ;;
    check)
      cmake --preset dev >>"$scratch/log"
      seconds cmake --build --preset dev
      ;;
  esac
}

for tree in base here; do
  git clone -q "$root" "$scratch/$tree"
  git -C "$scratch/$tree" checkout -q "${!tree}"
done
printf '| build | %s s | %s s | ratio |\n|---|---:|---:|---:|\n' "${base:0:7}" "${here:0:7}"
for name in demo programs check; do
  before=$(step base "$name")
  after=$(step here "$name")
  printf '| %s | %s | %s | %s |\n' "$name" "$before" "$after" \
    "$(awk "BEGIN { printf \"%.2f\", $after / $before }")"
done
for tree in base here; do
  size=$(cd "$scratch/$tree/build/release" && find bin lib -type f -exec du -cm {} + 2>/dev/null | tail -1 | cut -f1)
  printf '%s: programs and shared libraries have %s MB\n' "$tree" "$size"
done
