// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/bench/contest.h"
#include "app/cli/network.h"
#include "db/database.h"
#include "engine/base/json_fwd.h"
#include "engine/runtime/executable.h"
#include "engine/target/gpu.h"

/// `tw bench`: tuned kernels and networks against other people's, in one run, as ratios.
namespace tw::cli::bench {

struct Options {
  std::string kind = "cpu", suite = "kernels", tuner = "xgb", db, only, python = "python3", device, append;
  std::vector<std::string> against;    ///< names of libraries; empty: all
  std::vector<std::string> libraries;  ///< folders where libraries are looked for before the system's
  std::vector<std::string> models;     ///< files; empty: the bundled networks
  std::vector<std::string> dims;       ///< sizes that the one model leaves open, as name=value
  std::vector<int> threads;          ///< empty: as the suite says
  int64_t trials = 128;
  uint64_t seed = 1;
  double time_s = 0;  ///< that tuning may take; 0: as long as the trials take
  bool quick = false, json = false, validate_sim = false;
};

/// What a suite gives for one number of threads: its table, what was measured under which conditions, and both as JSON.
struct Section {
  std::string table, notes;    ///< Markdown; notes are list items, one a line
  std::vector<double> ratios;  ///< best peer over ours, of the cases that have a peer
  Json json;
};

/// The database to tune into and the machine, the same for all sections.
struct Bench {
  Options options;
  std::vector<int> processors;  ///< that this process may use
  std::shared_ptr<db::Database> db;

  /// Whether to compare with this library.
  bool wants(const std::string& library) const;
  /// The first `threads` of the processors.
  std::vector<int> first(int threads) const { return {processors.begin(), processors.begin() + threads}; }
  /// Tunes what the database holds fewer trials of than asked for (fewer where a space has no more points): the session, none if there is no such task. Errors:
  /// what tuning says; cancelled.
  Expected<std::optional<SessionId>> tune(const LoadedNetwork& network, const std::string& path) const;
  /// The same, and then tries in the network what won alone, as `tw tune` does.
  Expected<void> tune_in_network(const LoadedNetwork& network, const std::string& path) const;
};

Expected<Section> kernel_section(const Bench& bench, int threads);
Expected<Section> network_section(const Bench& bench, int threads);
/// The same suites on a GPU (Options::device), against PyTorch's calls of cuBLAS and cuDNN; and how well the formula of a simulated GPU orders what was
/// measured.
Expected<Section> gpu_kernel_section(const Bench& bench);
Expected<Section> gpu_network_section(const Bench& bench);
Expected<Section> simulation_section(const Bench& bench);
/// A network's kernels on a simulated GPU by its formula alone, as the interpreter would take hours.
Expected<double> simulated_network_seconds(const runtime::Executable& executable, const target::Gpu& gpu);

/// A number in a table with so many decimals, or "-" if there is none.
std::string cell(double value, int decimals);

/// List items about the states that samples were taken in, empty on one thread; and the same as JSON.
std::string states_note(const States& states, const std::vector<Sample>& samples);
Json states_json(const States& states, const std::vector<Sample>& samples);

}  // namespace tw::cli::bench
