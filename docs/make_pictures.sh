#!/bin/bash
# Draws the pictures of the documents from the capture that the tests use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shot=(build/release/bin/reprise-debugger shot tests/debugger/data/stories260K.db --size 1600x900
      --source tests/debugger/data)
"${shot[@]}" --script docs/pictures/debugger.ui -o docs/pictures/debugger.png
