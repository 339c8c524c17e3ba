# The queries of docs/profiling-database.md, on one file that several samples wrote: two runs of the same
# graphs, graphs under keys, and a mixture of experts. And the sample that asks some of them.
set(documented ${CMAKE_CURRENT_BINARY_DIR}/documented_queries)
file(MAKE_DIRECTORY ${documented})
set(documented_db ${documented}/decode_loop.db)
add_test(NAME cli.documented_remove COMMAND ${CMAKE_COMMAND} -E rm -f ${documented_db} ${documented}/query_profile.db)
set_tests_properties(cli.documented_remove PROPERTIES FIXTURES_SETUP no_documented)
set(before cli.documented_remove)
foreach(step "first;decode_loop;cpu" "second;decode_loop;cpu" "third;decode_loop;vulkan" "experts;moe;cpu;${documented_db}"
             "keys;prompt_buckets;${models}/tales-q8_0.gguf;cpu;${documented_db}")
  list(POP_FRONT step name)
  cli_test(documented_${name} EXIT 0 COMMAND ${step})
  set_tests_properties(cli.documented_${name} PROPERTIES WORKING_DIRECTORY ${documented} DEPENDS ${before}
    FIXTURES_REQUIRED no_documented FIXTURES_SETUP documented)
  set(before cli.documented_${name})
endforeach()
add_test(NAME docs.queries COMMAND ${CMAKE_COMMAND} -DDOC=${PROJECT_SOURCE_DIR}/docs/profiling-database.md
  -DDB=${documented_db} -DSQLITE3=${SQLITE3} -P ${PROJECT_SOURCE_DIR}/tests/docs/queries.cmake)
set_tests_properties(docs.queries PROPERTIES FIXTURES_REQUIRED documented)

set(number "[0-9.]+")
cli_test(query_profile EXIT 0 COMMAND query_profile
  STDOUT "^run 1, 'decode', [0-9]+ nodes\nslowest of 2 scopes: layer.1, ${number} us\nslowest of [0-9]+ replays: number [0-9]+, ${number} times the median; state: pos = [0-9]+ kv_len = [0-9]+\nmost of the arena in use: [0-9]+ bytes in step [0-9]+\n( +[0-9]+ bytes, steps [0-9]+ to [0-9]+: [^\n]+\n)+$")
set_tests_properties(cli.query_profile PROPERTIES WORKING_DIRECTORY ${documented} FIXTURES_REQUIRED no_documented
  FIXTURES_SETUP query_profile)
cli_test(query_profile_of_a_file EXIT 0 COMMAND query_profile ${documented_db} STDOUT "^run 5, 'prompt', ")
set_tests_properties(cli.query_profile_of_a_file PROPERTIES FIXTURES_REQUIRED documented)
cli_test(query_profile_of_no_file EXIT 1 COMMAND query_profile no_such.db ABSENT no_such.db STDERR "^error: .*no_such.db")
add_test(NAME cli.query_profile_sql COMMAND ${SQLITE3} -bail ${documented}/query_profile.db
  ".read ${PROJECT_SOURCE_DIR}/samples/query_profile/query_profile.sql")
set_tests_properties(cli.query_profile_sql PROPERTIES FIXTURES_REQUIRED query_profile
  PASS_REGULAR_EXPRESSION "layer +nodes +us *\n.*layer.1 +[0-9]+ +${number}.*replay +us +state *\n.*tensor +bytes +first_use +last_use +at_step")
