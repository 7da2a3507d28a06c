// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/tuner_rows.h"

#include <QCoreApplication>
#include <cmath>

#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

struct TunerTexts {
  Q_DECLARE_TR_FUNCTIONS(TunerRows)
};

QString countOr(double count) { return std::isfinite(count) ? countText(static_cast<qint64>(std::llround(count))) : dashText(); }

/// A search in a recorded space takes milliseconds.
QString searchTime(double seconds) { return seconds > 0 && seconds < 1 ? secondsText(seconds) : durationText(seconds); }

}  // namespace

db::SessionCurve curveOf(const TrialStorePtr& store) {
  db::SessionCurve curve;
  if (!store) return curve;
  curve.trials = store->size();
  for (const TrialStore::Best& best : store->improvements())
    curve.steps.push_back({static_cast<double>(best.row + 1), store->elapsedSeconds(best.row), best.seconds});
  for (const auto& [status, count] : store->failures()) curve.failures += count;
  for (int i = 0; i < store->size(); ++i) curve.build_s += store->buildSeconds(i), curve.run_s += store->runSeconds(i);
  return curve;
}

Table progressTable(const std::vector<db::GroupProgress>& rows) {
  Table table;
  table.columns = {TunerTexts::tr("Tuner"), TunerTexts::tr("Sessions"), TunerTexts::tr("Median"), TunerTexts::tr("Best")};
  for (const double share : db::kShares) {
    const QString percent = QString::number(std::lround(100 * share));
    table.columns << TunerTexts::tr("Trials to %1 %").arg(percent) << TunerTexts::tr("Time to %1 %").arg(percent);
  }
  table.columns << TunerTexts::tr("Area") << TunerTexts::tr("Trials") << TunerTexts::tr("Failed") << TunerTexts::tr("Building") << TunerTexts::tr("Running");
  for (const db::GroupProgress& r : rows) {
    QStringList cells = {QString::fromStdString(r.name), QString::number(r.sessions), secondsText(r.median_s), secondsText(r.best_s)};
    for (const auto& reached : r.reached) cells << countOr(reached.trials) << searchTime(reached.seconds);
    const double failed = r.trials > 0 ? static_cast<double>(r.failures) / static_cast<double>(r.trials) : 0;
    cells << numberText(r.area, 3) << countText(r.trials) << TunerTexts::tr("%1 %").arg(percentText(failed)) << secondsText(r.build_s) << secondsText(r.run_s);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace tw::widgets
