// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <sstream>

#include "app/cli/common.h"
#include "app/cli/console.h"
#include "engine/base/duration.h"
#include "engine/base/file_in_use.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

/// CLI11's message as a sentence in the style of all other errors.
std::string sentence(std::string text) {
  const size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text + "; see --help";
}

/// Takes the inputs into use and looks at the outputs. Errors: those of check_output; a name that is both.
Expected<void> claim(const NamedFiles& files) {
  static std::vector<FileInUse> in_use;  // until the process ends
  for (const auto& input : files.inputs)
    for (const std::string& path : input()) in_use.emplace_back(path, FileUse::input);
  for (const NamedFiles::Output& output : files.outputs)
    if (const std::string path = output.path(); !path.empty()) TW_CHECK(check_output(path, *output.kind));
  return {};
}

}  // namespace

Option& Option::input() {
  files_->inputs.push_back(values_);
  return *this;
}

Option& Option::output(const FileKind& kind) {
  files_->outputs.push_back({[values = values_] {
                               const std::vector<std::string> given = values();
                               return given.empty() ? std::string() : given[0];
                             },
                             &kind});
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::range(int64_t lowest, int64_t highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::range(double lowest, double highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::separated_by(char mark) {
  option_->delimiter(mark);
  return *this;
}

Subcommand Subcommand::group(const std::string& name, const std::string& help) {
  CLI::App* sub = app_->add_subcommand(name, help);
  sub->require_subcommand(1);
  return Subcommand(sub);
}

Subcommand Subcommand::command(Run& run, const std::string& name, const std::string& help, Run work) {
  Subcommand sub(app_->add_subcommand(name, help));
  sub.app_->callback([&run, app = sub.app_, work = std::move(work), files = sub.files_] {
    if (!app->get_subcommands().empty()) return;  // one of its own was chosen
    run = [work, files] {
      const auto claimed = claim(*files);
      return claimed ? work() : fail(claimed.error());
    };
  });
  return sub;
}

void Subcommand::hide() { app_->group(""); }

Option Subcommand::option(const std::string& names, std::string& value, const std::string& help) {
  return made(app_->add_option(names, value, help), [&value] { return value.empty() ? std::vector<std::string>() : std::vector{value}; });
}
Option Subcommand::option(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  return made(app_->add_option(names, values, help), [&values] { return values; });
}
Option Subcommand::option(const std::string& names, std::vector<int>& values, const std::string& help) { return made(app_->add_option(names, values, help)); }
Option Subcommand::option(const std::string& names, int& value, const std::string& help) { return made(app_->add_option(names, value, help)); }
Option Subcommand::option(const std::string& names, int64_t& value, const std::string& help) { return made(app_->add_option(names, value, help)); }
Option Subcommand::option(const std::string& names, uint64_t& value, const std::string& help) {
  // What does not fit would become the largest number.
  const auto fits = [](const std::string& text) {
    uint64_t number = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    return bad == std::errc() && end == text.data() + text.size() ? std::string() : fmt::format("Expected a number from 0 to 2^64 - 1, found '{}'", printable(text));
  };
  return made(app_->add_option(names, value, help)->check(fits));
}
Option Subcommand::option(const std::string& names, double& value, const std::string& help) { return made(app_->add_option(names, value, help)); }
Option Subcommand::option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return made(app_->add_option(names, value, help));
}
void Subcommand::duration(const std::string& names, double& seconds, const std::string& help) {
  const auto problem = [](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed) return parsed.error().message;
    return *parsed > 0 ? std::string() : fmt::format("Expected a time above 0, found '{}'", printable(text));
  };
  CLI::Option* option = app_->add_option_function<std::string>(names, [&seconds](const std::string& text) { seconds = *parse_duration(text); }, help)->check(problem);
  if (seconds > 0) option->default_str(duration_text(seconds));
}
void Subcommand::flag(const std::string& names, bool& value, const std::string& help) { app_->add_flag(names, value, help); }

Run parse_command_line(int argc, char** argv, int& exit) {
  CLI::App app("Tilewright: tunes tensor programs and builds networks from the best of them", "tw");
  app.set_version_flag("--version", "tw " TW_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 bad input, 130 cancelled.\nEvery command describes itself: tw COMMAND --help");
  Run run;
  for (const Command& c : commands()) c.add(Subcommand(&app), run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) {
      exit = fail_usage(sentence(e.what()));
      return {};
    }
    std::ostringstream text;  // --help and --version
    exit = app.exit(e, text, text);
    put(text.str());
    return {};
  }
  if (!run) exit = fail_usage("Expected a subcommand; see --help");
  return run;
}

}  // namespace tw::cli
