#!/bin/bash
# window_test.sh <window_probe>
# Uses the debugger's window as a person does: on an X server without a screen, 10 short clicks and
# 10 short key presses all count.
set -euo pipefail
probe=$1
if [[ -z ${REPRISE_XVFB:-} ]]; then
  REPRISE_XVFB=1 exec xvfb-run --auto-servernum --server-args="-screen 0 800x600x24 -noreset" \
    "$0" "$@"
fi

# Without a display: one line that says so.
if refused=$(DISPLAY='' "$probe" 2>&1); then
  echo "opened a window without a display: $refused"
  exit 1
fi
[[ $refused == "error: A window needs a display"* && $refused != *$'\n'* ]] ||
  { echo "not the error of a missing display: $refused"; exit 1; }

out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$probe" > "$out" &
pid=$!
deadline=$((SECONDS + 30))
until window=$(xdotool search --onlyvisible --name window_probe); do
  kill -0 "$pid" || { echo "the probe ended"; exit 1; }
  ((SECONDS < deadline)) || { echo "no window after 30 s"; kill "$pid"; exit 1; }
  sleep 0.1
done
xdotool windowfocus --sync "$window"
xdotool mousemove --sync --window "$window" 40 10
for _ in {1..10}; do
  xdotool click 1
done
for _ in {1..10}; do
  xdotool key n
done
xdotool windowsize --sync "$window" 500 350
xdotool key Escape
wait "$pid"
echo "$(< "$out")"
[[ $(< "$out") == "clicks 10, presses 10" ]]
