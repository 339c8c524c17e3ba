# cmake -DROOT=<project> -P views_draw_through_ui.cmake
# Panels draw text and widgets through debugger/ui, which records what it draws: nothing on the
# screen is unknown to scripts and to the check that texts fit.
cmake_minimum_required(VERSION 3.25)

# What a view may ask of ImGui itself: places, scrolling, the mouse, the clipboard, colours.
set(allowed GetIO GetStyle SetCursorScreenPos SameLine Indent Unindent GetItemRectMax GetScrollY
    GetCursorScreenPos SetScrollY GetWindowHeight GetMousePos SetMouseCursor IsMouseClicked IsPopupOpen
    SetClipboardText Dummy ColorConvertFloat4ToU32 ColorConvertU32ToFloat4)

file(GLOB views ${ROOT}/debugger/views/*.h ${ROOT}/debugger/views/*.cpp)
set(checked 0)
set(violations "")
foreach(path IN LISTS views)
  file(RELATIVE_PATH name ${ROOT} ${path})
  file(STRINGS ${path} lines REGEX "ImGui::|AddText")
  foreach(line IN LISTS lines)
    math(EXPR checked "${checked} + 1")
    if(line MATCHES "AddText")
      string(APPEND violations "${name}: ${line}\n    text goes through Ui::text, Ui::text_in or Ui::glyphs\n")
    endif()
    string(REGEX MATCHALL "ImGui::[A-Za-z0-9]+" calls "${line}")
    foreach(call IN LISTS calls)
      string(REPLACE "ImGui::" "" function ${call})
      if(NOT function IN_LIST allowed)
        string(APPEND violations "${name}: ${line}\n    ${call} is not among ${allowed}\n")
      endif()
    endforeach()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no view was found under (${ROOT})")
endif()
if(violations)
  message(FATAL_ERROR "\n${violations}")
endif()
message(STATUS "${checked} lines")
