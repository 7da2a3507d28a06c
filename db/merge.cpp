// SPDX-License-Identifier: Apache-2.0
#include "db/merge.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "db/row_checks.h"
#include "db/salvage.h"
#include "db/trial_counters.h"

namespace tw::db {
namespace {

void bind_value(SQLite::Statement& put, int i, const SQLite::Column& value) {
  if (value.isNull()) {
    put.bind(i);
  } else if (value.isInteger()) {
    put.bind(i, value.getInt64());
  } else if (value.isFloat()) {
    put.bind(i, value.getDouble());
  } else if (value.isBlob()) {
    put.bind(i, value.getBlob(), value.getBytes());
  } else {
    put.bind(i, value.getString());
  }
}

/// All columns of a table but `id`, in its order.
std::vector<std::string> columns_of(SQLite::Database& connection, const std::string& table) {
  SQLite::Statement q(connection, fmt::format("SELECT name FROM pragma_table_info('{}') WHERE name <> 'id' ORDER BY cid", table));
  std::vector<std::string> names;
  while (q.executeStep()) names.push_back(q.getColumn(0).getString());
  return names;
}

using Ids = std::unordered_map<int64_t, int64_t>;  ///< there -> here

/// Rows of one table on their way: read as they are, written with some columns replaced.
class Rows {
 public:
  /// `more`: expressions that are read after the columns.
  Rows(SQLite::Database& from, SQLite::Database& to, std::string table, const std::string& on_conflict = "", const std::string& more = "")
      : from_(from), table_(std::move(table)), columns_(columns_of(to, table_)) {
    std::string places;
    for (size_t i = 0; i < columns_.size(); ++i) places += i == 0 ? "?" : ", ?";
    put_.emplace(to, fmt::format("INSERT INTO {}({}) VALUES({}) {}", table_, fmt::join(columns_, ", "), places, on_conflict));
    selected_ = fmt::format("{}{}", fmt::join(columns_, ", "), more.empty() ? "" : ", " + more);
  }

  /// `key`: the column that the table is in the order of; `id` is one that tells its rows apart.
  void each(const std::string& key, const std::function<void()>& f) {
    each_row(from_, table_, key, key == "id" ? Key::id : Key::other, selected_, [&](SQLite::Statement& q) {
      row_ = &q;
      f();
    });
  }
  int64_t id() const { return row_->getColumn(0).getInt64(); }
  SQLite::Column operator[](const std::string& column) const {
    return row_->getColumn(1 + static_cast<int>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin()));
  }
  /// The expression after the columns.
  SQLite::Column extra() const { return row_->getColumn(1 + static_cast<int>(columns_.size())); }

  /// Inserts the row. Whether there was no such row.
  bool put(const std::map<std::string, int64_t>& replaced, const std::map<std::string, std::string>& texts = {}) {
    put_->tryReset();
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int place = static_cast<int>(i) + 1;
      if (const auto number = replaced.find(columns_[i]); number != replaced.end()) {
        put_->bind(place, number->second);
      } else if (const auto text = texts.find(columns_[i]); text != texts.end()) {
        put_->bind(place, text->second);
      } else {
        bind_value(*put_, place, row_->getColumn(place));
      }
    }
    return put_->exec() > 0;
  }

 private:
  SQLite::Database& from_;
  std::string table_, selected_;
  std::vector<std::string> columns_;
  std::optional<SQLite::Statement> put_;
  SQLite::Statement* row_ = nullptr;
};

class Merge {
 public:
  Merge(SQLite::Database& from, SQLite::Database& to) : from_(from), to_(to) {}

  MergeReport run() {
    models();
    tasks();
    sessions();
    trials();
    events();
    rounds();
    network_finals();
    marks();
    recount(to_, std::nullopt);
    return report_;
  }

