// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tw::cli {

/// What to do once the command line is parsed; returns the exit code.
using Run = std::function<int()>;

/// One declared option. It and Subcommand stand in front of CLI11, whose header costs seconds of compilation in every file that reads it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& show_default();  ///< --help names the value that the variable has now
  Option& range(int64_t lowest, int64_t highest);
  Option& range(int lowest, int highest) { return range(int64_t{lowest}, int64_t{highest}); }
  Option& range(double lowest, double highest);
  Option& one_of(const std::vector<std::string>& values);
  Option& separated_by(char mark);  ///< one argument holds several values

 private:
  CLI::Option* option_;
};

/// A command under declaration. Options are bound to variables that outlive the parsing; names are "--long", "-s,--long" or "positional".
class Subcommand {
 public:
  explicit Subcommand(CLI::App* app) : app_(app) {}

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
  void flag(const std::string& names, bool& value, const std::string& help);

 private:
  Subcommand command(Run& run, const std::string& name, const std::string& help, Run work);

  CLI::App* app_;
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
