# cmake -DPREFIX= -DLIBDIR= -DCONSUMER= -DWORK= -DPKG_CONFIG= -DCXX= -DFLAGS= -P pkg_config.cmake
# A program is compiled with what pkg-config says, and linked with the shared and with the static libraries.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR})

function(pkg_config result)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN} OUTPUT_VARIABLE words
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  set(${result} ${words} PARENT_SCOPE)
endfunction()
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
pkg_config(compile --cflags reprise)
execute_process(
  COMMAND ${CXX} -std=c++20 ${FLAGS} ${compile} -c ${CONSUMER}/main.cpp -o ${WORK}/main.o
  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
foreach(library reprise reprise-static)
  pkg_config(link --libs ${library})
  execute_process(COMMAND ${CXX} ${FLAGS} ${WORK}/main.o ${link}
                  -o ${WORK}/${library}-consumer
                  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${WORK}/${library}-consumer COMMAND_ERROR_IS_FATAL ANY)
endforeach()
