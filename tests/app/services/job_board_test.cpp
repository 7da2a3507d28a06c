// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/job_board.h"

#include <QAbstractItemModelTester>
#include <QtTest>
#include <random>

using namespace tw::app;

class JobBoardTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void runningJobsComeFirst() {
    JobBoard board;
    QAbstractItemModelTester tester(&board, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const int a = board.begin(QStringLiteral("a"), {}), b = board.begin(QStringLiteral("b"), {});
    QCOMPARE(board.running(), 2);
    board.setProgress(a, 5, 10);
    board.end(b, JobBoard::Outcome::done, QStringLiteral("all well"));
    QCOMPARE(board.running(), 1);
    QCOMPARE(board.index(0, JobBoard::Title).data().toString(), QStringLiteral("a"));
    QCOMPARE(board.index(0, 0).data(JobBoard::ProgressRole).toDouble(), 0.5);
    QCOMPARE(board.index(1, JobBoard::State).data().toString(), QStringLiteral("all well"));
    board.end(b, JobBoard::Outcome::failed);  // it has ended already
    QCOMPARE(board.index(1, JobBoard::State).data().toString(), QStringLiteral("all well"));
  }

  void cancellingAsksOnce() {
    JobBoard board;
    int asked = 0;
    const int job = board.begin(QStringLiteral("a"), [&] { ++asked; });
    board.begin(QStringLiteral("no way to stop"), {});
    QVERIFY(!board.canCancel(0));
    QVERIFY(board.canCancel(1));
    board.cancel(1);
    board.cancel(1);
    board.cancel(99);
    QCOMPARE(asked, 1);
    board.setProgress(job, 1, 2, QStringLiteral("measuring"));
    QVERIFY(board.index(1, JobBoard::State).data().toString().startsWith(QStringLiteral("stopping")));
  }

  void endedJobsAreForgottenInTheEnd() {
    JobBoard board;
    QAbstractItemModelTester tester(&board, QAbstractItemModelTester::FailureReportingMode::QtTest);
    std::mt19937 rng(1);
    std::vector<int> open;
    for (int i = 0; i < 200; ++i) {
      open.push_back(board.begin(QString::number(i), {}));
      if (rng() % 3 != 0) {
        const size_t at = rng() % open.size();
        board.end(open[at], JobBoard::Outcome::done);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    QCOMPARE(board.running(), static_cast<int>(open.size()));
    QCOMPARE(board.rowCount(), static_cast<int>(open.size()) + JobBoard::kEnded);
  }
};

QTEST_MAIN(JobBoardTest)
#include "job_board_test.moc"
