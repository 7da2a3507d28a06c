// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "db/database_impl.h"
#include "db/round_codec.h"
#include "db/trial_counters.h"
#include "db/trial_codec.h"

namespace tw::db {
namespace {

int64_t last_number(SQLite::Database& c, SessionId session, TaskId task) {
  // No session has as many: a damaged row may have any number.
  SQLite::Statement q(c, "SELECT coalesce(max(number), 0) FROM trial WHERE session_id = ? AND task_id = ? AND number < 1000000000000");
  q.bind(1, session.value);
  q.bind(2, task.value);
  q.executeStep();
  return q.getColumn(0).getInt64();
}

bool is_claimed(SQLite::Database& c, SessionId session) {
  SQLite::Statement q(c, "SELECT kind FROM session WHERE id = ?");
  q.bind(1, session.value);
  return q.executeStep() && time_kind_from_name(q.getColumn(0).getString()) == TimeKind::claimed;
}

/// Removes the session's damaged trial of a point, which nobody could read and so was measured again. Whether there was one.
bool remove_damaged(SQLite::Database& c, SessionId session, TaskId task, const records::Candidate& candidate, int64_t before) {
  SQLite::Statement q(c, fmt::format("SELECT trial.id FROM trial LEFT JOIN sample ON sample.trial_id = trial.id WHERE session_id = ?1 AND task_id = ?2 "
                                     "AND config_index = ?4 AND steps_hash = ?5 AND number <= {} AND NOT (space = ?3 AND {} AND {})",
                                     before, whole_trial(), whole_samples()));
  q.bind(1, session.value);
  q.bind(2, task.value);
  bind_point(q, 3, candidate);
  if (!q.executeStep()) return false;
  remove_trial(c, q.getColumn(0).getInt64());
  return true;
}

/// Inserts one trial, which `put` has; `replaced`: in the place of a damaged one, which is none of this batch: its number is at most `before`. Errors: invalid_argument if the session has measured this point.
Expected<TrialId> insert(SQLite::Database& c, SQLite::Statement& put, SQLite::Statement& put_samples, SessionId session, TaskId task,
                         const records::Record& record, const std::string& samples, int64_t before, bool& replaced) {
  const auto is_new = [&] {
    try {
      put.exec();
      return true;
    } catch (const SQLite::Exception& e) {
      if (e.getExtendedErrorCode() != SQLITE_CONSTRAINT_UNIQUE) throw;
      put.tryReset();
      return false;
    }
  };
  if (!is_new()) {
    if (remove_damaged(c, session, task, record.candidate, before) && is_new()) {
      replaced = true;
    } else {
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a new point of the space '{}', found point {}, which the session has measured",
                                                          record.candidate.space, record.candidate.index));
    }
  }
  const TrialId id{c.getLastInsertRowid()};
  put.reset();
  put_samples.bind(1, id.value);
  put_samples.bindNoCopy(2, samples.data(), static_cast<int>(samples.size()));
  put_samples.exec();
  put_samples.reset();
  return id;
}

/// Whether a trial of the session may get a verdict: nothing if there is none of that point.
std::optional<std::pair<int64_t, bool>> find_point(SQLite::Database& c, SessionId session, TaskId task, const records::Candidate& candidate) {
  SQLite::Statement q(c, fmt::format("SELECT trial.id, {} FROM trial WHERE session_id = ? AND task_id = ? AND space = ? AND config_index = ? "
                                     "AND (config_index >= 0 OR steps_hash = ?)",
                                     whole_trial()));
  q.bind(1, session.value);
  q.bind(2, task.value);
  bind_point(q, 3, candidate);
  if (!q.executeStep()) return std::nullopt;
  return std::pair(q.getColumn(0).getInt64(), q.getColumn(1).getInt() != 0);
}

std::string_view blob_of(const SQLite::Column& column) {
  return column.getBytes() > 0 ? std::string_view(static_cast<const char*>(column.getBlob()), static_cast<size_t>(column.getBytes())) : std::string_view();
}

constexpr const char* kTrialColumns = "trial.id, session_id, task_id, number, task.key, session.kind = 'claimed'";
constexpr int kTrialColumnCount = 6;
constexpr const char* kSamples = "LEFT JOIN sample ON sample.trial_id = trial.id";
std::string whole_if(bool with_samples) { return with_samples ? whole_trial() + " AND " + whole_samples() : whole_trial(); }
constexpr const char* kTrialTables = "trial JOIN task ON task.id = task_id JOIN session ON session.id = session_id";

