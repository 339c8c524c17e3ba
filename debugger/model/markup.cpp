#include "debugger/model/markup.h"

#include "debugger/model/printable.h"

namespace reprise::debugger {

std::string markup_text(std::string_view text) {
  std::string safe;
  const std::string characters = printable(text);
  for (std::size_t i = 0; i < characters.size(); ++i) {
    switch (characters[i]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        // U+FFFE and U+FFFF are no characters of XML.
        if (characters.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < characters.size() &&
            static_cast<unsigned char>(characters[i + 2]) >= 0xBE) {
          safe += '?';
          i += 2;
        } else {
          safe += characters[i];
        }
    }
  }
  return safe;
}

}  // namespace reprise::debugger
