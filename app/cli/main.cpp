// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "engine/base/text.h"

namespace {

/// CLI11's message as a sentence in the style of all other errors.
std::string sentence(std::string text) {
  const size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text + "; see --help";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tw::cli;
  CLI::App app("Tilewright: tunes tensor programs and builds networks from the best of them", "tw");
  app.set_version_flag("--version", "tw " TW_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 bad input, 130 cancelled.\nEvery command describes itself: tw COMMAND --help");
  Run run;
  for (const Command& c : commands()) c.add(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail_usage(sentence(e.what()));
  }
  install_signal_handlers();
  try {
    return run ? run() : fail_usage("Expected a subcommand; see --help");
  } catch (const std::bad_alloc&) {
    return fail(tw::Error(tw::ErrorCode::out_of_memory, "Memory ran out"));
  } catch (const std::exception& e) {
    return fail(tw::Error(tw::ErrorCode::internal, fmt::format("A bug in Tilewright stopped the work: {}", e.what())));
  }
}
