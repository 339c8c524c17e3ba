# cmake -DLIBRARY=<libreprise.so> -DNM=<nm> -P exports.cmake
# The shared library exports what is in namespace reprise, apart from the insides of its backends,
# and nothing of the libraries within it.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY}
                OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," text "${text}")
string(REGEX MATCHALL "[^\n]+" lines "${text}")
set(violations "")
set(exported 0)
foreach(line IN LISTS lines)
  if(line MATCHES "^REPRISE_0.1[@ ]")
    continue()
  endif()
  math(EXPR exported "${exported} + 1")
  # Mangled: not every nm demangles names with versions.
  if(line MATCHES "7reprise(6vulkan|7shaders|3cpu)" AND NOT line MATCHES "^_ZN7reprise3cpu10has_kernel")
    string(APPEND violations "${line}: inside of a backend\n")
  elseif(NOT line MATCHES "^_Z.*7reprise")
    string(APPEND violations "${line}: not of this project\n")
  endif()
endforeach()
if(violations)
  message(FATAL_ERROR "\n${violations}")
endif()
if(exported LESS 100)
  message(FATAL_ERROR "${LIBRARY} exports ${exported} symbols alone")
endif()
message(STATUS "${exported} symbols")
