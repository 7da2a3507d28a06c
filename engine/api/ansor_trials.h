// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>

#include "engine/api/claims.h"
#include "engine/records/ansor_log.h"
#include "engine/records/record_sink.h"

/// Ansor's records as trials of tasks that can be lowered here.
namespace tw::api {

/// The task that a record is of, for `target`. Errors: those of topi_definition(), where nothing says what its key's computation is; unsupported for
/// records of another kind of target.
Expected<records::Task> ansor_task(const records::AnsorRecord& line, const Target& target);

/// A record as a trial of that task, which is a claim: its steps in our numbers, its choices by name. Errors: what is wrong with its steps.
Expected<records::Record> ansor_trial(const records::Task& task, const records::AnsorRecord& line, ClaimChecker& claims);

/// A trial as a line of Ansor's. Constants that are laid out as its loops read them are TVM's layout rewrite for weights that are transformed ahead of time.
/// Errors: those of records::ansor_line().
Expected<std::string> ansor_line_of(const records::Task& task, const records::Record& record);

/// Ansor's logs as a source of records for compiling: for each of `tasks` the fastest line whose key names its computation, as TVM's `ApplyHistoryBest` has it, with
/// constants laid out in the order of the loops that read them.
class AnsorRecords : public records::RecordSource {
 public:
  struct NamedLog {
    std::string name;
    records::AnsorLog log;
  };
  AnsorRecords(std::span<const records::Task> tasks, const std::vector<NamedLog>& logs);

  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights in_network) override;
  /// Lines that were faster than what is applied, or the only ones, but whose steps do not apply here: one sentence each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::string, records::Record> best_;  ///< by task key
  std::vector<std::string> problems_;
};

}  // namespace tw::api
