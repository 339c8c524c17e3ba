# cmake -DDOC=<markdown> -DCOMMAND=<program;argument...> -P output.cmake
# The document shows what the command prints, whole.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
file(READ ${DOC} text)
string(LENGTH "${output}" length)
string(FIND "${text}" "${output}" at)
if(length LESS 100 OR at EQUAL -1)
  list(JOIN COMMAND " " command)
  message(FATAL_ERROR "${DOC} does not show what `${command}` prints now:\n${output}")
endif()
