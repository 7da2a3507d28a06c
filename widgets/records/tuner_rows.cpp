// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/tuner_rows.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/records/comparison.h"

namespace tw::widgets {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct TunerTexts {
  Q_DECLARE_TR_FUNCTIONS(TunerRows)
};

/// Trials and seconds of a session up to the first that took at most `seconds`.
std::pair<double, double> reached(const TrialStore& store, double seconds) {
  for (const TrialStore::Best& best : store.improvements())
    if (best.seconds <= seconds) return {static_cast<double>(best.row + 1), store.timestamp(best.row) - store.timestamp(0)};
  return {kNever, kNever};
}

QString countOr(double count) { return std::isfinite(count) ? countText(static_cast<qint64>(std::llround(count))) : dashText(); }

QString durationOr(double seconds) { return std::isfinite(seconds) ? durationText(seconds) : dashText(); }

}  // namespace

std::vector<TunerRow> tunerRows(const std::vector<TunerTrials>& tuners) {
  double known = kNever;
  for (const TunerTrials& t : tuners)
    for (const TrialStorePtr& s : t.sessions)
      if (s && !s->improvements().empty()) known = std::min(known, s->improvements().back().seconds);
  std::vector<TunerRow> rows;
  for (const TunerTrials& t : tuners) {
    TunerRow row;
    row.name = t.name;
    std::vector<double> bests, trials5, seconds5, trials1, seconds1;
    for (const TrialStorePtr& s : t.sessions) {
      if (!s || s->size() == 0) continue;
      ++row.sessions;
      bests.push_back(s->improvements().empty() ? kNever : s->improvements().back().seconds);
      const auto within5 = reached(*s, 1.05 * known), within1 = reached(*s, 1.01 * known);
      trials5.push_back(within5.first), seconds5.push_back(within5.second), trials1.push_back(within1.first), seconds1.push_back(within1.second);
      row.trials += s->size();
      for (const auto& [status, count] : s->failures()) row.failures += count;
      for (int i = 0; i < s->size(); ++i) row.build_s += s->buildSeconds(i), row.run_s += s->runSeconds(i);
    }
    if (row.sessions == 0) continue;
    row.best_s = *std::min_element(bests.begin(), bests.end());
    row.median_s = medianOf(bests);
    row.trialsWithin5 = medianOf(trials5), row.secondsWithin5 = medianOf(seconds5);
    row.trialsWithin1 = medianOf(trials1), row.secondsWithin1 = medianOf(seconds1);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const TunerRow& a, const TunerRow& b) { return a.median_s < b.median_s; });
  return rows;
}

Table tunerTable(const std::vector<TunerRow>& rows) {
  Table table;
  table.columns = {TunerTexts::tr("Tuner"),      TunerTexts::tr("Sessions"),  TunerTexts::tr("Median"),     TunerTexts::tr("Best"),     TunerTexts::tr("Trials to 5 %"),
                   TunerTexts::tr("Time to 5 %"), TunerTexts::tr("Trials to 1 %"), TunerTexts::tr("Time to 1 %"), TunerTexts::tr("Trials"), TunerTexts::tr("Failed"),
                   TunerTexts::tr("Building"),   TunerTexts::tr("Running")};
  for (const TunerRow& r : rows) {
    table.rows.push_back({r.name, QString::number(r.sessions), secondsText(r.median_s), secondsText(r.best_s), countOr(r.trialsWithin5), durationOr(r.secondsWithin5),
                          countOr(r.trialsWithin1), durationOr(r.secondsWithin1), countText(r.trials), TunerTexts::tr("%1 %").arg(percentText(r.trials > 0 ? static_cast<double>(r.failures) / static_cast<double>(r.trials) : 0)),
                          secondsText(r.build_s), secondsText(r.run_s)});
  }
  return table;
}

}  // namespace tw::widgets
