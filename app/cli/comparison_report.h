// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/command.h"
#include "app/logs/comparison_page.h"

namespace tw::cli {

/// Where a comparison goes besides standard output.
struct ComparisonFiles {
  std::string markdown, csv, svg, html;
  bool json = false;  ///< one document on standard output instead of the tables
};
void add_comparison_files(Subcommand sub, ComparisonFiles& files);

/// Prints it and writes the files. Returns the exit code.
int report_comparison(const logs::SessionComparison& comparison, const ComparisonFiles& files);

}  // namespace tw::cli