/// A row of kTrialColumns, the record's, the final and the prediction's columns, the weights and the samples (or NULL). Errors: corrupt.
Expected<TrialRow> trial_row(SQLite::Statement& q) {
  TrialRow row;
  row.id = TrialId{q.getColumn(0).getInt64()};
  row.session = SessionId{q.getColumn(1).getInt64()};
  row.task = TaskId{q.getColumn(2).getInt64()};
  row.number = q.getColumn(3).getInt64();
  TW_TRY(row.record, read_record(q, kTrialColumnCount, q.getColumn(5).getInt() != 0));
  row.record.task_key = q.getColumn(4).getString();
  row.record.prediction = read_prediction(q, kTrialColumnCount + kRecordColumnCount + kFinalColumnCount);
  constexpr int kAfterPrediction = kTrialColumnCount + kRecordColumnCount + kFinalColumnCount + kPredictionColumnCount;
  row.record.result.weights = read_weights(q, kAfterPrediction);
  const SQLite::Column samples = q.getColumn(kAfterPrediction + 1);
  if (!samples.isNull()) TW_CHECK(unpack_samples(blob_of(samples), row.record.result));
  return row;
}

/// Which trials are best before which: measured before claimed, simulated and replayed ones, verified before others. As literals, so that the index of verified
/// trials serves.
struct Rank {
  TimeKind kind;
  const char* verified;
};
constexpr Rank kRanks[] = {{TimeKind::measured, "verified = 1 AND"}, {TimeKind::measured, "verified = 0 AND"}, {TimeKind::claimed, ""},
                           {TimeKind::simulated, "verified = 1 AND"}, {TimeKind::simulated, "verified = 0 AND"}, {TimeKind::replayed, ""}};

/// A row of the record's and the final columns, samples, session, tuner, number and weights. Errors: corrupt.
Expected<records::Record> best_row(SQLite::Statement& q, TimeKind kind) {
  TW_TRY(records::Record record, read_record(q, 0, kind == TimeKind::claimed));
  const auto column = [&](int i) { return q.getColumn(kRecordColumnCount + kFinalColumnCount + i); };
  TW_CHECK(unpack_samples(blob_of(column(0)), record.result));
  record.result.weights = read_weights(q, kRecordColumnCount + kFinalColumnCount + 4);
  record.origin = fmt::format("session {} ({}{}), trial {}", column(1).getInt64(), column(2).getString(),
                              kind == TimeKind::simulated || kind == TimeKind::replayed ? std::string(", ") + time_kind_name(kind) : "", column(3).getInt64());
  return record;
}

class SessionSink : public records::RecordSink {
 public:
  SessionSink(std::shared_ptr<Database> db, SessionId session) : db_(std::move(db)), session_(session) {}

  Expected<void> store(const records::Task& task, const std::vector<records::Record>& records) override { return store(task, records, nullptr); }
  Expected<void> store(const records::Task& task, const std::vector<records::Record>& records, const records::Round& round) override {
    return store(task, records, &round);
  }
  Expected<void> settle(const records::Task& task, const std::vector<records::Record>& finalists) override {
    TW_TRY(const TaskId id, id_of(task));
    return db_->put_finals(session_, id, finalists);
  }
  Expected<void> note(const std::string& kind, const std::string& text) override { return db_->put_event(session_, kind, text); }

 private:
  Expected<void> store(const records::Task& task, const std::vector<records::Record>& records, const records::Round* round) {
    TW_TRY(const TaskId id, id_of(task));
    TW_CHECK(db_->put_trials(session_, id, records, round));
    return {};
  }
  Expected<TaskId> id_of(const records::Task& task) {
    auto known = tasks_.find(task.key);
    if (known == tasks_.end()) {
      TW_TRY(const TaskId id, db_->put_task(task));
      known = tasks_.emplace(task.key, id).first;
    }
    return known->second;
  }

  std::shared_ptr<Database> db_;
  SessionId session_;
  std::map<std::string, TaskId> tasks_;
};

}  // namespace

