// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/file.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tw::cli {

/// What to do once the command line is parsed; returns the exit code.
using Run = std::function<int()>;

/// Files that a command line names. Before the work begins, what is read is taken into use and what would be written is looked at, so that no output takes the
/// place of an input or of a foreign file, after an hour of work or ever.
struct NamedFiles {
  struct Output {
    std::function<std::string()> path;  ///< empty: not given
    const FileKind* kind;
  };
  std::vector<std::function<std::vector<std::string>()>> inputs;
  std::vector<Output> outputs;
};

/// One declared option. It and Subcommand stand in front of CLI11, whose header costs seconds of compilation in every file that reads it.
class Option {
 public:
  Option(CLI::Option* option, std::function<std::vector<std::string>()> values, NamedFiles* files)
      : option_(option), values_(std::move(values)), files_(files) {}
  /// It names a file, or several, that the command reads.
  Option& input();
  /// It names a file that the command writes whole or appends to.
  Option& output(const FileKind& kind);
  Option& required();
  Option& show_default();  ///< --help names the value that the variable has now
  Option& range(int64_t lowest, int64_t highest);
  Option& range(int lowest, int highest) { return range(int64_t{lowest}, int64_t{highest}); }
  Option& range(double lowest, double highest);
  Option& one_of(const std::vector<std::string>& values);
  Option& separated_by(char mark);  ///< one argument holds several values

 private:
  CLI::Option* option_;
  std::function<std::vector<std::string>()> values_;  ///< that were given, of texts
  NamedFiles* files_;
};

/// A command under declaration. Options are bound to variables that outlive the parsing; names are "--long", "-s,--long" or "positional".
class Subcommand {
 public:
  explicit Subcommand(CLI::App* app) : app_(app), files_(std::make_shared<NamedFiles>()) {}

  /// A command that consists of commands, one of which must be given.
  Subcommand group(const std::string& name, const std::string& help);
  /// A command whose options live in `options` and are handed to `work` if it was chosen.
  template <class Options>
  Subcommand command(Run& run, const std::string& name, const std::string& help, std::shared_ptr<Options> options, int (*work)(const Options&)) {
    return command(run, name, help, [options, work] { return work(*options); });
  }
  void hide();  ///< from the help text

  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& values, const std::string& help);
  Option option(const std::string& names, std::vector<int>& values, const std::string& help);
  Option option(const std::string& names, int& value, const std::string& help);
  Option option(const std::string& names, int64_t& value, const std::string& help);
  Option option(const std::string& names, uint64_t& value, const std::string& help);
  Option option(const std::string& names, double& value, const std::string& help);
  Option option(const std::string& names, std::optional<double>& value, const std::string& help);
  /// A time above 0 as people type it, such as 90s; --help names what `seconds` has now, unless that is 0.
  void duration(const std::string& names, double& seconds, const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);

 private:
  Subcommand command(Run& run, const std::string& name, const std::string& help, Run work);
  Option made(CLI::Option* option, std::function<std::vector<std::string>()> values = {}) { return Option(option, std::move(values), files_.get()); }

  CLI::App* app_;
  std::shared_ptr<NamedFiles> files_;
};

/// One of tw's commands: declares itself, and sets `run` when it was chosen.
struct Command {
  const char* name;
  void (*add)(Subcommand app, Run& run);
};

/// All commands in the order of the help text; commands_table.cpp.
std::span<const Command> commands();

/// Parses the command line. Returns what to run, or none with `exit` set: the help text was printed, or the usage was wrong and said so.
Run parse_command_line(int argc, char** argv, int& exit);

}  // namespace tw::cli
