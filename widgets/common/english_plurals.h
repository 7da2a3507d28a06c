// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTranslator>

namespace tw::widgets {

/// Counted texts of the sources, such as `%n task(s)`, as English: `1 task`, `3 tasks`. Translations that are installed later come first.
class EnglishPlurals : public QTranslator {
 public:
  using QTranslator::QTranslator;
  bool isEmpty() const override { return false; }
  QString translate(const char*, const char* source, const char*, int n) const override {
    if (n < 0) return {};  // nothing is counted
    return QString::fromUtf8(source).replace(QLatin1String("(s)"), n == 1 ? QString() : QStringLiteral("s"));
  }
};

}  // namespace tw::widgets
