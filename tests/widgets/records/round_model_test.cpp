// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/round_model.h"

#include <QAbstractItemModelTester>
#include <QtTest>

using namespace tw;
using namespace tw::widgets;

namespace {

records::Round roundOf(int64_t number, const char* task) {
  records::Round r;
  r.number = number, r.task_key = task, r.planned = 16, r.trials = 10 + number, r.best_s = 0.002, r.network_s = 0.005;
  r.decision = R"({"why": "Its gradient is the least: -3 < -2", "gradients": [-3, -2]})";
  return r;
}

}  // namespace

class RoundModelTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void showsDecisionsNewestFirst() {
    RoundModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const std::map<std::string, QString> tasks = {{"a", QStringLiteral("T1")}, {"b", QStringLiteral("T2")}};
    model.setRounds(SessionId{1}, {roundOf(1, "a"), roundOf(2, "b")}, tasks);
    QCOMPARE(model.rowCount(), 2);
    const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(text(0, RoundModel::Number), QStringLiteral("2"));
    QCOMPARE(text(0, RoundModel::Task), QStringLiteral("T2"));
    QCOMPARE(text(0, RoundModel::Why), QStringLiteral("Its gradient is the least: -3 < -2"));
    QCOMPARE(text(1, RoundModel::Trials), QStringLiteral("11"));
    QCOMPARE(text(1, RoundModel::Network), QStringLiteral("5.00 ms"));
    const QString tip = model.index(0, RoundModel::Why).data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains(QStringLiteral("gradients: [-3,-2]")) && tip.contains(QStringLiteral("-3 &lt; -2")), qPrintable(tip));
    QCOMPARE(model.rowOf(1), 1);
    QCOMPARE(model.rowOf(9), -1);

    QSignalSpy reset(&model, &QAbstractItemModel::modelReset), inserted(&model, &QAbstractItemModel::rowsInserted);
    auto last = roundOf(2, "b");
    last.trials = 16;
    model.setRounds(SessionId{1}, {roundOf(1, "a"), last, roundOf(3, "a")}, tasks);
    QCOMPARE(reset.count(), 0);
    QCOMPARE(inserted.count(), 1);
    QCOMPARE(text(0, RoundModel::Number), QStringLiteral("3"));
    QCOMPARE(text(1, RoundModel::Trials), QStringLiteral("16"));
    model.setRounds(SessionId{2}, {roundOf(1, "c")}, tasks);
    QCOMPARE(reset.count(), 1);
    QCOMPARE(text(0, RoundModel::Task), QStringLiteral("c"));  // of no known task
    model.setRounds(SessionId{2}, {}, tasks);
    QCOMPARE(model.rowCount(), 0);
  }
};

QTEST_MAIN(RoundModelTest)
#include "round_model_test.moc"
