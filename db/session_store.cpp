// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "db/database_impl.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/records/recorded_trials.h"

namespace tw::db {

namespace {

/// By the device that the session or its host names; one that names none measured if its target is no GPU.
TimeKind kind_of(const std::string& tuner, const std::string& target, const Json& options, const Json& host) {
  if (tuner == kImported) return TimeKind::claimed;
  for (const Json* json : {&options, &host}) {
    if (!json->is_object() || !json->contains("device") || !(*json)["device"].is_string()) continue;
    const auto& device = (*json)["device"].get_ref<const std::string&>();
    return device.starts_with(records::kRecordedDevice) ? TimeKind::replayed : device.starts_with("sim:") ? TimeKind::simulated : TimeKind::measured;
  }
  return target.starts_with("cuda") ? TimeKind::simulated : TimeKind::measured;
}

constexpr const char* kKindNames[kTimeKinds] = {"measured", "simulated", "claimed", "replayed"};

}  // namespace

const char* time_kind_name(TimeKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

TimeKind time_kind_from_name(std::string_view name) {
  for (size_t k = 0; k < kTimeKinds; ++k)
    if (name == kKindNames[k]) return static_cast<TimeKind>(k);
  return TimeKind::measured;
}

Expected<SessionId> Database::begin_session(ModelId model, const std::string& tuner, const std::string& target, const Json& options, const Json& host) {
  return impl_->write([&](SQLite::Database& c) -> Expected<SessionId> {
    SQLite::Statement put(
        c, "INSERT INTO session(model_id, tuner, target, state, options_json, host_json, code_version, started_s, kind, id) VALUES(?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)");
    put.bind(1, model.value);
    put.bind(2, tuner);
    put.bind(3, target);
    put.bind(4, dump_json(options));
    put.bind(5, dump_json(host));
    put.bind(6, TW_VERSION);
    put.bind(7, unix_now_s());
    put.bind(8, time_kind_name(kind_of(tuner, target, options, host)));
    const SessionId id{impl_->fresh_id("session")};
    put.bind(9, id.value);
    put.exec();
    return id;
  });
}

Expected<void> Database::end_session(SessionId session, const std::string& state) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement put(c, "UPDATE session SET state = ?, ended_s = ? WHERE id = ?");
    put.bind(1, state);
    put.bind(2, unix_now_s());
    put.bind(3, session.value);
    if (put.exec() == 0) return Error(ErrorCode::not_found, fmt::format("Expected a session, found none with number {}", session.value));
    return {};
  });
}

Expected<void> Database::go_on(SessionId session, const Json& options) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement q(c, "SELECT ended_s FROM session WHERE id = ?");
    q.bind(1, session.value);
    if (!q.executeStep()) return Error(ErrorCode::not_found, fmt::format("Expected a session, found none with number {}", session.value));
    const double ended_s = q.getColumn(0).getDouble();
    SQLite::Statement put_options(c, "UPDATE session SET options_json = ? WHERE id = ?");
    put_options.bind(1, dump_json(options));
    put_options.bind(2, session.value);
    put_options.exec();
    if (ended_s == 0) return {};  // it runs
    db::put_event(c, session, "paused", "The session had ended", ended_s);
    db::put_event(c, session, "resumed", "It goes on", unix_now_s());
    SQLite::Statement put(c, "UPDATE session SET state = 'running', ended_s = 0 WHERE id = ?");
    put.bind(1, session.value);
    put.exec();
    return {};
  });
}

std::vector<Break> breaks_of(SQLite::Database& connection, SessionId session) {
  SQLite::Statement q(connection, "SELECT at_s, kind FROM event WHERE session_id = ? AND kind IN ('paused', 'resumed') ORDER BY id");
  q.bind(1, session.value);
  std::vector<Break> breaks;
  double open_s = 0;  // 0: it works
  while (q.executeStep()) {
    const double at_s = q.getColumn(0).getDouble();
    // A session that was killed during a pause had ended before it began.
    if (std::string_view(q.getColumn(1).getText()) == "paused") {
      open_s = open_s > 0 ? std::min(open_s, at_s) : at_s;
    } else if (open_s > 0) {
      breaks.push_back({open_s, at_s});
      open_s = 0;
    }
  }
  return breaks;
}

double paused_before(const std::vector<Break>& breaks, double at_s) {
  double paused_s = 0;
  for (const Break& b : breaks) paused_s += std::max(0.0, std::min(b.end_s, at_s) - b.begin_s);
  return paused_s;
}

Expected<std::vector<SessionRow>> Database::sessions(std::optional<ModelId> model) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<SessionRow>> {
    SQLite::Statement q(c,
                        "SELECT id, model_id, tuner, target, state, options_json, host_json, code_version, started_s, ended_s, trials, kind, "
                        "coalesce(mark.note, ''), coalesce(iif(json_valid(mark.tags_json), json_extract(mark.tags_json, '$[0]'), ''), '') "
                        "FROM session LEFT JOIN mark ON mark.noun = 'session:' || id WHERE ?1 = 0 OR model_id = ?1 ORDER BY id");
    q.bind(1, model ? model->value : 0);
    std::vector<SessionRow> rows;
    while (q.executeStep()) {
      SessionRow row;
      row.id = SessionId{q.getColumn(0).getInt64()};
      row.model = ModelId{q.getColumn(1).getInt64()};
      row.tuner = q.getColumn(2).getString();
      row.target = q.getColumn(3).getString();
      row.state = q.getColumn(4).getString();
      auto options = parse_json(q.getColumn(5).getString()), host = parse_json(q.getColumn(6).getString());
      if (!options || !host) {
        impl_->damage.add({"session", row.id.value});
        continue;
      }
      row.options = *std::move(options);
      row.host = *std::move(host);
      row.code_version = q.getColumn(7).getString();
      row.started_s = q.getColumn(8).getDouble();
      row.ended_s = q.getColumn(9).getDouble();
      row.trials = q.getColumn(10).getInt64();
      row.kind = time_kind_from_name(q.getColumn(11).getText());
      row.name = q.getColumn(12).getString();
      row.name.resize(std::min(row.name.size(), row.name.find('\n')));
      row.group = q.getColumn(13).getString();
      row.paused_s = paused_before(breaks_of(c, row.id), row.ended_s > 0 ? row.ended_s : unix_now_s());
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

void put_event(SQLite::Database& connection, SessionId session, const std::string& kind, const std::string& text, double at_s) {
  SQLite::Statement put(connection, "INSERT INTO event(session_id, at_s, kind, text) VALUES(?, ?, ?, ?)");
  put.bind(1, session.value);
  put.bind(2, at_s);
  put.bind(3, kind);
  put.bind(4, text);
  put.exec();
}

Expected<void> Database::put_event(SessionId session, const std::string& kind, const std::string& text) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    db::put_event(c, session, kind, text, unix_now_s());
    return {};
  });
}

Expected<std::vector<EventRow>> Database::events(SessionId session) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<EventRow>> {
    SQLite::Statement q(c, "SELECT id, session_id, at_s, kind, text FROM event WHERE session_id = ? ORDER BY id");
    q.bind(1, session.value);
    std::vector<EventRow> rows;
    while (q.executeStep()) {
      rows.push_back({q.getColumn(0).getInt64(), SessionId{q.getColumn(1).getInt64()}, q.getColumn(2).getDouble(), q.getColumn(3).getString(),
                      q.getColumn(4).getString()});
    }
    return rows;
  });
}

}  // namespace tw::db
