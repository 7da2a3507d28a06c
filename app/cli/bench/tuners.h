// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace tw::cli::bench {

/// `tw bench tuners`: the tuners of a published table, run here, beside what was published.
struct TunersOptions {
  std::string paper = "pruner", model, target = "cuda:a100", device = "sim:a100", db;
  int64_t trials = 2000;
  int batch = 10, seeds = 1;
  double trial_s = 2;
  std::string source_model, target_model, tenset_model;  ///< files; empty: those that come with the program
  std::vector<std::string> only;                         ///< rows; empty: all
  std::string markdown, svg;
  bool json = false;
};
void add_tuners(Subcommand bench, Run& run);

}  // namespace tw::cli::bench
