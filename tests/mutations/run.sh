#!/bin/bash
# Applies each patch of this folder to a copy of the tree and expects what its header names:
#   # <what it breaks>
#   # Expect: <test>               this test fails: of the program among the targets, or of ctest
#   # Expect-build: <text>         the build stops and says this
#   # Expect-configure: <text>     the configuration stops and says this
#   # Target: <target>             what to build for it; without one nothing is built
# The copies and the build folder stay under build/mutants, so that a later run is quick.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch="$root/build/mutants"
snapshot="$scratch/snapshot"  # the tree may be edited while this runs
tree="$scratch/tree"
build="$scratch/dev"
log="$scratch/log.txt"
mkdir -p "$scratch"
export GIT_CEILING_DIRECTORIES="$scratch"  # in the copy, git must not find the repository

field() {  # <name> <patch>
  sed -n "s/^# $1: //p" "$2"
}

files_of() {
  (cd "$1" && find . \( -path ./build -o -path ./.git -o -name __pycache__ \) -prune \
    -o -type f ! -name 'profile.db*' -print) | sort
}

# Makes the folder <to> equal to <from> and touches only what differs: so a file that a patch had
# changed becomes newer than what was built from it.
sync_folders() {  # <from> <to>
  local file
  mkdir -p "$2"
  comm -13 <(files_of "$1") <(files_of "$2") | while IFS= read -r file; do
    rm "$2/$file"
  done
  files_of "$1" | while IFS= read -r file; do
    if ! cmp -s "$1/$file" "$2/$file"; then
      mkdir -p "$2/$(dirname "$file")"
      cp "$1/$file" "$2/$file"
    fi
  done
}

restore() {
  sync_folders "$snapshot" "$tree"
}

configure() {
  cmake --preset dev -S "$tree" -B "$build" >"$log" 2>&1
}

build() {  # <target>...
  [[ $# -eq 0 ]] || cmake --build "$build" --target "$@" >"$log" 2>&1
}

run_test() {  # <test> <target>...: by the test program among the targets if there is one
  local program
  for program in "${@:2}"; do
    if [[ "$program" == reprise*_tests ]]; then
      "$build/bin/$program" --gtest_brief=1 --gtest_filter="$1" >"$log" 2>&1 &&
        ! grep -q 'PASSED  . 0 tests' "$log"
      return
    fi
  done
  ctest --test-dir "$build" -R "^${1//./\\.}\$" --no-tests=error >"$log" 2>&1
}

said() {  # <text>; messages may be wrapped
  [[ "$(tr -s ' \n' ' ' <"$log")" == *"$1"* ]]
}

# The outcome of one patch in $verdict.
try() {  # <patch>
  local patch="$1" test text
  if ! git -C "$tree" apply "$patch" >"$log" 2>&1; then
    verdict="BROKEN: the patch does not apply"
    return 1
  fi
  text=$(field Expect-configure "$patch")
  if ! configure; then
    verdict="BROKEN: the configuration stops"
    [[ -n "$text" ]] && said "$text" && verdict="by the configuration: $text"
    return
  fi
  if [[ -n "$text" ]]; then
    verdict="SURVIVED: the configuration goes on"
    return 1
  fi
  text=$(field Expect-build "$patch")
  # shellcheck disable=SC2046 # one word per target
  if ! build $(field Target "$patch"); then
    verdict="BROKEN: the build stops"
    [[ -n "$text" ]] && said "$text" && verdict="by the build: $text"
    return
  fi
  if [[ -n "$text" ]]; then
    verdict="SURVIVED: the build goes on"
    return 1
  fi
  test=$(field Expect "$patch")
  verdict="SURVIVED: $test passes"
  # shellcheck disable=SC2046 # one word per target
  ! run_test "$test" $(field Target "$patch") && verdict="by $test"
}

sync_folders "$root" "$snapshot"
patches=("$snapshot"/tests/mutations/*.patch)
echo "without a patch:"
restore
mapfile -t targets < <(for p in "${patches[@]}"; do field Target "$p"; done | sort -u)
mapfile -t tests < <(for p in "${patches[@]}"; do
  [[ -z "$(field Expect "$p")" ]] || echo "$(field Expect "$p") $(field Target "$p")"
done | sort -u)
if ! { configure && build "${targets[@]}"; }; then
  cat "$log" >&2
  echo "error: The tree does not build." >&2
  exit 1
fi
for test in "${tests[@]}"; do
  # shellcheck disable=SC2086 # the test, then one word per target
  if ! run_test $test; then
    cat "$log" >&2
    echo "error: $test fails without a patch, or there is no such test." >&2
    exit 1
  fi
  echo "  passed $test"
done

passed=0
failed=0
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  restore
  if try "$patch" && [[ "$verdict" == by\ * ]]; then
    passed=$((passed + 1))
    echo "caught $name $verdict"
  else
    failed=$((failed + 1))
    echo "$name $verdict"
    tail -n 20 "$log" | sed 's/^/    /'
  fi
done
restore
echo "$passed passed, $failed failed"
[[ "$failed" -eq 0 ]]
