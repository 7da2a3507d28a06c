// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/frontends/frontend.h"
#include "engine/graph/expression.h"

using namespace tw;

/// Files that hold a computation of one's own.
class ReadExpressionTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::string write(const char* name, const std::string& text) {
    const QString path = m_folder.filePath(name);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
    file.write(text.data(), static_cast<qint64>(text.size()));
    return path.toStdString();
  }

 private Q_SLOTS:
  void a_file_is_a_graph_of_one_node() {
    const std::string text = "A: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    exp(A[i])\noutputs(B)\nschedule\nvectorize(B.i)\n";
    const std::string path = write("my op.te", text);
    const auto g = frontends::read_model(path);
    QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
    QCOMPARE(g->name, std::string("my_op"));
    QCOMPARE(*graph::text_of(*g), text);
    QVERIFY(frontends::open_sizes(path)->empty());
  }
  void mistakes_are_said_with_file_and_place() {
    const std::string path = write("bad.te", "A: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    C[i]\noutputs(B)\n");
    const auto g = frontends::read_model(path);
    QVERIFY(!g);
    QCOMPARE(g.error().message, std::string("Unknown buffer 'C'"));
    QCOMPARE(g.error().where, path + ", line 3, column 5");
    QVERIFY(!frontends::read_model(write("long.te", std::string(100000, '#'))));
    QVERIFY(!frontends::read_model(m_folder.filePath("none.te").toStdString()));
  }
};

QTEST_GUILESS_MAIN(ReadExpressionTest)
#include "read_expression_test.moc"