 private:
  /// The id that a query finds here for values of the row; nothing if there is none.
  std::optional<int64_t> find(SQLite::Statement& q, const std::function<void()>& bind) {
    q.tryReset();
    bind();
    if (!q.executeStep()) return std::nullopt;
    return q.getColumn(0).getInt64();
  }
  static std::optional<int64_t> mapped(const Ids& ids, const SQLite::Column& id) {
    const auto at = ids.find(id.getInt64());
    return at == ids.end() ? std::nullopt : std::optional(at->second);
  }

  void models() {
    Rows rows(from_, to_, "model", "ON CONFLICT DO NOTHING");
    SQLite::Statement known(to_, "SELECT id FROM model WHERE content_key = ?");
    rows.each("id", [&] {
      report_.models += rows.put({}) ? 1 : 0;
      models_[rows.id()] = *find(known, [&] { bind_value(known, 1, rows["content_key"]); });
    });
  }

  void tasks() {
    Rows rows(from_, to_, "task", "ON CONFLICT DO NOTHING");
    SQLite::Statement known(to_, "SELECT id FROM task WHERE key = ?"), heal(to_, "UPDATE task SET dag_text = ?, flops = ? WHERE id = ? AND dag_text = ''");
    rows.each("id", [&] {
      const bool fresh = rows.put({});
      report_.tasks += fresh ? 1 : 0;
      const int64_t id = *find(known, [&] { bind_value(known, 1, rows["key"]); });
      tasks_[rows.id()] = id;
      if (fresh) return;
      heal.tryReset();
      bind_value(heal, 1, rows["dag_text"]);
      bind_value(heal, 2, rows["flops"]);
      heal.bind(3, id);
      heal.exec();
    });
    Rows links(from_, to_, "model_task", "ON CONFLICT DO UPDATE SET weights = excluded.weights WHERE weights = ''");
    links.each("model_id", [&] {
      const auto model = mapped(models_, links["model_id"]), task = mapped(tasks_, links["task_id"]);
      if (model && task) links.put({{"model_id", *model}, {"task_id", *task}});
    });
  }

  void sessions() {
    Rows rows(from_, to_, "session");
    SQLite::Statement known(to_, "SELECT id FROM session WHERE model_id = ? AND tuner = ? AND target = ? AND started_s = ? AND code_version = ?");
    SQLite::Statement went_on(to_, "UPDATE session SET state = ?1, ended_s = ?2, options_json = ?3 WHERE id = ?4 AND state != 'running' AND ended_s < ?2");
    rows.each("id", [&] {
      const auto model = mapped(models_, rows["model_id"]);
      if (!model) return;
      auto id = find(known, [&] {
        known.bind(1, *model);
        int i = 2;
        for (const char* column : {"tuner", "target", "started_s", "code_version"}) bind_value(known, i++, rows[column]);
      });
      if (!id) {
        const std::string state = rows["state"].getString();
        rows.put({{"model_id", *model}}, {{"state", state == "running" ? "interrupted" : state}});
        id = to_.getLastInsertRowid();
        fresh_[*id] = true;
        ++report_.sessions;
      } else {  // what it became since
        went_on.tryReset();
        int i = 1;
        for (const char* column : {"state", "ended_s", "options_json"}) bind_value(went_on, i++, rows[column]);
        went_on.bind(4, *id);
        went_on.exec();
      }
      sessions_[rows.id()] = *id;
    });
  }

