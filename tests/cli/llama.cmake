# Architectures, several sequences at once, perplexity: what reprise-llama does and refuses.
set(nell "Nell was a brave fox who lived by the sea. Nell could not swim.")
set(gus "Gus was a small pony.")
foreach(device cpu vulkan)
  foreach(mode direct recorded)
    cli_test(llama_several_prompts_${device}_${mode} EXIT 0
      COMMAND reprise-llama -m ${models}/tales-q8_0.gguf -p ${nell} -p ${gus} -n 8 --ids --device ${device} --mode ${mode}
      ENV REPRISE_VALIDATION=1
      STDOUT "^${nell} One sunny mor\nids: 349 262 472 463 463 473 299 323\n${gus} Gus had a home by the\nids: 395 379 455 261 411 268 473 264\n$")
    cli_test(llama_perplexity_${device}_${mode} EXIT 0
      COMMAND reprise-llama -m ${models}/tales-q8_0.gguf --perplexity ${CMAKE_CURRENT_SOURCE_DIR}/tale.txt --ctx 50 --device ${device} --mode ${mode}
      ENV REPRISE_VALIDATION=1
      STDOUT "^perplexity: 1.14[0-9]+ [+]/- 0.056[0-9] .48 tokens in 2 chunks.\n$" STDERR "chunk 1: 1.23")
  endforeach()
endforeach()
cli_test(llama_copies_of_a_prompt EXIT 0
  COMMAND reprise-llama -m ${good} -p ${nell} --parallel 3 -n 4 --json --device cpu
  STDOUT "^{[^\n]*\"sequences\":[^\n]*\"generated_ids\":.349,262,472,463.[^\n]*\"generated_ids\":.349,262,472,463.[^\n]*\"generated_ids\":.349,262,472,463.[^\n]*\"steps\":3,[^\n]*}\n$")
cli_test(llama_perplexity_json EXIT 0
  COMMAND reprise-llama -m ${good} --perplexity ${CMAKE_CURRENT_SOURCE_DIR}/tale.txt --ctx 50 --json --device cpu
  STDOUT "^{\"chunks\":2,\"perplexity\":1.1[0-9]+,\"perplexity_error\":[0-9.]+,\"tokens\":48,[^\n]*}\n$")
cli_test(llama_no_sequences EXIT 1 COMMAND reprise-llama -m ${good} ${story} --parallel 0 STDERR "--parallel is .0.")
cli_test(llama_too_many_sequences EXIT 1 COMMAND reprise-llama -m ${good} ${story} --parallel 65 STDERR "--parallel is .65..* 1 to 64 sequences")
cli_test(llama_iterations_of_a_batch EXIT 1 COMMAND reprise-llama -m ${good} ${story} --parallel 2 --iterations-per-submit 4
  STDERR "--iterations-per-submit is .4., but several sequences")
cli_test(llama_checks_of_a_batch EXIT 1 COMMAND reprise-llama -m ${good} ${story} --parallel 2 --verify STDERR "--verify are for one sequence, but there are .2.")
cli_test(llama_perplexity_of_a_prompt EXIT 2 COMMAND reprise-llama -m ${good} ${story} --perplexity ${good} STDERR "--prompt")
cli_test(llama_perplexity_of_no_file EXIT 1 COMMAND reprise-llama -m ${good} --perplexity /nonexistent.txt STDERR "/nonexistent.txt")
cli_test(llama_perplexity_of_little_text EXIT 1
  COMMAND reprise-llama -m ${good} --perplexity ${CMAKE_CURRENT_SOURCE_DIR}/tale.txt --device cpu STDERR "The text has .[0-9]+. tokens, but a chunk has 512")

cli_test(model_without_a_key EXIT 1 COMMAND reprise-llama -m ${bad}/no_block_count.gguf ${story} --device cpu STDERR "llama.block_count")
cli_test(model_with_a_senseless_key EXIT 1 COMMAND reprise-llama -m ${bad}/three_key_heads.gguf ${story} --device cpu
  STDERR "'llama.attention.head_count_kv' of the GGUF file '[^\n]*three_key_heads.gguf' is .3., but must divide 'llama.attention.head_count', 8")