Expected<std::vector<TrialId>> Database::put_trials(SessionId session, TaskId task, const std::vector<records::Record>& records,
                                                    const records::Round* round) {
  auto stored = impl_->write([&](SQLite::Database& c) -> Expected<std::vector<TrialId>> {
    constexpr int kRecord = 6, kPrediction = kRecord + kRecordColumnCount, kFinals = kPrediction + kPredictionColumnCount;
    SQLite::Statement put(c, insert_of_trial(fmt::format("id, session_id, task_id, number, weights, {}, {}, {}", kRecordColumns, kPredictionColumns, kFinalColumns)));
    SQLite::Statement put_samples(c, "INSERT INTO sample(trial_id, data) VALUES(?, ?)");
    const int64_t before = last_number(c, session, task);
    int64_t number = before, next = impl_->fresh_id("trial");
    std::vector<TrialId> ids;
    std::map<records::Weights, TaskCounters> counters;
    const bool claimed = is_claimed(c, session);
    bool replaced = false;
    for (const records::Record& record : records) {
      const std::string samples = pack_samples(record.result);
      put.bind(1, next++);
      put.bind(2, session.value);
      put.bind(3, task.value);
      put.bind(4, ++number);
      bind_weights(put, 5, record.result.weights);
      bind_record(put, kRecord, record);
      bind_prediction(put, kPrediction, record.prediction);
      bind_verdict(put, kFinals, record.result.verdict);
      put.bindNoCopy(kFinals + kFinalColumnCount, samples.data(), static_cast<int>(samples.size()));
      TW_TRY(const TrialId id, insert(c, put, put_samples, session, task, record, samples, before, replaced));
      ids.push_back(id);
      counters[record.result.weights].add(record, claimed);
    }
    add_counters(c, session, task, counters);
    if (replaced) recount(c, std::nullopt);
    if (round != nullptr) put_round(c, session, task, *round);
    return ids;
  });
  if (stored) {
    const std::lock_guard guard(impl_->mutex);
    impl_->back_up_if_due(session);
  }
  return stored;
}

Expected<void> Database::put_finals(SessionId session, TaskId task, const std::vector<records::Record>& finalists) {
  if (std::none_of(finalists.begin(), finalists.end(), [](const records::Record& r) { return r.result.verdict.has_value(); })) return {};
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement put(c, fmt::format("UPDATE trial SET ({}) = (?, ?, ?) WHERE id = ?", kFinalColumns));
    for (const records::Record& r : finalists) {
      if (!r.result.verdict) continue;
      const auto found = find_point(c, session, task, r.candidate);
      if (!found) return Error(ErrorCode::not_found, fmt::format("Expected a trial of point {} in the session, found none", r.candidate.index));
      const auto [id, is_whole] = *found;
      if (!is_whole) continue;  // damaged since it was measured: a new checksum would hide that
      bind_verdict(put, 1, r.result.verdict);
      put.bind(1 + kFinalColumnCount, id);
      put.exec();
      put.reset();
      sum_up_trials(c, fmt::format("id = {}", id));
    }
    recount(c, task);
    return {};
  });
}

Expected<std::vector<bool>> Database::are_stored(TaskId task, const std::vector<records::Record>& records) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<bool>> {
    SQLite::Statement q(c, fmt::format("SELECT 1 FROM trial WHERE task_id = {} AND record_hash = row_checksum(?, ?, ?, ?, ?, ?) AND {} LIMIT 1", task.value, whole_trial()));
    std::vector<bool> stored;
    for (const records::Record& record : records) {
      const std::string samples = pack_samples(record.result);
      bind_identity(q, 1, record, samples);
      stored.push_back(q.executeStep());
      q.reset();
    }
    return stored;
  });
}

Expected<std::vector<TrialRow>> Database::trials(std::optional<SessionId> session, std::optional<TaskId> task, TrialId after, int64_t limit,
                                                 bool with_samples) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<TrialRow>> {
    std::string where;
    if (session) where += fmt::format(" AND session_id = {}", session->value);
    if (task) where += fmt::format(" AND task_id = {}", task->value);
    SQLite::Statement q(c, fmt::format("SELECT {}, {}, {}, {}, {}, {} FROM {} {} WHERE trial.id > {}{} AND {} ORDER BY trial.id LIMIT {}", kTrialColumns,
                                       kRecordColumns, kFinalColumns, kPredictionColumns, kWeightsColumn, with_samples ? "sample.data" : "NULL", kTrialTables,
                                       with_samples ? kSamples : "", after.value, where, whole_if(with_samples), limit));
    std::vector<TrialRow> rows;
    while (q.executeStep()) {
      auto row = trial_row(q);
      if (row)
        rows.push_back(*std::move(row));
      else
        impl_->damage.add({"trial", q.getColumn(0).getInt64()});
    }
    return rows;
  });
}