  void trials() {
    SQLite::Statement newest(to_, "SELECT coalesce(max(id), 0) FROM trial"), samples(from_, "SELECT data, row_checksum(data) FROM sample WHERE trial_id = ?");
    newest.executeStep();
    const int64_t before = newest.getColumn(0).getInt64();
    newest.reset();
    Rows rows(from_, to_, "trial", "", whole_trial());
    SQLite::Statement known(to_, "SELECT id FROM trial WHERE session_id = ? AND task_id = ? AND config_index = ? AND steps_hash = ?");
    SQLite::Statement taken(to_, "SELECT id FROM trial WHERE session_id = ? AND task_id = ? AND number = ?");
    SQLite::Statement last(to_, "SELECT max(number) FROM trial WHERE session_id = ? AND task_id = ?"),
        put_samples(to_, "INSERT INTO sample(trial_id, data) VALUES(?, ?)"),
        put_final(to_, fmt::format("UPDATE trial SET final_s = ?, final_low = ?, final_high = ? WHERE id = ? AND final_s IS NULL AND {}", whole_trial()));
    rows.each("id", [&] {
      const auto session = mapped(sessions_, rows["session_id"]), task = mapped(tasks_, rows["task_id"]);
      if (!session || !task || rows.extra().getInt() == 0 || !has_samples(samples, rows)) {
        ++report_.damaged;
        return;
      }
      const auto bind_place = [&](SQLite::Statement& q) {
        q.bind(1, *session);
        q.bind(2, *task);
      };
      const auto there = find(known, [&] {
        bind_place(known);
        bind_value(known, 3, rows["config_index"]);
        bind_value(known, 4, rows["steps_hash"]);
      });
      if (there) {
        trials_[rows.id()] = *there;
        ++report_.there;
        if (rows["final_s"].isNull()) return;
        put_final.tryReset();
        int i = 1;
        for (const char* column : {"final_s", "final_low", "final_high"}) bind_value(put_final, i++, rows[column]);
        put_final.bind(4, *there);
        if (put_final.exec() > 0) sum_up_trials(to_, fmt::format("id = {}", *there));
        return;
      }
      int64_t number = rows["number"].getInt64();
      if (find(taken, [&] {
            bind_place(taken);
            taken.bind(3, number);
          })) {
        number = *find(last, [&] { bind_place(last); }) + 1;
        renumbered_[{rows["session_id"].getInt64(), rows["task_id"].getInt64(), rows["number"].getInt64()}] = number;
      }
      rows.put({{"session_id", *session}, {"task_id", *task}, {"number", number}});
      const int64_t id = to_.getLastInsertRowid();
      trials_[rows.id()] = id;
      put_samples.tryReset();
      put_samples.bind(1, id);
      bind_value(put_samples, 2, samples.getColumn(0));
      put_samples.exec();
      ++report_.trials;
    });
    sum_up_trials(to_, fmt::format("id > {}", before));
  }

  /// Whether the samples of a trial are whole; `q` stands on them then.
  static bool has_samples(SQLite::Statement& q, const Rows& trial) {
    try {
      q.tryReset();
      q.bind(1, trial.id());
      return q.executeStep() && !trial["samples_checksum"].isNull() && q.getColumn(1).getInt64() == trial["samples_checksum"].getInt64();
    } catch (const SQLite::Exception& e) {
      if (e.getErrorCode() != SQLITE_CORRUPT) throw;
      return false;
    }
  }

  void events() {
    Rows rows(from_, to_, "event");
    SQLite::Statement known(to_, "SELECT id FROM event WHERE session_id = ? AND at_s = ? AND kind = ? AND text = ?");
    rows.each("id", [&] {
      const auto session = mapped(sessions_, rows["session_id"]);
      if (!session) return;
      const bool there = !fresh_.contains(*session) && find(known, [&] {
        known.bind(1, *session);
        int i = 2;
        for (const char* column : {"at_s", "kind", "text"}) bind_value(known, i++, rows[column]);
      });
      if (!there) rows.put({{"session_id", *session}});
    });
  }

  void rounds() {
    // One that was cut short may have come to its end.
    std::vector<std::string> taken;
    for (const std::string& column : columns_of(to_, "round")) taken.push_back(fmt::format("{0} = excluded.{0}", column));
    Rows rows(from_, to_, "round", fmt::format("ON CONFLICT DO UPDATE SET {} WHERE excluded.trials > round.trials", fmt::join(taken, ", ")));
    rows.each("session_id", [&] {
      const auto session = mapped(sessions_, rows["session_id"]), task = mapped(tasks_, rows["task_id"]);
      if (session && task) rows.put({{"session_id", *session}, {"task_id", *task}});
    });
  }