cli_test(model_without_a_tensor EXIT 1 COMMAND reprise-llama -m ${bad}/no_attn_q.gguf ${story} --device cpu STDERR "no tensor 'blk.0.attn_q.weight'")
cli_test(model_with_a_tensor_of_another_shape EXIT 1 COMMAND reprise-llama -m ${bad}/narrow_ffn.gguf ${story} --device cpu
  STDERR "'blk.0.ffn_gate.weight' has the shape .*384, 128.*asks for .*383, 128")

# One seed draws the same tokens in every mode on every device.
foreach(device cpu vulkan)
  foreach(mode direct recorded)
    cli_test(llama_drawn_text_${device}_${mode} EXIT 0
      COMMAND reprise-llama -m ${models}/tales-q8_0.gguf -p "Once upon a time" -n 12 --ids --device ${device} --mode ${mode}
              --temp 1.5 --top-k 40 --top-p 0.95 --min-p 0.01 --repeat-penalty 1.2 --seed 7
      ENV REPRISE_VALIDATION=1 STDOUT "ids: 369 286 261 415 381 299 273 467 459 419 361 358\n$")
  endforeach()
endforeach()
cli_test(llama_draws_with_top_k_1_what_is_likeliest EXIT 0
  COMMAND reprise-llama -m ${good} -p ${nell} -n 8 --ids --device cpu --temp 3 --top-k 1 STDOUT "ids: 349 262 472 463 463 473 299 323\n")
foreach(option "--temp -1" "--temp nan" "--top-p 1.5" "--min-p -0.1" "--repeat-penalty 0" "--top-k -2" "--seed -3")
  string(MAKE_C_IDENTIFIER "llama_refuses ${option}" name)
  separate_arguments(words UNIX_COMMAND "${option}")
  list(GET words 1 value)
  cli_test(${name} EXIT 1 COMMAND reprise-llama -m ${good} ${story} ${words} STDERR "is .${value}[0-9]*., but must be (from|at least)")
endforeach()
cli_test(llama_greedy EXIT 0 COMMAND reprise-llama -m ${good} ${story} --greedy --device cpu --ids STDOUT "ids: [0-9 ]+\n$")
cli_test(llama_greedy_and_drawn EXIT 2 COMMAND reprise-llama -m ${good} ${story} --greedy --temp 1 STDERR "--greedy")

set(make_random_model ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/samples/models/make_random_model.py)
add_test(NAME cli.random_model COMMAND ${make_random_model} ${CMAKE_CURRENT_BINARY_DIR}/random.gguf
  --arch qwen2 --type q4_0 --seed 7 --set dim=32 layers=1)
set_tests_properties(cli.random_model PROPERTIES FIXTURES_SETUP random_model)
cli_test(llama_of_a_random_model EXIT 0 COMMAND reprise-llama -m ${CMAKE_CURRENT_BINARY_DIR}/random.gguf ${story} --device cpu --ids STDOUT "ids: [0-9 ]+\n$")
set_tests_properties(cli.llama_of_a_random_model PROPERTIES FIXTURES_REQUIRED random_model)
foreach(bad_arguments "x.gguf --arch t5" "x.gguf --type q9" "x.gguf --set dim=0" "x.gguf --set depth=3" "x.gguf --type q4_K" "")
  string(MAKE_C_IDENTIFIER "random_model_refuses ${bad_arguments}" name)
  separate_arguments(words UNIX_COMMAND "${bad_arguments}")
  add_test(NAME cli.${name} COMMAND ${make_random_model} ${words})
  set_tests_properties(cli.${name} PROPERTIES PASS_REGULAR_EXPRESSION
    "error: .*(t5|q9|dim=0|depth=3|q4_K needs a multiple of 256|--tests FOLDER is needed)")
endforeach()
