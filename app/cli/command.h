// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <span>

namespace tw::cli {

/// What to do once the command line is parsed; returns the exit code.
using Run = std::function<int()>;

/// One subcommand: declares its options and sets `run` when it was chosen.
struct Command {
  const char* name;
  void (*add)(CLI::App& app, Run& run);
};

/// All subcommands in the order of the help text; commands_table.cpp.
std::span<const Command> commands();

/// Declares a subcommand whose options live in `Options` and are handed to `work`.
template <class Options>
CLI::App* declare(CLI::App& app, Run& run, const char* name, const char* help, std::shared_ptr<Options> options, int (*work)(const Options&)) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->callback([&run, options, work] { run = [options, work] { return work(*options); }; });
  return sub;
}

}  // namespace tw::cli
