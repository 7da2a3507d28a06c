// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVariant>

namespace tw::widgets {

/// An em dash: there is no value.
QString dashText();
/// Numbers for people, in the locale of the interface, three to four significant digits. Infinite and not-a-number values are an em dash.
QString numberText(double value, int significant = 4);
/// Whole numbers with group separators.
QString countText(qint64 value);
/// The unit that suits a duration.
struct TimeUnit {
  double perSecond = 1;
  QString name;  ///< s, ms, µs or ns
};
TimeUnit timeUnit(double seconds);
/// A duration with the unit that suits it: `1.24 ms`.
QString secondsText(double seconds);
/// A rate in GFLOP/s without the unit.
QString gflopsText(double flops, double seconds);
/// `12:04:05` of a Unix time today, with the date for other days.
QString timeText(double unixSeconds);
/// A size in KB, MB and so on, of 1024 each.
QString bytesText(double bytes);
/// A percentage without the sign.
QString percentText(double fraction);
/// A part of something with two digits and the sign: `43 %`, `4.2 %`; what is less than a thousandth is `<0.1 %`.
QString shareText(double fraction);
/// `2:05` or `1:02:05`.
QString durationText(double seconds);

}  // namespace tw::widgets
