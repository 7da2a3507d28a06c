// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "tests/engine/frontends/onnx/model_text.h"
// After the definitions that ONNX wants.
#include "engine/frontends/onnx/onnx_ops.h"

/// The manual's list of operators that are not supported, against the importer's tables.
class ManualTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void listed_operators_are_not_there() {
    QFile file(TW_TESTS_DIR "/../resources/docs/manual/onnx.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    const QString section = text.section("## Operators that are not supported", 1).section("\n## ", 0, 0);
    const QRegularExpression row("^\\| `(\\w+)` \\|", QRegularExpression::MultilineOption);
    int listed = 0;
    for (auto i = row.globalMatch(section); i.hasNext(); ++listed) {
      const std::string name = i.next().captured(1).toStdString();
      QVERIFY2(tw::frontends::find_onnx_op("", name) == nullptr, name.c_str());
    }
    QVERIFY(listed > 10);
  }
  void operators_named_as_partly_supported_are_there() {
    QFile file(TW_TESTS_DIR "/../resources/docs/manual/onnx.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString section = QString::fromUtf8(file.readAll()).section("## Operators that are supported in part", 1);
    int listed = 0;
    for (const QString& line : section.split('\n')) {
      if (!line.startsWith("| `")) continue;
      const QRegularExpression name("`(\\w+)`");
      for (auto i = name.globalMatch(line.section('|', 1, 1)); i.hasNext(); ++listed) {
        const std::string op = i.next().captured(1).toStdString();
        QVERIFY2(tw::frontends::find_onnx_op("", op) != nullptr, op.c_str());
      }
    }
    QVERIFY(listed > 10);
  }
};

QTEST_APPLESS_MAIN(ManualTest)
#include "manual_test.moc"
