#!/bin/bash
# window_test.sh <window_probe> | window_test.sh <reprise-debugger> <database> <window_manager>
# Uses a window as a person does, on an X server without a screen. In the probe's, 10 short clicks
# and 10 short key presses all count, and the rules of Vulkan are kept. That of reprise-debugger on
# a copy of the database is zoomed, resized, iconified,
# restored, made smaller and larger again, and closed, keeps its scale, and says nothing.
set -euo pipefail
program=$1 database=${2:-} manager=${3:-}
if [[ -z ${REPRISE_XVFB:-} ]]; then
  REPRISE_XVFB=1 exec xvfb-run --auto-servernum --server-args="-screen 0 800x600x24 -noreset" \
    "$0" "$@"
fi

folder=$(mktemp -d)
export XDG_CONFIG_HOME=$folder/config  # not what the user keeps there
pid=
clean_up() {
  [[ -z $pid ]] || kill "$pid" 2> /dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT

fail() {
  echo "$1"
  cat "$folder/out" "$folder/err"
  exit 1
}

# until_true <what> <command...>: repeats the command until it succeeds.
until_true() {
  local what=$1 deadline=$((SECONDS + 30))
  shift
  until "$@"; do
    kill -0 "$pid" 2> /dev/null || fail "the program ended before this: $what"
    ((SECONDS < deadline)) || fail "not after 30 s: $what"
    sleep 0.05
  done
}

# open <title> <arguments...>: sets pid and window.
open() {
  local title=$1
  shift
  "$program" "$@" > "$folder/out" 2> "$folder/err" &
  pid=$!
  finds_window() { window=$(xdotool search --onlyvisible --name "$title"); }
  until_true "a window" finds_window
  xdotool windowfocus --sync "$window"
}

# The exit status of the program has to be 0.
expect_success() {
  local status=0
  wait "$pid" || status=$?
  pid=
  ((status == 0)) || fail "exit status $status"
}

test_probe() {
  # Without a display: one line that says so.
  local refused
  if refused=$(DISPLAY='' "$program" 2>&1); then
    fail "opened a window without a display: $refused"
  fi
  [[ $refused == "error: A window needs a display"* && $refused != *$'\n'* ]] ||
    fail "not the error of a missing display: $refused"

  open window_probe
  xdotool mousemove --sync --window "$window" 40 10
  for _ in {1..10}; do
    xdotool click 1
  done
  for _ in {1..10}; do
    xdotool key n
  done
  xdotool key ctrl+plus
  xdotool windowsize --sync "$window" 500 350
  xdotool key Escape
  expect_success
  [[ $(< "$folder/out") == "clicks 10, presses 10" ]] || fail "not 10 clicks and 10 presses"
}

test_debugger() {
  cp "$database" "$folder/profile.db"
  open "profile.db - reprise-debugger" "$folder/profile.db"
  local before=
  picture() { "$manager" picture "$window"; }
  is_still() {
    local last=$before
    before=$(picture)
    [[ $before == "$last" ]]
  }
  is_first() { [[ $(picture) == "$first" ]]; }
  changes() { [[ $(picture) != "$before" ]]; }

  until_true "the capture is read and drawn" is_still
  xdotool key ctrl+plus
  until_true "another scale is drawn" changes
  until_true "another scale is drawn to the end" is_still
  is_kept() { grep -q '"zoom": 1' "$XDG_CONFIG_HOME/reprise/debugger.json" 2> /dev/null; }
  until_true "the scale is kept while the window is open" is_kept
  xdotool windowsize --sync "$window" 700 500
  until_true "another size is drawn" changes
  until_true "another size is drawn to the end" is_still
  "$manager" iconify "$window"
  "$manager" restore "$window"
  xdotool windowfocus --sync "$window"
  until_true "the restored window is drawn to the end" is_still
  xdotool key ctrl+0
  until_true "the first scale is drawn" changes
  until_true "the first scale is drawn to the end" is_still
  local first=$before
  for _ in {1..10}; do
    xdotool key ctrl+minus
  done
  until_true "a smaller scale is drawn" changes
  until_true "a smaller scale is drawn to the end" is_still
  for _ in {1..8}; do  # as many as there are down to the least
    xdotool key ctrl+plus
  done
  until_true "the first scale is drawn again" is_first
  "$manager" close "$window"
  expect_success
  [[ ! -s $folder/err ]] || fail "it wrote to stderr"
}

if [[ -z $database ]]; then
  test_probe
else
  test_debugger
fi