Expected<std::optional<TrialRow>> Database::trial(SessionId session, TaskId task, int64_t number) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::optional<TrialRow>> {
    SQLite::Statement q(c, fmt::format("SELECT {}, {}, {}, {}, {}, sample.data FROM {} {} WHERE session_id = {} AND task_id = {} AND number = {} AND {}",
                                       kTrialColumns, kRecordColumns, kFinalColumns, kPredictionColumns, kWeightsColumn, kTrialTables, kSamples, session.value,
                                       task.value, number, whole_if(true)));
    if (!q.executeStep()) return std::optional<TrialRow>();
    auto row = trial_row(q);
    if (row) return std::optional(*std::move(row));
    impl_->damage.add({"trial", q.getColumn(0).getInt64()});
    return std::optional<TrialRow>();
  });
}

TrialOutcome outcome_of(int64_t number, const records::Record& record) {
  const records::MeasureResult& r = record.result;
  return {{},      {},  number, record.candidate.space, record.candidate.index, record.candidate.config, r.status, r.message, r.decided_s(), r.censored, r.verified, record.claimed,
          r.build_s, r.run_s, r.timestamp_s, record.prediction, r.flagged, r.load_s, r.fill_s, r.verify_s, r.seconds()};
}

namespace {

Expected<std::vector<TrialOutcome>> outcomes_where(SQLite::Database& c, const std::string& condition, const char* order, int64_t limit) {
  SQLite::Statement q(c, fmt::format("SELECT trial.id, session_id, number, space, config_index, status, message, coalesce(final_s, seconds), censored, verified, build_s, run_s, "
                                     "timestamp_s, config_json, session.kind = 'claimed', flagged, load_s, fill_s, verify_s, seconds, {} FROM trial CROSS JOIN session ON session.id = session_id WHERE {} AND {} ORDER BY {} LIMIT {}",
                                     kPredictionColumns, condition, whole_trial(), order, limit));
  std::vector<TrialOutcome> rows;
  std::map<int64_t, std::vector<Break>> breaks;  // by session
  while (q.executeStep()) {
    TrialOutcome row;
    row.id = TrialId{q.getColumn(0).getInt64()};
    row.session = SessionId{q.getColumn(1).getInt64()};
    row.number = q.getColumn(2).getInt64();
    row.space = q.getColumn(3).getText();
    row.index = q.getColumn(4).getInt64();
    row.status = records::status_from_name(q.getColumn(5).getText());
    row.message = q.getColumn(6).getText();
    row.seconds = seconds_or_infinity(q.getColumn(7));
    row.censored = q.getColumn(8).getInt() != 0;
    row.claimed = q.getColumn(14).getInt() != 0;
    row.verified = q.getColumn(9).getInt() != 0 && !row.claimed;
    row.build_s = q.getColumn(10).getDouble();
    row.run_s = q.getColumn(11).getDouble();
    row.timestamp_s = q.getColumn(12).getDouble();
    row.config = q.getColumn(13).getText();
    row.flagged = q.getColumn(15).getInt();
    row.load_s = q.getColumn(16).getDouble();
    row.fill_s = q.getColumn(17).getDouble();
    row.verify_s = q.getColumn(18).getDouble();
    row.own_s = seconds_or_infinity(q.getColumn(19));
    row.prediction = read_prediction(q, 20);
    auto of_session = breaks.find(row.session.value);
    if (of_session == breaks.end()) of_session = breaks.emplace(row.session.value, breaks_of(c, row.session)).first;
    row.paused_s = paused_before(of_session->second, row.timestamp_s);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Expected<std::vector<TrialOutcome>> Database::outcomes(SessionId session, TaskId task, int64_t after, int64_t limit) {
  return impl_->read([&](SQLite::Database& c) {
    return outcomes_where(c, fmt::format("session_id = {} AND task_id = {} AND number > {}", session.value, task.value, after), "number", limit);
  });
}

Expected<std::vector<TrialOutcome>> Database::outcomes(TaskId task, TimeKind kind, TrialId after, int64_t limit) {
  return impl_->read([&](SQLite::Database& c) {
    return outcomes_where(c, fmt::format("task_id = {} AND session.kind = '{}' AND trial.id > {}", task.value, time_kind_name(kind), after.value), "trial.id", limit);
  });
}

Expected<std::vector<BestRow>> Database::bests(const std::vector<SessionId>& sessions) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<BestRow>> {
    SQLite::Statement q(
        c, fmt::format("SELECT task_id, count(*), sum(status <> 'ok'), coalesce(min(CASE WHEN status = 'ok' AND censored = 0 AND verified = 1 "
                       "AND coalesce(final_s, seconds) < 9e999 THEN coalesce(final_s, seconds) END), min(CASE WHEN status = 'ok' AND censored = 0 THEN seconds END)), "
                       "sum(space <> 'default') FROM trial WHERE session_id = ? AND {} GROUP BY task_id ORDER BY task_id",
                       whole_trial()));
    std::vector<BestRow> rows;
    for (const SessionId session : sessions) {
      q.bind(1, session.value);
      while (q.executeStep())
        rows.push_back({session, TaskId{q.getColumn(0).getInt64()}, q.getColumn(1).getInt64(), q.getColumn(2).getInt64(), seconds_or_infinity(q.getColumn(3)),
                        q.getColumn(4).getInt64()});
      q.reset();
    }
    return rows;
  });
}

Expected<Activity> Database::activity(SessionId session, int slices) {
  return impl_->read([&](SQLite::Database& c) -> Expected<Activity> {
    Activity activity;
    SQLite::Statement range(c, fmt::format("SELECT min(timestamp_s), max(timestamp_s) FROM trial WHERE session_id = {} AND {}", session.value, whole_trial()));
    if (!range.executeStep() || range.getColumn(0).isNull()) return activity;
    activity.begin_s = range.getColumn(0).getDouble();
    activity.slice_s = std::max(1e-3, (range.getColumn(1).getDouble() - activity.begin_s) / std::max(1, slices));
    // The last trial would open a slice of its own.
    SQLite::Statement q(c, fmt::format("SELECT task_id, min(CAST((timestamp_s - ?1) / ?2 AS INTEGER), {}) AS slice, count(*), sum(status <> 'ok'), "
                                       "sum(build_s + run_s) FROM trial WHERE session_id = {} AND {} GROUP BY slice, task_id ORDER BY slice, task_id",
                                       std::max(1, slices) - 1, session.value, whole_trial()));
    q.bind(1, activity.begin_s);
    q.bind(2, activity.slice_s);
    while (q.executeStep()) {
      activity.rows.push_back(
          {TaskId{q.getColumn(0).getInt64()}, q.getColumn(1).getInt64(), q.getColumn(2).getInt64(), q.getColumn(3).getInt64(), q.getColumn(4).getDouble()});
    }
    return activity;
  });
}

Expected<std::optional<records::Record>> Database::best(const std::string& task_key, records::Weights in_network) {
  TW_TRY(auto found, best_of_kinds(task_key, in_network));
  return found ? std::optional(std::move(found->record)) : std::nullopt;
}

Expected<std::optional<BestRecord>> Database::best_of_kinds(const std::string& task_key, records::Weights in_network, SessionId session) {
  const std::string of_session = session ? fmt::format("AND session_id = {}", session.value) : std::string();
  const std::string comparable = comparable_trials(in_network);
  return impl_->read([&](SQLite::Database& c) -> Expected<std::optional<BestRecord>> {
    for (const Rank& rank : kRanks) {
      for (const std::string& of_weights : {comparable, "NOT " + comparable}) {
        SQLite::Statement q(
            c, fmt::format("SELECT {}, {}, sample.data, session.id, session.tuner, number, {}, trial.id FROM trial {} "
                           "JOIN session ON session.id = session_id "
                           "WHERE task_id = (SELECT id FROM task WHERE key = ?) AND status = 'ok' AND {} censored = 0 AND seconds IS NOT NULL "
                           "AND coalesce(final_s, seconds) < 9e999 AND coalesce(final_s, seconds) >= {} AND session.kind = '{}' "
                           "AND {} {} AND {} ORDER BY coalesce(final_s, seconds), seconds, trial.id LIMIT 16",
                           kRecordColumns, kFinalColumns, kWeightsColumn, kSamples, rank.verified, records::kLeastTime, time_kind_name(rank.kind), of_weights,
                           of_session, whole_if(true)));
        q.bind(1, task_key);
        while (q.executeStep()) {
          if (auto record = best_row(q, rank.kind)) {
            record->task_key = task_key;
            const int at = kRecordColumnCount + kFinalColumnCount + 1;
            return std::optional(BestRecord{*std::move(record), rank.kind, SessionId{q.getColumn(at).getInt64()}, q.getColumn(at + 2).getInt64()});
          }
          impl_->damage.add({"trial", q.getColumn(kRecordColumnCount + kFinalColumnCount + 5).getInt64()});
        }
      }
    }
    return std::optional<BestRecord>();
  });
}

std::unique_ptr<records::RecordSink> session_sink(std::shared_ptr<Database> db, SessionId session) {
  return std::make_unique<SessionSink>(std::move(db), session);
}

}  // namespace tw::db
