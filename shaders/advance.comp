// position += rows, token = next, done = 1 at the end token: one invocation in all.
// Reads at most 5 words and writes 3. All reads come first.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"

layout(binding = 0) readonly buffer Next { int next[]; };
layout(binding = 1) buffer State { int words[]; };
layout(push_constant) uniform Push {
  int position;
  int token;
  int done;
  int rows;
  int rows_word;
  int end_token;
  int end_token_word;
  uint next_offset;
  uint state_offset;
};

void main() {
  if (linear_index() != 0) {
    return;
  }
  int id = next[next_offset];
  int count = rows_word < 0 ? rows : words[state_offset + uint(rows_word)];
  int end = end_token_word < 0 ? end_token : words[state_offset + uint(end_token_word)];
  if (position >= 0) {
    words[state_offset + uint(position)] += count;
  }
  if (token >= 0) {
    words[state_offset + uint(token)] = id;
  }
  if (done >= 0 && id == end) {
    words[state_offset + uint(done)] = 1;
  }
}
