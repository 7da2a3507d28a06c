// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/upgrade.h"
#include "engine/base/ids.h"
#include "engine/base/json.h"
#include "engine/records/record_sink.h"

/// The workspace: one SQLite file (.twdb) with everything that was imported, tried and measured.
namespace tw::db {

enum class Mode { read_write, read_only };

/// The tuner of sessions whose trials come from logs: claims, which are never verified and best only where there is nothing else.
inline constexpr const char* kImported = "import";

/// What the times of a session's trials are: measured here, of a formula, of trials that were recorded before, or what a log says.
enum class TimeKind : uint8_t { measured, simulated, claimed, replayed };
inline constexpr size_t kTimeKinds = 4;
/// Stable name, such as "simulated".
const char* time_kind_name(TimeKind kind);

/// What trials of one task and kind come to. Times in seconds, infinite where there is none.
struct TaskCounts {
  int64_t trials = 0, failures = 0;
  double best_s = std::numeric_limits<double>::infinity();  ///< of the fastest verified trial, else of the fastest that was not compared with a reference
  double default_s = std::numeric_limits<double>::infinity();  ///< of the default schedule in the session that holds the best, else in the newest that tried it
  SessionId best_session;  ///< of the fastest verified trial; none where there is none
};

struct ModelRow {
  ModelId id;
  std::string name, path, content_key;
  Json summary;           ///< operators, parameters, FLOPs
  double imported_s = 0;  ///< Unix time
};
struct TaskRow {
  TaskId id;
  std::string key, name, target;
  std::string dag_text;  ///< te::print; empty for a task of another program
  int64_t flops = 0;
  std::array<TaskCounts, kTimeKinds> of_kind = {};  ///< over all sessions whose times are of that kind; the best as records::RecordSource::best has it

  /// The kind that stands for the task: the first that has trials, measured ones before simulated, claimed and replayed ones.
  TimeKind kind() const;
  const TaskCounts& counts() const { return of_kind[static_cast<size_t>(kind())]; }
};
struct ModelTaskRow {
  TaskRow task;  ///< the times as they count in this network
  int weight = 1;
  records::Weights weights = records::Weights::unknown;  ///< where the network has its constants when the task's kernels come to them
};
struct SessionRow {
  SessionId id;
  ModelId model;
  std::string tuner, target, state;  ///< state: "running", "done", "cancelled", "interrupted"
  TimeKind kind = TimeKind::measured;
  Json options;                      ///< tune::SessionOptions as JSON, with seed
  Json host;                         ///< machine description
  std::string code_version;
  double started_s = 0, ended_s = 0;
  double paused_s = 0;  ///< of the time between them: pauses, and from an interruption until it went on
  int64_t trials = 0;
  std::string name, group;  ///< as people call it: the first line of its note (`session:ID`), and the first of its tags

  /// How long it worked; 0 while it runs.
  double worked_s() const { return ended_s > started_s ? ended_s - started_s - paused_s : 0; }
};
struct TrialRow {
  TrialId id;
  SessionId session;
  TaskId task;
  int64_t number = 0;      ///< 1-based within (session, task)
  records::Record record;  ///< samples included only where said
};
/// What tables and curves show of a trial: neither steps nor samples. Times in seconds.
struct TrialOutcome {
  TrialId id = {};         ///< of what was read
  SessionId session = {};  ///< the same
  int64_t number = 0;  ///< 1-based within (session, task)
  std::string space;
  int64_t index = -1;
  std::string config;  ///< the choices by name, see records::Candidate::config
  records::Status status = records::Status::infra;
  std::string message;
  double seconds = 0;  ///< records::MeasureResult::decided_s(): what it is ranked by; infinity for failures
  bool censored = false, verified = false, claimed = false;
  double build_s = 0, run_s = 0, timestamp_s = 0;
  std::optional<records::Prediction> prediction = {};
  int flagged = 0;    ///< samples in which the kernel was disturbed
  double load_s = 0;                ///< before the run
  double fill_s = 0, verify_s = 0;  ///< as in records::MeasureResult; 0: not known
  double own_s = 0;                 ///< records::MeasureResult::seconds(), which tells apart what the finals hold for equally fast
  double paused_s = 0;              ///< of its session before the trial ended, see SessionRow

