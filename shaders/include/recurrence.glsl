// What ops share that carry a state from token to token, a row of a table per sequence. Include
// state.glsl first and begin the push block with RECURRENCE; then include slots.glsl.
#define RECURRENCE  \
  Param sequences;  \
  Param tokens;     \
  Param past;       \
  uint first_token; \
  uint token_count; \
  uint slots;       \
  uint offsets[2]