  void network_finals() {
    Ids finals;
    Rows rows(from_, to_, "network_final");
    SQLite::Statement known(to_, "SELECT id FROM network_final WHERE model_id = ? AND at_s = ?");
    rows.each("id", [&] {
      const auto model = mapped(models_, rows["model_id"]);
      const auto session = rows["session_id"].isNull() ? std::nullopt : mapped(sessions_, rows["session_id"]);
      if (!model || session.has_value() == rows["session_id"].isNull()) return;
      auto id = find(known, [&] {
        known.bind(1, *model);
        bind_value(known, 2, rows["at_s"]);
      });
      if (!id) {
        std::map<std::string, int64_t> replaced{{"model_id", *model}};
        if (session) replaced["session_id"] = *session;
        rows.put(replaced);
        id = to_.getLastInsertRowid();
      }
      finals[rows.id()] = *id;
    });
    Rows verdicts(from_, to_, "network_verdict", "ON CONFLICT DO NOTHING");
    verdicts.each("final_id", [&] {
      const auto final_id = mapped(finals, verdicts["final_id"]), trial = mapped(trials_, verdicts["trial_id"]);
      if (final_id && trial) verdicts.put({{"final_id", *final_id}, {"trial_id", *trial}});
    });
  }

  void marks() {
    std::map<std::string, int64_t> keys;
    each_row(from_, "task", "id", Key::id, "key", [&](SQLite::Statement& q) { keys[q.getColumn(1).getString()] = q.getColumn(0).getInt64(); });
    Rows rows(from_, to_, "mark",
              "ON CONFLICT(noun) DO UPDATE SET note = excluded.note, tags_json = excluded.tags_json, changed_s = excluded.changed_s WHERE excluded.changed_s > "
              "changed_s");
    rows.each("noun", [&] {
      if (const auto noun = noun_here(rows["noun"].getString(), keys)) rows.put({}, {{"noun", *noun}});
    });
  }

  /// A mark's noun with the numbers that its session and its trial have here.
  std::optional<std::string> noun_here(const std::string& noun, const std::map<std::string, int64_t>& keys) const {
    const size_t colon = noun.find(':');
    const std::string kind = noun.substr(0, colon);
    if (colon == std::string::npos || (kind != "session" && kind != "trial")) return noun;
    int64_t session = 0;
    const char* const end = noun.data() + noun.size();
    const char* rest = std::from_chars(noun.data() + colon + 1, end, session).ptr;
    const auto here = sessions_.find(session);
    if (here == sessions_.end()) return std::nullopt;
    std::string tail(rest, end);  // of a trial: /TASK_KEY/NUMBER
    if (const size_t slash = tail.rfind('/'); kind == "trial" && slash != std::string::npos && slash > 0) {
      const auto task = keys.find(tail.substr(1, slash - 1));
      int64_t number = 0;
      std::from_chars(tail.data() + slash + 1, tail.data() + tail.size(), number);
      const auto moved = task == keys.end() ? renumbered_.end() : renumbered_.find({session, task->second, number});
      if (moved != renumbered_.end()) tail = tail.substr(0, slash + 1) + std::to_string(moved->second);
    }
    return fmt::format("{}:{}{}", kind, here->second, tail);
  }

  SQLite::Database &from_, &to_;
  Ids models_, tasks_, sessions_, trials_;
  std::map<int64_t, bool> fresh_;                                        ///< sessions here that came now
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> renumbered_;  ///< session, task and number there -> number here
  MergeReport report_;
};

}  // namespace

MergeReport merge(SQLite::Database& from, SQLite::Database& to) { return Merge(from, to).run(); }

}  // namespace tw::db
