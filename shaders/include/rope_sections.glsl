// Rotations by several positions per row: the push constants `sections` are the pairs that each of
// the four positions turns, two in a word.
uint section_of(uint pair) {
  uint widths[4] = uint[4](sections[0] & 0xFFFFu, sections[0] >> 16, sections[1] & 0xFFFFu,
                           sections[1] >> 16);
  uint rest = pair % (widths[0] + widths[1] + widths[2] + widths[3]);
  uint section = 0u;
  while (rest >= widths[section]) {
    rest -= widths[section++];
  }
  return section;
}
