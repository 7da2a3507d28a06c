// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QString>

namespace tw::app::fixture {

/// A log of AutoTVM with 120 trials of three tasks, some of them failures.
inline void writeLog(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) qFatal("The log cannot be written");
  for (int i = 0; i < 120; ++i) {
    file.write(QStringLiteral(R"({"i": [["[\"conv2d_%1\", 1, 64, 56, 56]", "llvm -keys=cpu"], [[], [["SP", %2]]]], "r": [[%3], %4, 0.5, %5], "v": "v0.6"})"
                              "\n")
                   .arg(i % 3)
                   .arg(i)
                   .arg(i % 9 == 8 ? 1e10 : 1e-3 / (1 + i * 7 % 50))
                   .arg(i % 9 == 8 ? 6 : 0)
                   .arg(1'600'000'000 + i)
                   .toUtf8());
  }
}

}  // namespace tw::app::fixture
