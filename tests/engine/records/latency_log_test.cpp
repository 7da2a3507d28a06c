// SPDX-License-Identifier: Apache-2.0
#include "engine/records/latency_log.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::records;

namespace {

Round round(double elapsed_s, double network_s, int64_t trials) {
  Round r;
  r.elapsed_s = elapsed_s;
  r.network_s = network_s;
  r.session_trials = trials;
  return r;
}

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class LatencyLogTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void lines_are_those_of_total_latency_tsv() {
    QCOMPARE(total_latency_line(round(36.4, INFINITY, 10)), std::string("ElapsedTime(s)\t36\tEstimatedLatency(ms)\tN/A\tTrials\t10"));
    QCOMPARE(total_latency_line(round(36.6, 1.5921e-3, 20)), std::string("ElapsedTime(s)\t37\tEstimatedLatency(ms)\t1.592\tTrials\t20"));
  }
  void a_log_begins_anew_with_what_was_before() {
    QTemporaryDir dir;
    const QString path = dir.filePath("t.tsv");
    QVERIFY(latency_log_sink(path.toStdString(), {round(1, 2e-3, 5)}));
    const auto sink = latency_log_sink(path.toStdString(), {round(1, 1e-3, 5)});
    QVERIFY(sink);
    QVERIFY((*sink)->store(Task{}, {}, round(2, 5e-4, 7)));
    QCOMPARE(content(path), QByteArray("ElapsedTime(s)\t1\tEstimatedLatency(ms)\t1.000\tTrials\t5\nElapsedTime(s)\t2\tEstimatedLatency(ms)\t0.500\tTrials\t7\n"));
  }
  void other_files_stay() {
    QTemporaryDir dir;
    const QString path = dir.filePath("mine.txt");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("mine");
    file.close();
    const auto sink = latency_log_sink(path.toStdString(), {});
    QVERIFY(!sink);
    QVERIFY(sink.error().text().find("mine.txt") != std::string::npos);
    QCOMPARE(content(path), QByteArray("mine"));
  }
};

QTEST_APPLESS_MAIN(LatencyLogTest)
#include "latency_log_test.moc"
