# Sourced by demo and check: the Debian 12 packages, and installing those that are missing.
# It installs nothing that is there already and asks the network only if something is missing.

# shellcheck shell=bash disable=SC2034 # the lists are for those who source this
build_packages=(
  cmake ninja-build g++ ccache pkg-config  # the build
  git                                      # the commit written into profiles; applies mutants
  libvulkan-dev spirv-headers              # Vulkan loader and headers; SPIR-V reflection
  glslang-tools                            # glslangValidator: shaders to SPIR-V
  glslang-dev spirv-tools                  # kernels that are compiled, and validated, at run time
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
  clang lld                 # the dev preset: compiles and links tests in a third of the time of g++
  xvfb openbox xdotool      # the debugger's window is driven as on a desktop
  valgrind                  # counts what recording costs
)

# install_packages <package>...: returns 1, having named them, if packages stay missing.
install_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    echo "This is not a Debian system; needed are the counterparts of: $*" >&2
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
    echo "error: apt-get failed; install these packages: ${missing[*]}" >&2
    return 1
  fi
}
