// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tw::cli {

/// A plain-text table: columns as wide as their widest cell, two spaces apart.
class Table {
 public:
  /// A title that begins with '>' makes a right-aligned column.
  explicit Table(std::vector<std::string> titles);
  void row(std::vector<std::string> cells);
  /// With a header line; every line ends with a newline, no trailing spaces.
  std::string text() const;
  /// The same as Markdown.
  std::string markdown() const;
  /// The titles, then the cells.
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// A cell of comma-separated values, in quotes where RFC 4180 asks for them.
std::string csv_cell(const std::string& cell);
/// Empty for what is no number.
std::string csv_number(double value);

}  // namespace tw::cli
