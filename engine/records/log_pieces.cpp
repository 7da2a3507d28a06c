// SPDX-License-Identifier: Apache-2.0
#include "engine/records/log_pieces.h"

namespace tw::records {

std::vector<std::string_view> pieces_of_lines(std::string_view text, size_t bytes) {
  // At its beginning a text may have a mark that means nothing; a line that begins so further down stays inside of a piece.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::vector<std::string_view> pieces;
  while (text.size() > bytes) {
    size_t end = text.find('\n', bytes - 1);
    while (end != std::string_view::npos && text.substr(end + 1).starts_with(kByteOrderMark)) end = text.find('\n', end + 1);
    if (end == std::string_view::npos || end + 1 == text.size()) break;
    pieces.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

}  // namespace tw::records
