// Workgroup size as specialization constant 0, and the flat index of an invocation in a grid that
// may be folded into y (see groups_for).
layout(local_size_x_id = 0) in;

uint linear_index() {
  return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
         gl_LocalInvocationID.x;
}
