// SPDX-License-Identifier: Apache-2.0
#include "db/session_workspace.h"

#include <functional>
#include <set>

#include "db/recorded.h"

namespace tw::db {
namespace {

Expected<std::vector<records::Record>> records_of(Database& db, SessionId session, TaskId task) {
  TW_TRY(auto rows, db.trials(session, task, {}, -1, true));
  std::vector<records::Record> records;
  for (TrialRow& row : rows) records.push_back(std::move(row.record));
  return records;
}

class Workspace : public records::SessionStore {
 public:
  Workspace(std::shared_ptr<Database> db, ModelId model, Json host) : db_(std::move(db)), model_(model), host_(std::move(host)) {}

  Expected<std::vector<records::StoredSession>> sessions() override {
    TW_TRY(const auto rows, db_->sessions(model_));
    std::vector<records::StoredSession> sessions;
    for (const SessionRow& row : rows) sessions.push_back({row.id, row.tuner, row.target, dump_json(row.options)});
    return sessions;
  }
  Expected<SessionId> begin(const std::string& tuner, const std::string& target, const Json& options) override {
    return db_->begin_session(model_, tuner, target, options, host_);
  }
  Expected<void> go_on(SessionId session, const Json& options) override { return db_->go_on(session, options); }
  Expected<void> end(SessionId session, const std::string& state) override { return db_->end_session(session, state); }
  std::unique_ptr<records::RecordSink> sink(SessionId session) override { return session_sink(db_, session); }
  Expected<std::vector<records::Record>> trials(SessionId session, const records::Task& task) override {
    TW_TRY(const auto row, db_->task_by_key(task.key));
    if (!row) return std::vector<records::Record>();
    return records_of(*db_, session, row->id);
  }
  Expected<std::vector<records::Round>> rounds(SessionId session) override { return db_->rounds(session); }
  Expected<std::vector<records::TaskRecords>> earlier(const Target& target) override {
    return task_records(*db_, target.str());
  }
  Expected<std::shared_ptr<records::RecordedTrials>> recorded(const std::string& file, const std::vector<std::string>& task_keys) override {
    if (file == db_->path()) return recorded_trials(*db_, task_keys);
    TW_TRY(const auto other, Database::open(file, Mode::read_only));
    return recorded_trials(*other, task_keys);
  }

 private:
  std::shared_ptr<Database> db_;
  ModelId model_;
  Json host_;
};

Expected<std::vector<records::TaskRecords>> task_records_where(Database& db, const std::string& target, const std::function<bool(SessionId)>& wanted) {
  std::vector<records::TaskRecords> out;
  TW_TRY(const auto rows, db.tasks());
  for (const TaskRow& row : rows) {
    if (row.counts().trials == 0 || row.target != target || row.dag_text.empty()) continue;
    auto task = readable_task(db, row);
    if (!task) continue;
    std::vector<records::Record> records;
    TW_TRY(auto trials, db.trials(std::nullopt, row.id, {}, -1, true));
    for (TrialRow& t : trials)
      if (wanted(t.session)) records.push_back(std::move(t.record));
    if (!records.empty()) out.push_back({*std::move(task), std::move(records)});
  }
  return out;
}

}  // namespace

Expected<std::vector<records::TaskRecords>> task_records(Database& db, const std::string& target) {
  return task_records_where(db, target, [](SessionId) { return true; });
}

Expected<std::vector<records::TaskRecords>> task_records(Database& db, const std::string& target, TimeKind kind) {
  std::set<SessionId> wanted;
  TW_TRY(const auto sessions, db.sessions());
  for (const SessionRow& s : sessions)
    if (s.kind == kind) wanted.insert(s.id);
  return task_records_where(db, target, [&](SessionId id) { return wanted.contains(id); });
}

std::unique_ptr<records::SessionStore> session_store(std::shared_ptr<Database> db, ModelId model, Json host) {
  return std::make_unique<Workspace>(std::move(db), model, std::move(host));
}

Expected<records::Task> task_of(const TaskRow& row) {
  TW_TRY(auto dag, te::parse_dag(row.dag_text));
  TW_TRY(Target target, parse_target(row.target));
  return records::Task{row.key, row.name, std::move(dag), std::move(target), row.flops};
}

std::optional<records::Task> readable_task(Database& db, const TaskRow& row) {
  auto task = task_of(row);
  if (task) return *std::move(task);
  db.note_damage({"task", row.id.value});
  return std::nullopt;
}

}  // namespace tw::db
