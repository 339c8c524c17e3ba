// Root-mean-square normalisation by a workgroup per row, whose invocations take neighbouring
// elements. Define and include as for rms_norm.glsl, and group.glsl.
shared float parts[kMostSubgroups];

// 1 / sqrt(mean of squares + eps), for the whole workgroup.
float scale_of_row(uint cols) {
  float part = 0.0;
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    float v = value(c);
    part = fma(v, v, part);
  }
  part = subgroupAdd(part);
  if (subgroupElect()) {
    parts[gl_SubgroupID] = part;
  }
  barrier();
  float sum = 0.0;
  for (uint i = 0; i < gl_NumSubgroups; ++i) {
    sum += parts[i];
  }
  precise float mean = sum / float(cols) + param_float(eps);
  return 1.0 / sqrt(mean);
}

float normalised(float v, float scale, uint c) {
  return v * scale * (weighted != 0 ? weight[weight_offset + c] : 1.0);
}