  /// Ascends with the session's work alone: differences are what came to pass between two trials of a session.
  double work_clock_s() const { return timestamp_s - paused_s; }
};
TrialOutcome outcome_of(int64_t number, const records::Record& record);
/// What happened to one task in one slice of a session's time.
struct ActivityRow {
  TaskId task;
  int64_t slice = 0;
  int64_t trials = 0, failures = 0;
  double spent_s = 0;  ///< building and running
};
/// A session's time in equal slices.
struct Activity {
  double begin_s = 0, slice_s = 0;  ///< Unix time of the first trial; length of a slice, 0 if there are no trials
  std::vector<ActivityRow> rows;    ///< only those with trials, ascending by slice and task
};
/// The record that a task is compiled with.
struct BestRecord {
  records::Record record;
  TimeKind kind = TimeKind::measured;
  SessionId session;
  int64_t number = 0;  ///< of the trial in (session, task)
};
/// What a session reached on one task.
struct BestRow {
  SessionId session;
  TaskId task;
  int64_t trials = 0, failures = 0;
  double best_s = 0;  ///< of verified trials after finals, else of others; infinity if nothing succeeded
  int64_t searched = 0;  ///< trials of other schedules than the task's default
};
/// What won alone, tried inside a network (api/network_finals.h). Times in seconds.
struct NetworkFinalRow {
  ModelId model;
  std::optional<SessionId> session;  ///< after which; nothing if it was asked for by itself
  std::string target;
  double at_s = 0;                     ///< Unix time; set by the database
  double default_s = 0, tuned_s = 0;   ///< of the network as it ran
  double ratio = 1, low = 1, high = 1;  ///< tuned ÷ default with its 95 % interval, of what was tried last if nothing was taken
  double default_estimate_s = 0, tuned_estimate_s = 0;  ///< sums over its kernels alone
  int tried = 0, taken = 0;                             ///< kernels; counted by the database
};
/// What became of one trial in it.
struct NetworkVerdictRow {
  records::Record record;  ///< of which task and point
  records::InNetwork verdict;
  std::string standing;  ///< api::standing_name
};
struct EventRow {
  int64_t id = 0;
  SessionId session;
  double at_s = 0;
  std::string kind, text;
};
/// What a person notes about a noun. Measurements are never changed by it.
struct MarkRow {
  std::string noun;  ///< what it is about, by stable keys, such as `task:KEY` (0003_marks.sql)
  std::string note;
  std::vector<std::string> tags;
  double changed_s = 0;  ///< Unix time; set by the database
};

/// A row that does not match its checksum, or that nothing can be made of. Readers leave it out; maintenance.h names and removes it.
struct DamagedRow {
  std::string table;  ///< "trial", "sample" (of the trial `id`), "session" and so on
  int64_t id = 0;
  std::string key = {};  ///< of rows without an id: marks
  auto operator<=>(const DamagedRow&) const = default;
};

/// One open workspace. One connection writes; every other opens read-only. Thread-safe: calls serialise inside.
/// Errors everywhere: no_space when the disk is full (nothing stored is lost), io_error, corrupt.
class Database : public records::RecordSource {
 public:
  /// Opens or creates. Errors: version for a file of a newer program (the message names both), corrupt for a damaged one (maintenance.h), parse_error for a file that is not ours,
  /// io_error for a read-only or missing folder, infrastructure if another process writes to it (it can still be opened read_only), cancelled by `upgrade`.
  static Expected<std::shared_ptr<Database>> open(const std::string& path, Mode mode = Mode::read_write, const Upgrade& upgrade = {});
  ~Database() override;

  const std::string& path() const;
  Mode mode() const;

  /// Rows that readings of this connection have met and left out, at most 10,000, ascending.
  std::vector<DamagedRow> damaged();
  /// For readers that can make nothing of a row which they got.
  void note_damage(const DamagedRow& row);
  /// How often put_trials writes a backup beside the file, in seconds: an hour if nothing else is said; 0: never. Backups that fail are noted as events of the
  /// session, and the trials are stored.
  void back_up_every(double seconds);
  /// Called after a reading that met damaged rows for the first time, on the thread that read.
  void on_damage(std::function<void()> tell);

