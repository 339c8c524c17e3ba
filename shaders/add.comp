// z = x + y with y repeated: see include/elementwise.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require

float combine(float a, float b) { return a + b; }
#include "elementwise.glsl"
