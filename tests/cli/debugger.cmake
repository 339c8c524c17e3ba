# reprise-debugger as a user runs it, without a screen: good and bad databases, scripts, pictures.
set(capture ${PROJECT_SOURCE_DIR}/tests/debugger/data/stories260K.db)
set(scripts ${CMAKE_CURRENT_SOURCE_DIR}/debugger_scripts)
set(made ${PROJECT_BINARY_DIR}/bad_databases)
add_custom_command(OUTPUT ${made}/dangling.db
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/make_bad_databases.py ${capture} ${made}
  DEPENDS make_bad_databases.py ${capture} VERBATIM)
add_custom_target(bad_databases ALL DEPENDS ${made}/dangling.db)
set(out ${CMAKE_CURRENT_BINARY_DIR})

cli_test(debugger_shot EXIT 0 COMMAND reprise-debugger shot ${capture} -o ${out}/shot.png --size 640x480)
cli_test(debugger_shot_of_a_panel EXIT 0
  COMMAND reprise-debugger shot --panel graph --db ${capture} -o ${out}/graph.png --size 640x480 --scale 2)
foreach(scale 0.5 0.75 4)
  cli_test(debugger_shot_at_${scale}x EXIT 0
    COMMAND reprise-debugger shot ${capture} -o ${out}/shot_${scale}x.png --size 640x480 --scale ${scale})
endforeach()
foreach(scale nan inf 0 -1 0.49 4.01 1e9 2x)
  cli_test(debugger_refuses_a_scale_of_${scale} EXIT 2 ABSENT ${out}/refused_${scale}x.png
    COMMAND reprise-debugger shot ${capture} -o ${out}/refused_${scale}x.png --scale ${scale}
    STDERR "--scale: must be a number from 0.5 to 4 .${scale}.")
endforeach()
# Run 1 has no step times; without an option the latest run is shown.
cli_test(debugger_shot_of_a_run EXIT 0 COMMAND reprise-debugger shot ${capture} --run 1
  --script ${scripts}/contents/first_run.ui)
cli_test(debugger_shot_of_a_graph EXIT 0 COMMAND reprise-debugger shot ${capture} --graph 1
  --script ${scripts}/contents/first_run.ui)
cli_test(debugger_unknown_capture EXIT 1 COMMAND reprise-debugger shot ${capture} --run 1 --graph 2 -o ${out}/x.png
  STDERR "no capture of run .1. and graph .2.; it has run 2 graph 2, run 1 graph 1")
# A run of this build, written and read by it.
cli_test(debugger_shot_of_a_new_run EXIT 0
  COMMAND reprise-debugger shot ${nodes_db} -o ${out}/nodes.png)
set_tests_properties(cli.debugger_shot_of_a_new_run PROPERTIES FIXTURES_REQUIRED nodes)

# debugger_script(<script> <database>...): at both scales and in both themes. Scripts end with `fits`,
# so no text is cut off anywhere on their way.
function(debugger_script script)
  get_filename_component(name ${script} NAME_WE)
  foreach(theme dark light)
    foreach(scale 1 2)
      math(EXPR width "1600 * ${scale}")
      math(EXPR height "900 * ${scale}")
      cli_test(debugger_script_${name}_${theme}_${scale}x EXIT 0
        COMMAND reprise-debugger shot ${ARGN} --script ${script} --source ${PROJECT_SOURCE_DIR}
                --theme ${theme} --scale ${scale} --size ${width}x${height})
    endforeach()
  endforeach()
