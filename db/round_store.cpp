// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "db/database_impl.h"
#include "db/round_codec.h"

namespace tw::db {
namespace {

constexpr const char* kColumns =
    "number, task_id, planned, trials, session_trials, decision_json, best_s, network_s, search_s, build_s, measure_s, spent_s, elapsed_s, measured_s";

void bind_known(SQLite::Statement& put, int i, double seconds) {
  if (std::isfinite(seconds)) {
    put.bind(i, seconds);
  } else {
    put.bind(i);
  }
}

double known(const SQLite::Column& column) { return column.isNull() ? std::numeric_limits<double>::infinity() : column.getDouble(); }

}  // namespace

void put_round(SQLite::Database& c, SessionId session, TaskId task, const records::Round& r) {
  SQLite::Statement put(c, fmt::format("INSERT OR REPLACE INTO round(session_id, {}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", kColumns));
  put.bind(1, session.value);
  put.bind(2, r.number);
  put.bind(3, task.value);
  put.bind(4, r.planned);
  put.bind(5, r.trials);
  put.bind(6, r.session_trials);
  put.bind(7, r.decision);
  bind_known(put, 8, r.best_s);
  bind_known(put, 9, r.network_s);
  int i = 10;
  for (const double seconds : {r.search_s, r.build_s, r.measure_s, r.total_s, r.elapsed_s, r.measured_s}) put.bind(i++, seconds);
  put.exec();
}

Expected<std::vector<records::Round>> Database::rounds(SessionId session, int64_t after) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<records::Round>> {
    SQLite::Statement q(c, fmt::format("SELECT {}, (SELECT key FROM task WHERE task.id = task_id) FROM round WHERE session_id = ? AND number > ? ORDER BY number", kColumns));
    q.bind(1, session.value);
    q.bind(2, after);
    std::vector<records::Round> rounds;
    while (q.executeStep()) {
      records::Round r;
      r.number = q.getColumn(0).getInt64();
      r.planned = q.getColumn(2).getInt64();
      r.trials = q.getColumn(3).getInt64();
      r.session_trials = q.getColumn(4).getInt64();
      r.decision = q.getColumn(5).getString();
      r.best_s = known(q.getColumn(6));
      r.network_s = known(q.getColumn(7));
      int i = 8;
      for (double* seconds : {&r.search_s, &r.build_s, &r.measure_s, &r.total_s, &r.elapsed_s, &r.measured_s}) *seconds = q.getColumn(i++).getDouble();
      r.task_key = q.getColumn(i).getString();
      rounds.push_back(std::move(r));
    }
    return rounds;
  });
}

}  // namespace tw::db
