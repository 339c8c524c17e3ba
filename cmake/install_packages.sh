# Sourced by demo and check: the Debian 12 packages, and installing those that are missing.
# It installs nothing that is there already and asks the network only if something is missing.

# shellcheck shell=bash disable=SC2034 # the lists are for those who source this
build_packages=(
  cmake ninja-build ccache pkg-config      # the build
  clang lld g++                            # it compiles in two thirds of the time of g++, whose library it uses
  git                                      # the commit written into profiles; applies mutants
  libvulkan-dev spirv-headers              # Vulkan loader and headers; SPIR-V reflection
  glslang-dev                              # GLSL to SPIR-V: shaders, and kernels at run time
  glslang-tools                            # the CMake files of glslang-dev fail without it
  spirv-tools                              # kernels are validated at run time
  libhwy-dev                               # vectors with run-time dispatch: the CPU's kernels
  libdlpack-dev                            # the layout of tensors exchanged with other libraries
  libopenblas-dev                          # what the bench compares matrix products with
  libsqlite3-dev libxxhash-dev             # the profiling database and its content hashes
  nlohmann-json3-dev libcli11-dev          # JSON output and command lines
  libimgui-dev libstb-dev libfreetype-dev libfmt-dev  # the debugger: widgets, PNG files, glyphs, text
  libglfw3-dev                             # the debugger's window
  fonts-inter fonts-jetbrains-mono fonts-font-awesome  # embedded in the debugger
  mesa-vulkan-drivers                      # lavapipe: Vulkan without a GPU
  sqlite3                                  # queries on the profiling database
)
test_packages=(
  libgtest-dev              # unit tests
  python3                   # writes malformed model files
  vulkan-validationlayers   # every Vulkan test runs under them
  xvfb openbox xdotool libx11-dev  # the debugger's window is driven as on a desktop
  valgrind                  # counts what recording costs
)

# require_tools <command>...: returns 1, having named it, if one cannot be found.
require_tools() {
  local tool
  for tool in "$@"; do
    if ! command -v "$tool" >/dev/null; then
      echo "error: $tool was not found. Install it (cmake/install_packages.sh lists Debian's packages)." >&2
      return 1
    fi
  done
}

# require_space <MB>: returns 1 if the disk of the current folder has less.
require_space() {
  local free
  free=$(df -Pm . | awk 'NR == 2 { print $4 }')
  if ((free < $1)); then
    echo "error: The disk of $PWD has $free MB left; the build needs $1 MB. Free some and try again." >&2
    return 1
  fi
}

# install_packages <package>...: returns 1, having named them, if packages stay missing.
install_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    echo "This is not a Debian system. If the build fails, install the counterparts of: $*" >&2
    return 0
  fi
  local package missing=()
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" != "install ok installed" ]]; then
      missing+=("$package")
    fi
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    return 0
  fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  if [[ "$(id -u)" -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "error: Not root and no sudo; install these packages: ${missing[*]}" >&2
      return 1
    fi
    apt=(sudo "${apt[@]}")
  fi
  echo "installing: ${missing[*]}" >&2
  if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } >&2; then
    echo "error: apt-get failed. Connect to the network and try again, or install by hand: ${missing[*]}" >&2
    return 1
  fi
}