endfunction()
set(docs ${PROJECT_SOURCE_DIR}/docs)
file(GLOB script_files CONFIGURE_DEPENDS ${scripts}/*.ui ${docs}/pictures/*.ui ${docs}/tours/stories260K/*.ui)
foreach(script IN LISTS script_files)
  debugger_script(${script} ${capture})
endforeach()
set(captures ${PROJECT_SOURCE_DIR}/tests/debugger/data)
file(GLOB script_files CONFIGURE_DEPENDS ${docs}/tours/demo/*.ui)
foreach(script IN LISTS script_files)
  debugger_script(${script} ${captures}/after.db --against ${captures}/before.db)
endforeach()
set(tours)
foreach(tour stories260K/slowest_op demo/slower_node stories260K/barrier stories260K/memory_peak
             demo/outlier demo/first_nan demo/first_difference)
  list(APPEND tours ${docs}/tours/${tour}.ui)
endforeach()
add_test(NAME docs.debugger_tours COMMAND ${CMAKE_COMMAND} -DDOC=${docs}/debugger.md
  -DLANGUAGE=ui "-DSOURCE=${tours}" -P ${PROJECT_SOURCE_DIR}/tests/docs/example.cmake)

# Nothing to show: one line, exit 1, no picture.
function(refused name database message)
  cli_test(debugger_refuses_${name} EXIT 1
    COMMAND reprise-debugger shot ${database} -o ${out}/${name}.png ABSENT ${out}/${name}.png
    STDERR "^error: [^\n]*${message}[^\n]*\n$" ${ARGN})
endfunction()
refused(a_missing_file /nonexistent.db "/nonexistent.db")
refused(text ${made}/text.db "not a profiling database")
refused(an_empty_file ${made}/empty.db "it is empty")
refused(a_truncated_file ${made}/truncated.db "truncated.db. .*malformed")
refused(a_newer_version ${made}/newer.db "version .99.; this build knows versions 1 to 1")
refused(to_draw_without_a_driver ${capture} "[Vv]ulkan" ENV ${no_driver})
cli_test(debugger_demo EXIT 0 COMMAND reprise-debugger shot --demo -o ${out}/demo.png --layout Memory --theme light)
cli_test(debugger_demo_kept EXIT 0 COMMAND reprise-debugger shot --demo --keep ${out}/kept -o ${out}/kept.png --size 640x480)
set_tests_properties(cli.debugger_demo_kept PROPERTIES FIXTURES_SETUP kept_demo)
add_test(NAME cli.debugger_demo_is_removed COMMAND ${CMAKE_COMMAND} -E rm -r ${out}/kept)
set_tests_properties(cli.debugger_demo_is_removed PROPERTIES FIXTURES_CLEANUP kept_demo)
cli_test(debugger_demo_into_a_file_that_exists EXIT 1
  COMMAND reprise-debugger shot --demo --keep ${captures} -o ${out}/x.png STDERR "before.db")
cli_test(debugger_kept_without_demo EXIT 2
  COMMAND reprise-debugger shot ${capture} --keep ${out} -o ${out}/x.png)
cli_test(debugger_demo_or_database EXIT 2 COMMAND reprise-debugger shot ${capture} --demo -o ${out}/x.png)
cli_test(debugger_unknown_layout EXIT 1 COMMAND reprise-debugger shot ${capture} -o ${out}/x.png --layout Mine
  STDERR "Mine" "Inspect, Performance, Numerics, Memory")
cli_test(debugger_unknown_panel EXIT 1 COMMAND reprise-debugger shot ${capture} -o ${out}/x.png --panel disk
  STDERR "no panel .disk.; there are replays, outline, nodes, graph, inspector, timeline, memory, barriers, passes, sql")
cli_test(debugger_unwritable_picture EXIT 1
  COMMAND reprise-debugger shot ${capture} -o /nonexistent/x.png STDERR "/nonexistent/x.png")
cli_test(debugger_without_a_screen EXIT 1 COMMAND reprise-debugger ${capture} ENV DISPLAY= WAYLAND_DISPLAY=
  STDERR "^error: .*display.*\n$")
cli_test(debugger_missing_script EXIT 1
  COMMAND reprise-debugger shot ${capture} --script /nonexistent.ui STDERR "/nonexistent.ui")
cli_test(debugger_broken_script EXIT 1
  COMMAND reprise-debugger shot ${capture} --script ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt STDERR "Line 2 ")
file(WRITE ${out}/long_line.ui "wait\nclick ")
string(REPEAT x 500000 long_path)
file(APPEND ${out}/long_line.ui "${long_path}\n")
cli_test(debugger_script_with_a_long_line EXIT 1
  COMMAND reprise-debugger shot ${capture} --script ${out}/long_line.ui STDERR "Line 2 .*500006.*at most 4096")
cli_test(debugger_without_database EXIT 2 COMMAND reprise-debugger)
cli_test(debugger_without_output EXIT 2 COMMAND reprise-debugger shot ${capture})
cli_test(debugger_bad_size EXIT 2 COMMAND reprise-debugger shot ${capture} -o ${out}/x.png --size 10)
cli_test(debugger_help EXIT 0 COMMAND reprise-debugger --help STDOUT "shot")

# Little or wrong contents: the panels say so.
function(shown name)
  cli_test(debugger_shows_${name} EXIT 0
    COMMAND reprise-debugger shot ${made}/${name}.db -o ${out}/${name}.png
            --script ${scripts}/contents/${name}.ui)
endfunction()
foreach(name no_graphs no_timings no_replays no_nodes one_node hostile_names dangling)
  shown(${name})
endforeach()
