// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/format.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <cmath>

namespace tw::widgets {
QString dashText() { return QString(QChar(0x2014)); }

QString numberText(double value, int significant) {
  if (!std::isfinite(value)) return dashText();
  if (value == 0) return QStringLiteral("0");
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (magnitude >= 9 || magnitude < -5) return QLocale().toString(value, 'g', significant);
  return QLocale().toString(value, 'f', std::max(0, significant - 1 - magnitude));
}

QString countText(qint64 value) { return QLocale().toString(value); }

TimeUnit timeUnit(double seconds) {
  const double a = std::abs(seconds);
  if (a < 1e-6) return {1e9, QCoreApplication::translate("Format", "ns")};
  if (a < 1e-3) return {1e6, QCoreApplication::translate("Format", "µs")};
  if (a < 1) return {1e3, QCoreApplication::translate("Format", "ms")};
  return {1, QCoreApplication::translate("Format", "s")};
}

QString secondsText(double seconds) {
  if (!std::isfinite(seconds)) return dashText();
  const TimeUnit unit = timeUnit(seconds);
  return QCoreApplication::translate("Format", "%1 %2", "a time and its unit").arg(numberText(seconds * unit.perSecond, 3), unit.name);
}

QString gflopsText(double flops, double seconds) {
  return flops > 0 && seconds > 0 && std::isfinite(seconds) ? numberText(flops / seconds / 1e9, 4) : dashText();
}

QString timeText(double unixSeconds) {
  if (unixSeconds <= 0) return dashText();
  const QDateTime when = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(unixSeconds * 1e3));
  return when.date() == QDate::currentDate() ? when.time().toString(QStringLiteral("HH:mm:ss")) : when.toString(QStringLiteral("yyyy-MM-dd HH:mm"));
}

QString bytesText(double bytes) { return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeTraditionalFormat); }

QString percentText(double fraction) { return std::isfinite(fraction) ? QLocale().toString(100 * fraction, 'f', 1) : dashText(); }

QString shareText(double fraction) {
  if (!std::isfinite(fraction)) return dashText();
  if (fraction > 0 && fraction < 1e-3) return QStringLiteral("<%1 %").arg(QLocale().toString(0.1, 'f', 1));
  return QStringLiteral("%1 %").arg(QLocale().toString(100 * fraction, 'f', fraction < 0.0995 ? 1 : 0));
}

QString durationText(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return dashText();
  const auto total = static_cast<qint64>(std::llround(seconds));
  const QString tail = QStringLiteral("%1:%2").arg(total / 60 % 60, total >= 3600 ? 2 : 1, 10, QLatin1Char('0')).arg(total % 60, 2, 10, QLatin1Char('0'));
  return total >= 3600 ? QString::number(total / 3600) + QLatin1Char(':') + tail : tail;
}

}  // namespace tw::widgets
