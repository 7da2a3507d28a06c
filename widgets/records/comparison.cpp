// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/comparison.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/json.h"
#include "engine/records/session_store.h"
#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

struct ComparisonTexts {
  Q_DECLARE_TR_FUNCTIONS(Comparison)
};

/// `a.b` for nested keys.
void flatten(const Json& json, const QString& prefix, std::map<QString, QString>& out) {
  if (!json.is_object()) {
    out[prefix] = json.is_string() ? QString::fromStdString(json.get<std::string>()) : QString::fromStdString(dump_json(json));
    return;
  }
  for (const auto& item : json.items())
    flatten(item.value(), prefix.isEmpty() ? QString::fromStdString(item.key()) : prefix + QLatin1Char('.') + QString::fromStdString(item.key()), out);
}

}  // namespace

std::vector<SideBySideRow> bestTimes(const std::vector<db::ComparedSession>& sessions, const std::vector<db::ComparedTask>& tasks) {
  std::vector<SideBySideRow> rows;
  for (const db::ComparedTask& task : tasks) {
    SideBySideRow row{QString::fromStdString(task.name), {}, -1};
    double least = HUGE_VAL;
    bool tried = false;
    for (size_t i = 0; i < sessions.size(); ++i) {
      const auto at = sessions[i].best.find(task.id);
      const double seconds = at == sessions[i].best.end() ? HUGE_VAL : at->second;
      tried = tried || at != sessions[i].best.end();
      if (seconds < least) least = seconds, row.best = static_cast<int>(i);
      row.values << (std::isfinite(seconds) ? secondsText(seconds) : dashText());
    }
    if (tried) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SideBySideRow> configurations(const std::vector<db::ComparedSession>& sessions) {
  std::vector<std::map<QString, QString>> all;
  std::map<QString, bool> keys;
  for (const db::ComparedSession& s : sessions) {
    std::map<QString, QString> own;
    flatten(s.row.options, {}, own);
    Json host = s.row.host;
    if (host.is_object()) host.erase(records::kExtractTime);  // of its work, not of the machine
    flatten(host, ComparisonTexts::tr("host"), own);
    own[ComparisonTexts::tr("tuner")] = QString::fromStdString(s.row.tuner);
    own[ComparisonTexts::tr("target")] = QString::fromStdString(s.row.target);
    own[ComparisonTexts::tr("version")] = QString::fromStdString(s.row.code_version);
    own[ComparisonTexts::tr("trials made")] = countText(s.row.trials);
    for (const auto& [key, value] : own) keys[key];
    all.push_back(std::move(own));
  }
  std::vector<SideBySideRow> rows;
  for (const auto& [key, unused] : keys) {
    SideBySideRow row{key, {}, -1};
    for (const auto& own : all) row.values << (own.contains(key) ? own.at(key) : dashText());
    rows.push_back(std::move(row));
  }
  std::stable_partition(rows.begin(), rows.end(), [](const SideBySideRow& row) {
    return std::any_of(row.values.begin(), row.values.end(), [&](const QString& v) { return v != row.values[0]; });
  });
  return rows;
}

}  // namespace tw::widgets
