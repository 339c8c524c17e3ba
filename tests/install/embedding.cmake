# cmake -DREPRISE=<sources> -DWORK= -DGENERATOR= -DCXX= -DFLAGS= -DVULKAN=<ON|OFF> [-DBUILD=ON]
#       -P embedding.cmake
# A project that has the sources as a part of itself is configured; if asked, built and run.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/embedding -B ${WORK} -G ${GENERATOR}
          -DREPRISE=${REPRISE} -DREPRISE_VULKAN=${VULKAN} -DCMAKE_CXX_COMPILER=${CXX}
          "-DCMAKE_CXX_FLAGS=${FLAGS}"
  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
if(BUILD)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${WORK}/consumer COMMAND_ERROR_IS_FATAL ANY)
endif()
