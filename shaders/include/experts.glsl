// Products with the matrices of experts: what matmul_experts has beside x and w, and what it
// writes. A place of the products is (row, expert of the row, 0, column). Include view.glsl first.
// A large table is bound part by part, one dispatch each: a product is written by the part that has
// its cell, one without a cell by the part that begins with cell 0.
layout(binding = 2) readonly buffer Ids { uint ids[]; };
layout(binding = 3) readonly buffer Cells { uint cells[]; };
layout(binding = 4) readonly buffer Missing { uint missing[]; };
layout(binding = 5) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  uint k;
  uint experts;
  uint all_cells;
  uint first_cell;  // of the part that is bound
  uint part_cells;
  uint given;  // bit 0: cells, bit 1: missing
  uint ids_offset;
  uint cells_offset;
  uint missing_offset;
  uint y_offset;
  uint y_row;  // columns of y, of all parts
};

const uint kNowhere = 0xFFFFFFFFu;

// Where the weights of an expert of a row lie, among all cells.
uint cell_of(uint row, uint j) {
  uint id = ids[ids_offset + row * shape[1] + j];
  if (id >= experts) {
    return kNowhere;
  }
  uint cell = (given & 1u) != 0u ? cells[cells_offset + id] : id;
  return cell < all_cells ? cell : kNowhere;
}

#define SOME_ABSENT
bool is_bound(uint row, uint j) { return cell_of(row, j) - first_cell < part_cells; }

uint matrix_of_weights(uint row, uint j) { return (cell_of(row, j) - first_cell) * wv.strides[1]; }
uint row_of_weights(uint row, uint j, uint column) {
  return matrix_of_weights(row, j) + column * wv.strides[2];
}

uint distance_in_y(uvec4 p) { return (p.x * shape[1] + p.y) * y_row + p.w; }

void store(uvec4 p, float product) { y[y_offset + distance_in_y(p)] = floatBitsToUint(product); }

void store_absent(uvec4 p) {
  if (first_cell == 0u && cell_of(p.x, p.y) == kNowhere) {
    uint distance = distance_in_y(p);
    y[y_offset + distance] = (given & 2u) != 0u ? missing[missing_offset + distance] : 0u;
  }
}
