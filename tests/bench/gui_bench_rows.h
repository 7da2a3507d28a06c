// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QTextStream>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

/// What a benchmark of the window prints, a row for each target, and the clock that it asks.
namespace tw::app {

inline QTextStream& out() {
  static QTextStream stream(stdout);
  return stream;
}

/// Targets that were missed so far.
inline int g_missed = 0;

inline void row(const QString& what, const QString& target, const QString& measured, bool met) {
  g_missed += met ? 0 : 1;
  out() << QStringLiteral("%1 %2 %3 %4\n").arg(what, -62).arg(target, -16).arg(measured, -22).arg(met ? QStringLiteral("met") : QStringLiteral("MISSED"));
  out().flush();
}

inline void atMost(const QString& what, double target, double measured, const QString& unit) {
  row(what, QStringLiteral("<= %1 %2").arg(target).arg(unit), QStringLiteral("%1 %2").arg(measured, 0, 'g', 3).arg(unit), measured <= target);
}

/// Processor time of this thread, in seconds.
inline double threadSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The median of so many runs of `f`, by the processor time of this thread.
template <class F>
double medianOf(int runs, F&& f) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double begin = threadSeconds();
    f();
    times.push_back(threadSeconds() - begin);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace tw::app
