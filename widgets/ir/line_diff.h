// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string_view>
#include <vector>

namespace tw::widgets {

/// What to do with the lines of one text to get those of another, as one list of lines.
struct LineDiff {
  enum class Kind : uint8_t { same, removed, added };
  struct Line {
    Kind kind = Kind::same;
    int before = -1, after = -1;  ///< 0-based in the two texts, -1 where the line is not
  };
  std::vector<Line> lines;
  QString text;  ///< of these lines, one after another
  int added = 0, removed = 0;
  std::vector<int> changes;  ///< the first line of each run of removed and added ones
};

/// The shortest such list as long as the texts do not differ by more than some hundred lines at one place; then a short one. Of a change the removed lines come
/// first. Any thread; the time grows with lines × the least of differing lines and that limit.
/// Source: Myers, "An O(ND) difference algorithm and its variations", 1986, in linear space; the limit is that of LibXDiff.
LineDiff diffLines(std::string_view before, std::string_view after);

}  // namespace tw::widgets