  // Writing.
  /// A model that is known by its content keeps its name; the file that was opened last is where it is looked for.
  Expected<ModelId> put_model(const std::string& name, const std::string& path, const std::string& content_key, const Json& summary);
  /// Idempotent by task key.
  Expected<TaskId> put_task(const records::Task& task);
  /// A task of another program whose computation is not known: its row has no dag_text and no FLOPs.
  Expected<TaskId> put_foreign_task(const std::string& key, const std::string& name, const std::string& target);
  Expected<void> link_task(ModelId model, TaskId task, int weight, records::Weights weights);
  Expected<SessionId> begin_session(ModelId model, const std::string& tuner, const std::string& target, const Json& options, const Json& host);
  Expected<void> end_session(SessionId session, const std::string& state);
  /// A session that had ended runs again, with these options; the time between is none of its work. Errors: not_found.
  Expected<void> go_on(SessionId session, const Json& options);
  /// Takes a session out with its trials, rounds, events and finals; tasks count the rest. restore_session() brings it back as it was until this database is
  /// closed. Errors: not_found; invalid_argument while it is running.
  Expected<void> remove_session(SessionId session);
  Expected<void> restore_session(SessionId session);
  /// Stores trials in one transaction; numbers continue within (session, task). When it returns they survive a kill. The session counts as running again.
  /// Errors: invalid_argument if the session has already measured one of the points; nothing of the batch is stored then.
  /// With a round, it is stored in the same transaction and replaces the one of its number.
  Expected<std::vector<TrialId>> put_trials(SessionId session, TaskId task, const std::vector<records::Record>& records, const records::Round* round = nullptr);
  /// Adds the verdicts of a task's finals to trials of the session. Errors: not_found.
  Expected<void> put_finals(SessionId session, TaskId task, const std::vector<records::Record>& finalists);
  /// Errors: not_found for a record whose point has no trial.
  Expected<void> put_network_final(const NetworkFinalRow& row, const std::vector<NetworkVerdictRow>& verdicts);
  Expected<void> put_event(SessionId session, const std::string& kind, const std::string& text);
  /// Stores or replaces the mark of its noun; without note and tags it is removed.
  Expected<void> put_mark(const MarkRow& mark);

  // Reading.
  Expected<std::vector<ModelRow>> models();
  Expected<std::vector<ModelTaskRow>> tasks_of(ModelId model);
  Expected<std::vector<TaskRow>> tasks();
  Expected<std::optional<TaskRow>> task_by_key(const std::string& key, records::Weights in_network = records::Weights::unknown);
  Expected<std::vector<SessionRow>> sessions(std::optional<ModelId> model = std::nullopt);
  /// Ascending by id, those after `after`; samples are loaded only if asked for.
  Expected<std::vector<TrialRow>> trials(std::optional<SessionId> session, std::optional<TaskId> task, TrialId after = {}, int64_t limit = -1,
                                         bool with_samples = false);
  /// Of each record whether some session has it as it is: the same point, outcome, samples and time.
  Expected<std::vector<bool>> are_stored(TaskId task, const std::vector<records::Record>& records);
  /// One trial with its samples; nothing if there is none of that number.
  Expected<std::optional<TrialRow>> trial(SessionId session, TaskId task, int64_t number);
  /// Ascending by number, those after `after`, at most `limit`.
  Expected<std::vector<TrialOutcome>> outcomes(SessionId session, TaskId task, int64_t after, int64_t limit);
  /// The kind that stands for a task: TaskRow::kind().
  Expected<TimeKind> time_kind_of(TaskId task);
  /// The same over all sessions whose times are of one kind, in the order in which they were stored, after that trial.
  Expected<std::vector<TrialOutcome>> outcomes(TaskId task, TimeKind kind, TrialId after, int64_t limit);
  /// Of every task that the sessions tried, ascending by session and task.
  Expected<std::vector<BestRow>> bests(const std::vector<SessionId>& sessions);
  Expected<Activity> activity(SessionId session, int slices);
  Expected<std::vector<EventRow>> events(SessionId session);
  /// Ascending by number, those after `after`; none of sessions of programs that had no rounds.
  Expected<std::vector<records::Round>> rounds(SessionId session, int64_t after = 0);
  /// Ascending by time.
  Expected<std::vector<NetworkFinalRow>> network_finals(ModelId model);
  Expected<std::vector<MarkRow>> marks();
  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights in_network) override;
  /// The same, and what its time is; of one session alone if it is given.
  Expected<std::optional<BestRecord>> best_of_kinds(const std::string& task_key, records::Weights in_network = records::Weights::unknown, SessionId session = {});
  Expected<std::optional<records::InNetwork>> in_network(const std::string& network, const records::Record& record) override;

 private:
  Database();
  static Expected<std::shared_ptr<Database>> open_as_it_is(const std::string& path, Mode mode, const Upgrade& upgrade);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// RecordSink of one session.
std::unique_ptr<records::RecordSink> session_sink(std::shared_ptr<Database> db, SessionId session);

}  // namespace tw::db
