// SPDX-License-Identifier: Apache-2.0
#include "db/database_impl.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"

namespace tw::db {

Expected<ModelId> Database::put_model(const std::string& name, const std::string& path, const std::string& content_key, const Json& summary) {
  return impl_->write([&](SQLite::Database& c) -> Expected<ModelId> {
    SQLite::Statement put(
        c,
        "INSERT INTO model(content_key, name, path, summary_json, imported_s) VALUES(?, ?, ?, ?, ?) "
        "ON CONFLICT(content_key) DO UPDATE SET path = excluded.path, summary_json = excluded.summary_json RETURNING id");
    put.bind(1, content_key);
    put.bind(2, name);
    put.bind(3, path);
    put.bind(4, dump_json(summary));
    put.bind(5, unix_now_s());
    put.executeStep();
    const ModelId id{put.getColumn(0).getInt64()};
    put.reset();
    return id;
  });
}

Expected<void> Database::link_task(ModelId model, TaskId task, int weight, records::Weights weights) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement put(c, "INSERT INTO model_task(model_id, task_id, weight, weights) VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight, weights = excluded.weights");
    put.bind(1, model.value);
    put.bind(2, task.value);
    put.bind(3, weight);
    put.bind(4, records::weights_name(weights));
    put.exec();
    return {};
  });
}

Expected<std::vector<ModelRow>> Database::models() {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<ModelRow>> {
    SQLite::Statement q(c, "SELECT id, name, path, content_key, summary_json, imported_s FROM model ORDER BY id");
    std::vector<ModelRow> rows;
    while (q.executeStep()) {
      const ModelId id{q.getColumn(0).getInt64()};
      auto summary = parse_json(q.getColumn(4).getString());
      if (!summary) {
        impl_->damage.add({"model", id.value});
        continue;
      }
      rows.push_back({id, q.getColumn(1).getString(), q.getColumn(2).getString(), q.getColumn(3).getString(), *std::move(summary), q.getColumn(5).getDouble()});
    }
    return rows;
  });
}

}  // namespace tw::db
