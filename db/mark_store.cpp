// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "db/database_impl.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"

namespace tw::db {

Expected<void> Database::put_mark(const MarkRow& mark) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    if (mark.note.empty() && mark.tags.empty()) {
      SQLite::Statement remove(c, "DELETE FROM mark WHERE noun = ?");
      remove.bind(1, mark.noun);
      remove.exec();
      return {};
    }
    SQLite::Statement put(c,
                          "INSERT INTO mark(noun, note, tags_json, changed_s) VALUES(?, ?, ?, ?) "
                          "ON CONFLICT(noun) DO UPDATE SET note = excluded.note, tags_json = excluded.tags_json, changed_s = excluded.changed_s");
    put.bind(1, mark.noun);
    put.bind(2, mark.note);
    put.bind(3, dump_json(Json(mark.tags)));
    put.bind(4, unix_now_s());
    put.exec();
    return {};
  });
}

Expected<std::vector<MarkRow>> Database::marks() {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<MarkRow>> {
    SQLite::Statement q(c, "SELECT noun, note, tags_json, changed_s FROM mark ORDER BY noun");
    std::vector<MarkRow> rows;
    while (q.executeStep()) {
      MarkRow row{q.getColumn(0).getString(), q.getColumn(1).getString(), {}, q.getColumn(3).getDouble()};
      const auto tags = parse_json(q.getColumn(2).getString());
      if (!tags || !tags->is_array() || std::any_of(tags->begin(), tags->end(), [](const Json& tag) { return !tag.is_string(); })) {
        impl_->damage.add({"mark", 0, row.noun});
        continue;
      }
      for (const Json& tag : *tags) row.tags.push_back(tag.get<std::string>());
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

}  // namespace tw::db
