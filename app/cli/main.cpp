// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/workspace.h"
#include "engine/base/text.h"
#include "engine/process/temporary_folder.h"

namespace {

int run_command(int argc, char** argv) {
  using namespace tw;
  using namespace tw::cli;
  int exit = 0;
  const Run run = parse_command_line(argc, argv, exit);
  if (!run) return exit;
  install_signal_handlers();
  process::sweep_temporary_folders();
  try {
    const int code = run();
    say_damage();
    return code;
  } catch (const std::bad_alloc&) {
    return fail(tw::Error(tw::ErrorCode::out_of_memory, "Memory ran out"));
  } catch (const std::exception& e) {
    return fail(tw::Error(tw::ErrorCode::internal, fmt::format("A bug in Tilewright stopped the work: {}", e.what())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  tw::cli::open_console();
  return tw::cli::close_console(run_command(argc, argv));
}
