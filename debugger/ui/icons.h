// Icons of Font Awesome 4.7, as UTF-8.
#pragma once

namespace reprise::debugger::icon {

constexpr const char* kCopy = "\xEF\x83\x85";      // U+F0C5 files-o
constexpr const char* kImage = "\xEF\x80\xBE";     // U+F03E picture-o
constexpr const char* kMenu = "\xEF\x85\x82";      // U+F142 ellipsis-v
constexpr const char* kBack = "\xEF\x81\xA0";      // U+F060 arrow-left
constexpr const char* kForward = "\xEF\x81\xA1";   // U+F061 arrow-right
constexpr const char* kFold = "\xEF\x83\x9A";      // U+F0DA caret-right
constexpr const char* kUnfold = "\xEF\x83\x97";    // U+F0D7 caret-down
constexpr const char* kFoldUp = "\xEF\x83\x98";    // U+F0D8 caret-up
constexpr const char* kBookmark = "\xEF\x80\xAE";  // U+F02E bookmark
constexpr const char* kSearch = "\xEF\x80\x82";    // U+F002 search
constexpr const char* kBarrier = "\xEF\x80\xA3";   // U+F023 lock
constexpr const char* kPlay = "\xEF\x81\x8B";      // U+F04B play
constexpr const char* kStop = "\xEF\x81\x8D";      // U+F04D stop
constexpr const char* kFrame = "\xEF\x82\xB2";     // U+F0B2 arrows-alt
constexpr const char* kWarning = "\xEF\x81\xB1";   // U+F071 exclamation-triangle
constexpr const char* kMaximise = "\xEF\x81\xA5";  // U+F065 expand
constexpr const char* kRestore = "\xEF\x81\xA6";   // U+F066 compress
constexpr const char* kLive = "\xEF\x84\x91";      // U+F111 circle
constexpr const char* kDatabase = "\xEF\x87\x80";  // U+F1C0 database

}  // namespace reprise::debugger::icon
