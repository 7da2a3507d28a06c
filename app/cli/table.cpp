// SPDX-License-Identifier: Apache-2.0
#include "app/cli/table.h"

#include <algorithm>
#include <cmath>

#include "engine/base/assert.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

/// Characters on the screen: UTF-8 bytes that do not continue a character.
size_t width(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> titles) {
  for (std::string& t : titles) {
    right_.push_back(!t.empty() && t[0] == '>');
    if (right_.back()) t.erase(0, 1);
  }
  rows_.push_back(std::move(titles));
}

void Table::row(std::vector<std::string> cells) {
  TW_ASSERT(cells.size() == right_.size(), "a table row needs one cell per column");
  for (std::string& c : cells) c = printable(c);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const auto& r : rows_)
    for (size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], width(r[i]));
  std::string out;
  for (const auto& r : rows_) {
    std::string line;
    for (size_t i = 0; i < r.size(); ++i) {
      const std::string pad(widths[i] - width(r[i]), ' ');
      if (i > 0) line += "  ";
      line += right_[i] ? pad + r[i] : r[i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string Table::markdown() const {
  std::string out;
  for (size_t i = 0; i < rows_.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(rows_[i], " | "));
    if (i > 0) continue;
    for (const bool right : right_) out += right ? "|---:" : "|---";
    out += "|\n";
  }
  return out;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char ch : cell) out += ch == '"' ? std::string("\"\"") : std::string(1, ch);
  return out + "\"";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace tw::cli
