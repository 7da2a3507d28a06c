// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "db/database_impl.h"
#include "db/trial_codec.h"
#include "engine/base/clock.h"

namespace tw::db {
namespace {

/// The newest trial of a record's point.
std::optional<int64_t> trial_of(SQLite::Database& c, const records::Record& record) {
  SQLite::Statement q(c, fmt::format("SELECT id FROM trial WHERE task_id = (SELECT id FROM task WHERE key = ?) AND space = ? AND config_index = ? AND steps_hash = ? "
                                     "AND {} ORDER BY id DESC LIMIT 1",
                                     whole_trial()));
  q.bind(1, record.task_key);
  bind_point(q, 2, record.candidate);
  if (!q.executeStep()) return std::nullopt;
  return q.getColumn(0).getInt64();
}

Expected<void> put_verdict(SQLite::Database& c, int64_t final_id, const NetworkVerdictRow& v) {
  const auto trial = trial_of(c, v.record);
  if (!trial) return Error(ErrorCode::not_found, fmt::format("Expected a trial of point {} of '{}', found none", v.record.candidate.index, v.record.candidate.space));
  SQLite::Statement put(c, "INSERT INTO network_verdict(final_id, trial_id, taken, standing, ratio, low, high, default_s) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  put.bind(1, final_id);
  put.bind(2, *trial);
  put.bind(3, v.verdict.taken ? 1 : 0);
  put.bind(4, v.standing);
  put.bind(5, v.verdict.ratio);
  put.bind(6, v.verdict.low);
  put.bind(7, v.verdict.high);
  put.bind(8, v.verdict.default_s);
  put.exec();
  return {};
}

}  // namespace

Expected<void> Database::put_network_final(const NetworkFinalRow& row, const std::vector<NetworkVerdictRow>& verdicts) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement put(c,
                          "INSERT INTO network_final(model_id, session_id, target, at_s, default_s, tuned_s, ratio, low, high, default_estimate_s, "
                          "tuned_estimate_s, id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    put.bind(1, row.model.value);
    if (row.session) put.bind(2, row.session->value);
    put.bind(3, row.target);
    put.bind(4, unix_now_s());
    put.bind(5, row.default_s);
    put.bind(6, row.tuned_s);
    put.bind(7, row.ratio);
    put.bind(8, row.low);
    put.bind(9, row.high);
    put.bind(10, row.default_estimate_s);
    put.bind(11, row.tuned_estimate_s);
    const int64_t id = impl_->fresh_id("network_final");
    put.bind(12, id);
    put.exec();
    for (const NetworkVerdictRow& v : verdicts) TW_CHECK(put_verdict(c, id, v));
    return {};
  });
}

Expected<std::vector<NetworkFinalRow>> Database::network_finals(ModelId model) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<NetworkFinalRow>> {
    SQLite::Statement q(c,
                        "SELECT id, session_id, target, at_s, default_s, tuned_s, ratio, low, high, default_estimate_s, tuned_estimate_s, "
                        "(SELECT count(*) FROM network_verdict WHERE final_id = network_final.id), "
                        "(SELECT coalesce(sum(taken), 0) FROM network_verdict WHERE final_id = network_final.id) FROM network_final WHERE model_id = ? ORDER BY id");
    q.bind(1, model.value);
    std::vector<NetworkFinalRow> rows;
    while (q.executeStep()) {
      NetworkFinalRow row;
      row.model = model;
      if (!q.getColumn(1).isNull()) row.session = SessionId{q.getColumn(1).getInt64()};
      row.target = q.getColumn(2).getString();
      row.at_s = q.getColumn(3).getDouble();
      row.default_s = q.getColumn(4).getDouble();
      row.tuned_s = q.getColumn(5).getDouble();
      row.ratio = q.getColumn(6).getDouble();
      row.low = q.getColumn(7).getDouble();
      row.high = q.getColumn(8).getDouble();
      row.default_estimate_s = q.getColumn(9).getDouble();
      row.tuned_estimate_s = q.getColumn(10).getDouble();
      row.tried = q.getColumn(11).getInt();
      row.taken = q.getColumn(12).getInt();
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

Expected<std::optional<records::InNetwork>> Database::in_network(const std::string& network, const records::Record& record) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::optional<records::InNetwork>> {
    SQLite::Statement q(c, fmt::format(
                               "SELECT v.taken, v.ratio, v.low, v.high, v.default_s FROM trial t JOIN network_verdict v ON v.trial_id = t.id "
                               "JOIN network_final f ON f.id = v.final_id WHERE t.task_id = (SELECT id FROM task WHERE key = ?) AND t.space = ? AND t.config_index = ? "
                               "AND t.steps_hash = ? AND f.model_id = (SELECT id FROM model WHERE content_key = ?) AND {} ORDER BY f.id DESC LIMIT 1",
                               whole_trial("t")));
    q.bind(1, record.task_key);
    bind_point(q, 2, record.candidate);
    q.bind(5, network);
    if (!q.executeStep()) return std::optional<records::InNetwork>();
    return std::optional(records::InNetwork{q.getColumn(0).getInt() != 0, q.getColumn(1).getDouble(), q.getColumn(2).getDouble(), q.getColumn(3).getDouble(),
                                            q.getColumn(4).getDouble()});
  });
}

}  // namespace tw::db
