# The panels, in the order of menus and of the sheet of keys: an id, and the part of the window in which it opens first.
# debugger/views/<id>_panel.h has the class, <Id>Panel.
set(panels
  outline    left
  nodes      left
  graph      middle
  kernels    middle
  diff       middle
  inspector  right
  tensors    right
  timeline   bottom
  memory     bottom
  barriers   bottom
  passes     bottom
  statistics bottom
  numerics   bottom
  sql        bottom
  log        bottom
)

set(panel_sources "")
set(includes "")
set(classes "")
set(places "")
while(panels)
  list(POP_FRONT panels id part)
  if(NOT part MATCHES "^(left|middle|right|bottom)$")
    message(FATAL_ERROR "the panel ${id} opens in no part of the window (${part}): left, middle, right or bottom")
  endif()
  set(class "")
  string(REPLACE "_" ";" words ${id})
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND class ${first}${rest})
  endforeach()
  list(APPEND panel_sources ${id}_panel.cpp)
  string(APPEND includes "#include \"debugger/views/${id}_panel.h\"\n")
  string(APPEND classes "  panels.push_back(std::make_unique<${class}Panel>());\n")
  string(APPEND places "    {\"${id}\", \"${part}\"},\n")
endwhile()
list(SORT panel_sources)

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/usual_places.cpp @ONLY CONTENT
"#include \"debugger/model/usual_places.h\"

namespace reprise::debugger {
namespace {
constexpr UsualPlace kPlaces[] = {
@places@};
}  // namespace

std::span<const UsualPlace> usual_places() { return kPlaces; }

}  // namespace reprise::debugger
")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/panel_list.cpp @ONLY CONTENT
"#include \"debugger/views/panel_list.h\"

@includes@
namespace reprise::debugger {

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
@classes@  return panels;
}

}  // namespace reprise::debugger
")
