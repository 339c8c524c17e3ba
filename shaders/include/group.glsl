// Workgroups that work together on one row or tile. Include index.glsl first.
// Subgroups may have any size from 4 on, the same or not: what they find is combined in shared
// memory, by subgroup.
const uint kMostSubgroups = gl_WorkGroupSize.x / 4u;

// The flat index of a workgroup in a grid that may be folded into y (see groups_for). Workgroups
// past the end leave as a whole, so they miss no barrier.
uint group_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
