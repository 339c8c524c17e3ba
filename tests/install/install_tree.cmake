# cmake -DBUILD=<build folder> -DSOURCE=<project> -DPREFIX=<folder> -P install_tree.cmake
# Installs to another folder and moves it to the prefix. Nothing that others read may name the
# folder it was installed to, the sources or the build.
cmake_minimum_required(VERSION 3.25)
set(first ${PREFIX}_from)
file(REMOVE_RECURSE ${first} ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${first}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${first} ${PREFIX})

foreach(path bin/reprise bin/reprise-llama include/reprise/reprise.h include/reprise/ops.h
        share/doc/reprise/LICENSE share/doc/reprise/README.md share/doc/reprise/docs/installing.md)
  if(NOT EXISTS ${PREFIX}/${path})
    message(FATAL_ERROR "${path} is not installed")
  endif()
endforeach()

file(GLOB_RECURSE texts ${PREFIX}/*.cmake ${PREFIX}/*.pc ${PREFIX}/*.h)
set(violations "")
foreach(path IN LISTS texts)
  file(READ ${path} text)
  foreach(folder ${first} ${SOURCE} ${BUILD})
    string(FIND "${text}" "${folder}" at)
    if(NOT at EQUAL -1)
      string(APPEND violations "${path}: names ${folder}\n")
    endif()
  endforeach()
endforeach()
if(violations)
  message(FATAL_ERROR "\n${violations}")
endif()

execute_process(COMMAND ${PREFIX}/bin/reprise devices OUTPUT_VARIABLE devices
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT devices MATCHES "cpu:0")
  message(FATAL_ERROR "the installed program lists no CPU:\n${devices}")
endif()
