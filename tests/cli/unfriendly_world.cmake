# Full disks, terminals, endless files, numbers beyond 64 bits, models that are shortened: what the
# programs do where the world around them is unfriendly.

# lost_outputs(<command line>...): status 0 means that the output arrived. DB and MODEL are good ones.
function(lost_outputs)
  foreach(line IN LISTS ARGN)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words program)
    string(MAKE_C_IDENTIFIER "${line}" name)
    string(REGEX REPLACE "_+" "_" name "${name}")
    string(REPLACE DB ${PROJECT_SOURCE_DIR}/tests/debugger/data/after.db words "${words}")
    string(REPLACE MODEL ${good} words "${words}")
    add_test(NAME cli.lost_${name} COMMAND ${CMAKE_COMMAND}
      "-DCOMMAND=sh;-c;exec \"$0\" \"$@\" >/dev/full;$<TARGET_FILE:${program}>;${words}"
      -DEXIT=1 "-DSTDERR=(^|\n)error: The standard output cannot be written: [^\n]*\n$"
      -DENV=REPRISE_PIPELINE_CACHE= -P ${CMAKE_CURRENT_SOURCE_DIR}/run.cmake)
    set_tests_properties(cli.lost_${name} PROPERTIES TIMEOUT 300)
  endforeach()
endfunction()
lost_outputs(
  "reprise --help" "reprise devices" "reprise ops" "reprise model info MODEL" "reprise model info MODEL --json"
  "reprise db info DB" "reprise db nodes DB --json" "reprise db timeline DB --csv" "reprise db check DB"
  "reprise db export DB --html -" "reprise sql DB 'SELECT 1'"
  "reprise-debugger --version" "reprise-bench --help"
  "reprise-golden --help" "hello_session" "query_profile DB" "executable_llama MODEL cpu"
  "reprise-llama -m MODEL -p Once -n 3 --device cpu" "reprise-llama -m MODEL -p Once -n 3 --device cpu --json")

# A picture that does not fit is no picture.
cli_test(debugger_shot_onto_a_full_disk EXIT 1 COMMAND reprise-debugger shot ${capture} -o /dev/full --size 640x480
  STDERR "error: The file ./dev/full. cannot be written")
set(cut ${CMAKE_CURRENT_BINARY_DIR}/cut.png)
add_test(NAME cli.debugger_shot_larger_than_allowed COMMAND ${CMAKE_COMMAND}
  "-DCOMMAND=sh;-c;trap '' XFSZ && ulimit -f 1 && exec \"$0\" \"$@\";$<TARGET_FILE:reprise-debugger>;shot;${capture};-o;${cut};--size;640x480"
  -DEXIT=1 "-DSTDERR=error: The file .${cut}. cannot be written" -DABSENT=${cut} -DENV=MESA_SHADER_CACHE_DISABLE=true
  -P ${CMAKE_CURRENT_SOURCE_DIR}/run.cmake)

# A path that names no file is written into as it is, or refused; it is never replaced.
add_test(NAME cli.export_into_a_pipe COMMAND sh -c
  "rm -f $2; mkfifo $2 && { cat $2 > $2.dot & } && \"$0\" db export \"$1\" --dot $2 && wait && test -p $2 && grep -q digraph $2.dot"
  $<TARGET_FILE:reprise> ${capture} ${CMAKE_CURRENT_BINARY_DIR}/pipe)
set_tests_properties(cli.export_into_a_pipe PROPERTIES TIMEOUT 300)
cli_test(export_into_a_device EXIT 0 COMMAND reprise db export ${capture} --dot /dev/null --svg /dev/stdout STDOUT "<svg")
cli_test(llama_profile_of_a_device EXIT 1 COMMAND reprise-llama -m ${good} -p x -n 1 --device cpu --profile /dev/null
  STDERR "profiling database ./dev/null. cannot be opened: it is not a regular file")

