#!/bin/bash
# What ./demo and ./check say on a machine that lacks something: each case replaces a command of the
# system by a function, and expects a sentence and the exit status 1.
# shellcheck disable=SC2317 # they are called by what is sourced
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/install_packages.sh"
failed=0

# expect <what is missing> <pattern> <command>...: runs it in a shell of its own.
expect() {
  local said
  if said=$("${@:3}" 2>&1); then
    echo "$1: it succeeded"
    failed=1
  elif ! grep -qE "^error: $2" <<<"$said"; then
    printf '%s: it says\n%s\n' "$1" "$said"
    failed=1
  fi
}

without_network() {
  dpkg-query() { return 1; }
  apt-get() { return 100; }
  env() { apt-get; }
  id() { echo 0; }
  install_packages some-package
}
without_sudo() {
  dpkg-query() { return 1; }
  apt-get() { :; }
  id() { echo 1000; }
  command() { [[ "$2" != sudo ]]; }
  install_packages some-package
}
full_disk() {
  df() { printf 'Filesystem 1048576-blocks Used Available Capacity Mounted\n/dev/x 100 93 7 93%% /\n'; }
  require_space 600
}

expect "no network" 'apt-get failed\. Connect to the network.*: some-package$' without_network
expect "no sudo" 'Not root and no sudo; install these packages: some-package$' without_sudo
expect "a full disk" 'The disk of .* has 7 MB left; the build needs 600 MB\.' full_disk
expect "no compiler" 'no-such-compiler was not found\. Install it' require_tools bash no-such-compiler
exit "$failed"
