// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace tw::cli {

void add_doctor(Subcommand app, Run& run);
void add_zoo(Subcommand app, Run& run);
void add_import(Subcommand app, Run& run);
void add_tasks(Subcommand app, Run& run);
void add_task(Subcommand app, Run& run);
void add_space(Subcommand app, Run& run);
void add_tune(Subcommand app, Run& run);
void add_finals(Subcommand app, Run& run);
void add_race(Subcommand app, Run& run);
void add_campaign(Subcommand app, Run& run);
void add_compare(Subcommand app, Run& run);
void add_report(Subcommand app, Run& run);
void add_explain(Subcommand app, Run& run);
void add_passes(Subcommand app, Run& run);
void add_compile(Subcommand app, Run& run);
void add_build(Subcommand app, Run& run);
void add_run(Subcommand app, Run& run);
void add_records(Subcommand app, Run& run);
void add_models(Subcommand app, Run& run);
void add_dataset(Subcommand app, Run& run);
void add_db(Subcommand app, Run& run);
void add_check(Subcommand app, Run& run);
void add_bench(Subcommand app, Run& run);
void add_demo(Subcommand app, Run& run);
void add_lesson(Subcommand app, Run& run);
void add_farm(Subcommand app, Run& run);
void add_agent(Subcommand app, Run& run);
// Children that `tw` starts of itself; not in the help text.
void add_first_run(Subcommand app, Run& run);
void add_reference_worker(Subcommand app, Run& run);
void add_check_worker(Subcommand app, Run& run);

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
      {"doctor", add_doctor},
      {"zoo", add_zoo},
      {"import", add_import},
      {"tasks", add_tasks},
      {"task", add_task},
      {"space", add_space},
      {"tune", add_tune},
      {"finals", add_finals},
      {"race", add_race},
      {"campaign", add_campaign},
      {"compare", add_compare},
      {"report", add_report},
      {"explain", add_explain},
      {"passes", add_passes},
      {"compile", add_compile},
      {"build", add_build},
      {"run", add_run},
      {"records", add_records},
      {"models", add_models},
      {"dataset", add_dataset},
      {"db", add_db},
      {"check", add_check},
      {"bench", add_bench},
      {"demo", add_demo},
      {"lesson", add_lesson},
      {"farm", add_farm},
      {"agent", add_agent},
      {"first-run", add_first_run},
      {"reference-worker", add_reference_worker},
      {"check-worker", add_check_worker},
  };
  return kCommands;
}

}  // namespace tw::cli
