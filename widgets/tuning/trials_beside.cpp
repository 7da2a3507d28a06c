// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trials_beside.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {

struct BesideTexts {
  Q_DECLARE_TR_FUNCTIONS(TrialsBeside)
};

/// Standard deviation of the counted samples over their mean; not a number for fewer than two.
double variation(const std::vector<double>& samples) {
  if (samples.size() < 2) return std::nan("");
  double mean = 0, squares = 0;
  for (const double s : samples) mean += s / static_cast<double>(samples.size());
  for (const double s : samples) squares += (s - mean) * (s - mean);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
}

}  // namespace

std::vector<SideBySideRow> trialsBeside(const std::vector<TrialBeside>& entries, const SpaceMap& spaces) {
  std::vector<SideBySideRow> rows;
  int best = -1;
  double fastest = HUGE_VAL;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].record.result.seconds() < fastest) fastest = entries[i].record.result.seconds(), best = static_cast<int>(i);
  }
  const auto each = [&](const QString& name, auto value, int mark = -1) {
    QStringList values;
    for (const TrialBeside& e : entries) values << value(e);
    rows.push_back({name, std::move(values), mark});
  };
  if (!entries.empty()) {
    each(BesideTexts::tr("Result"),
         [](const TrialBeside& e) { return statusGlyph(e.record.result.status) + QLatin1Char(' ') + statusText(e.record.result.status); });
    each(
        BesideTexts::tr("Time, fastest sample"), [](const TrialBeside& e) { return secondsText(e.record.result.seconds()); }, best);
    each(BesideTexts::tr("Time, median"), [](const TrialBeside& e) { return secondsText(e.record.result.median_s()); });
    each(
        BesideTexts::tr("Speed [GFLOP/s]"), [](const TrialBeside& e) { return gflopsText(e.flops, e.record.result.seconds()); }, best);
    each(BesideTexts::tr("Samples"), [](const TrialBeside& e) { return countText(static_cast<qint64>(e.record.result.samples_s.size())); });
    each(BesideTexts::tr("Spread of samples [%]"), [](const TrialBeside& e) { return percentText(variation(e.record.result.counted_samples())); });
    each(BesideTexts::tr("Compared with the reference"),
         [](const TrialBeside& e) { return e.record.result.verified ? BesideTexts::tr("yes") : BesideTexts::tr("no"); });
    each(BesideTexts::tr("Build"), [](const TrialBeside& e) { return secondsText(e.record.result.build_s); });
    each(BesideTexts::tr("Space"), [](const TrialBeside& e) { return QString::fromStdString(e.record.candidate.space); });
    each(BesideTexts::tr("Config"), [](const TrialBeside& e) { return e.record.candidate.index < 0 ? dashText() : countText(e.record.candidate.index); });
  }
  std::vector<std::vector<std::pair<QString, QString>>> knobs;
  QStringList names;
  for (const TrialBeside& e : entries) {
    knobs.push_back(knobsOf(e.record.candidate, spaces));
    for (const auto& [name, value] : knobs.back()) {
      if (!names.contains(name)) names << name;
    }
  }
  for (const QString& name : names) {
    QStringList values;
    for (const auto& own : knobs) {
      const auto at = std::find_if(own.begin(), own.end(), [&](const auto& k) { return k.first == name; });
      values << (at == own.end() ? dashText() : at->second);
    }
    rows.push_back({name, std::move(values), -1});
  }
  return rows;
}

}  // namespace tw::widgets
