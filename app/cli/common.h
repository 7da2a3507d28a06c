// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/logs/page.h"
#include "engine/base/expected.h"
#include "engine/base/file.h"
#include "engine/base/json_fwd.h"
#include "engine/base/stop_token.h"
#include "engine/frontends/frontend.h"
#include "engine/target/target.h"

/// What the subcommands of `tw` share: exit codes, errors, output, cancelling.
namespace tw::cli {

enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2, kBadInput = 3, kCancelled = 130 };

/// Exit code for an error of the work itself: what a person typed is 2, what a file held is 3, the rest 1.
int exit_code(const Error& error);
/// Prints the error as one sentence on standard error and returns its exit code.
int fail(const Error& error);
/// The same for an error met while reading a file that the person named: 3, unless it was cancelled or memory ran out.
int fail_input(const Error& error);
/// Wrong usage: the sentence on standard error, exit code 2.
int fail_usage(const std::string& message);
/// One line on standard error, such as `Note: ...`; not an error.
void note(const std::string& text);
/// Names the first of `count` things that were passed over, by `line`, and says how many more there were: a log may be of another kind throughout.
void note_skipped(size_t count, const std::function<std::string(size_t)>& line);

/// One document on standard output.
void print_json(const Json& document);
/// Seconds as a JSON number, null if infinite or not a number.
Json json_number(double value);
/// `12.3 ms`, or `-` if infinite.
std::string time_text(double seconds);
using logs::ratio_text;

/// Installs the handlers of SIGINT, SIGTERM and SIGHUP. The first asks the token to stop; the process ends with 130 a second later at the latest,
/// which loses nothing, because everything reported as stored is on disk. The second signal ends it at once.
void install_signal_handlers();
/// From now on the work goes on when the terminal is closed (SIGHUP): for what takes hours and keeps its results.
void outlive_terminal();
StopToken stop_token();

/// `name=value` pairs of `--dim`, and what `--input-shape` says. Errors: invalid_argument.
Expected<frontends::ImportOptions> import_options(const std::vector<std::string>& dims, const std::vector<std::string>& shapes = {});
/// $XDG_DATA_HOME/tilewright/default.twdb or the same below ~/.local/share.
std::string default_database_path();

}  // namespace tw::cli