# Nobody waits for the writer of a pipe, but where a text is read, which may come from a program.
set(pipes ${CMAKE_CURRENT_BINARY_DIR}/pipes)
file(REMOVE_RECURSE ${pipes})
file(MAKE_DIRECTORY ${pipes})
foreach(pipe golden.bin model.gguf model.index.json capture.db)
  execute_process(COMMAND mkfifo ${pipes}/${pipe} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(COPY_FILE ${PROJECT_SOURCE_DIR}/tests/debugger/data/after.db ${pipes}/sound.db)
foreach(command "reprise model info model.gguf" "reprise model info model.index.json"
    "reprise-llama -m model.gguf -p x" "reprise-bench llm -m model.gguf" "reprise-golden . --device cpu"
    "reprise db info capture.db" "reprise db prune capture.db --keep-runs 1" "reprise db merge sound.db capture.db -o merged.db"
    "reprise sql capture.db 'SELECT 1'" "reprise-debugger shot capture.db -o x.png"
    "reprise-debugger shot sound.db --against capture.db -o x.png"
    "reprise-llama -m ${good} -p x -n 1 --device cpu --profile capture.db")
  separate_arguments(words UNIX_COMMAND "${command}")
  string(REPLACE "${good}" MODEL name "${command}")
  string(MAKE_C_IDENTIFIER "pipe_${name}" name)
  string(REGEX REPLACE "_+" "_" name "${name}")
  cli_test(${name} EXIT 1 COMMAND ${words}
    STDERR "error: [^\n]*(not a regular file|it is not a file|There is no file|Cannot read the file)")
  set_tests_properties(cli.${name} PROPERTIES WORKING_DIRECTORY ${pipes} TIMEOUT 60)
endforeach()

add_test(NAME cli.pipe_in_the_place_of_a_log COMMAND sh -c
  "rm -f log.db* scrubbed.db && cp sound.db log.db && mkfifo log.db-wal && exec \"$0\" db scrub log.db -o scrubbed.db"
  $<TARGET_FILE:reprise>)
set_tests_properties(cli.pipe_in_the_place_of_a_log PROPERTIES WORKING_DIRECTORY ${pipes} TIMEOUT 60)

# in_terminal(<name> <status> <part of what is printed> <program> <word>...)
function(in_terminal name status part program)
  add_test(NAME cli.in_terminal_${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/in_terminal.py
    ${status} "${part}" $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(cli.in_terminal_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT REPRISE_PIPELINE_CACHE=)
endfunction()
set(hostile "x\\x1bcy\\x07\\x9bz\\u202e")  # no bracket: lists of CMake count them
in_terminal(text 0 "x?cy???z" reprise-llama -m ${good} -p ${hostile} -n 3 --device cpu)
in_terminal(texts 0 "x?cy???z" reprise-llama -m ${good} -p ${hostile} --parallel 2 -n 3 --device cpu)
in_terminal(json 0 "\\u009b" reprise sql ${capture} "SELECT '${hostile}' AS a" --json)
in_terminal(architecture 1 "error: " reprise-llama -m ${bad}/escapes_architecture.gguf -p x)
in_terminal(model_file 1 "x?cy???z" reprise-llama -m "/nonexistent/${hostile}" -p x)
in_terminal(model_of_info 1 "x?cy???z" reprise model info "/nonexistent/${hostile}")
in_terminal(database 1 "x?cy???z" reprise db diff "/nonexistent/${hostile}" ${capture})
in_terminal(debugger 1 "x?cy???z" reprise-debugger shot "/nonexistent/${hostile}" -o x.png)
in_terminal(golden 1 "x?cy???z" reprise-golden "/nonexistent/${hostile}" --device cpu)
in_terminal(bench 1 "x?cy???z" reprise-bench llm -m "/nonexistent/${hostile}" --device cpu)
in_terminal(sample 1 "x?cy???z" query_profile "/nonexistent/${hostile}")
# What CLI11 says of a command line, and one error of the benchmarks' own.
foreach(command "reprise ops" "reprise-debugger" "reprise-llama -m none -p x" "reprise-bench dispatch" "reprise-golden none")
  separate_arguments(words UNIX_COMMAND ${command})
  list(POP_FRONT words program)
  in_terminal(option_of_${program} 2 "x?cy???z" ${program} ${words} "--${hostile}")
endforeach()
in_terminal(one_dash_of_bench 2 "xx?cy???z" reprise-bench "-x${hostile}")
in_terminal(value_of_an_option 2 "x?cy???z" reprise-debugger shot --scale ${hostile})
in_terminal(filter_of_golden 2 "x?cy???z" reprise-golden none --filter "(${hostile}")
in_terminal(perfetto 0 "x\\u001bcy\\u0007\\u009bz\\u202e" reprise db export ${made}/escapes.db --perfetto -)
foreach(format dot svg html)
  in_terminal(${format} 0 "x?cy???z???" reprise db export ${made}/escapes.db --${format} -)
endforeach()
foreach(command info nodes replays check memory barriers timeline passes)
  in_terminal(db_${command} 0 "" reprise db ${command} ${made}/escapes.db)
endforeach()
# Where nobody reads it, a text keeps its bytes.
string(ASCII 27 escape)
cli_test(llama_keeps_bytes_of_a_text EXIT 0 COMMAND reprise-llama -m ${good} -p "x${escape}y" -n 3 --device cpu STDOUT "^x${escape}y")

# Texts that are none.
cli_test(llama_perplexity_of_a_folder EXIT 1 COMMAND reprise-llama -m ${good} --perplexity ${models} STDERR "is a directory")
cli_test(llama_perplexity_of_an_endless_file EXIT 1 COMMAND reprise-llama -m ${good} --perplexity /dev/zero
  STDERR "'/dev/zero' has more than .67108864. bytes")
cli_test(debugger_script_of_a_folder EXIT 1 COMMAND reprise-debugger shot ${capture} --script ${models} STDERR "is a directory")
cli_test(debugger_script_of_an_endless_file EXIT 1 COMMAND reprise-debugger shot ${capture} --script /dev/zero
  STDERR "'/dev/zero' has more than .1048576. bytes")

# Whole numbers beyond 64 bits are refused by every program; CLI11 alone would take the nearest.
set(huge 99999999999999999999)
function(refuses_huge option)
  string(MAKE_C_IDENTIFIER "refuses_huge_${ARGN}" name)
  string(REGEX REPLACE "_+" "_" name "${name}")
  cli_test(${name}${option} EXIT 2 COMMAND ${ARGN} ${option} ${huge} STDERR "${option}: .${huge}. is out of range: numbers are from ")
endfunction()
foreach(option --replay --graph)
  refuses_huge(${option} reprise db timeline none.db)
endforeach()
foreach(option --keep-replays --keep-runs)
  refuses_huge(${option} reprise db prune none.db)
endforeach()
refuses_huge(--limit reprise db tensors none.db)
refuses_huge(-n reprise db replays none.db)
refuses_huge(--run-a reprise db diff none.db)
foreach(option --seed --top-k --ctx --tokens --parallel --threads)
  refuses_huge(${option} reprise-llama -m none.gguf -p x)
endforeach()
refuses_huge(--replays reprise-bench db)
refuses_huge(--expect reprise-golden none)
cli_test(sql_of_a_thousand_years EXIT 1 COMMAND reprise sql ${capture} "SELECT 1" --timeout 9000000000000000000
  STDERR "--timeout is .9000000000000000000., but must be at most")

# Which file it was, instead of a crash.
# On Vulkan it is a thread of lavapipe that reads it.
foreach(device cpu vulkan)
  add_test(NAME cli.llama_of_a_shortened_model_${device} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/shortened_model.py
    $<TARGET_FILE:reprise-llama> ${good} ${CMAKE_CURRENT_BINARY_DIR} ${device})
  set_tests_properties(cli.llama_of_a_shortened_model_${device} PROPERTIES TIMEOUT 300 ENVIRONMENT LP_NUM_THREADS=2)
endforeach()

# A run that fails leaves its database: another program may write to it by then.
set(failed ${CMAKE_CURRENT_BINARY_DIR}/failed.db)
add_test(NAME cli.failed_remove COMMAND ${CMAKE_COMMAND} -E rm -f ${failed} ${failed}-wal ${failed}-shm)
cli_test(llama_keeps_the_profile_of_a_failing_run EXIT 1 COMMAND reprise-llama -m ${good}
  --perplexity ${CMAKE_CURRENT_SOURCE_DIR}/tale.txt --device cpu --profile ${failed} PRESENT ${failed} STDERR "a chunk has 512")
set_tests_properties(cli.failed_remove PROPERTIES FIXTURES_SETUP no_failed)
set_tests_properties(cli.llama_keeps_the_profile_of_a_failing_run PROPERTIES FIXTURES_REQUIRED no_failed)
