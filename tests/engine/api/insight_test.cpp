// SPDX-License-Identifier: Apache-2.0
#include "engine/api/insight.h"

#include <QtTest>

#include "engine/te/dag.h"

using namespace tw;

class InsightTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void footprintsOfAPlainProduct() {
    constexpr int64_t kM = 8, kN = 16, kK = 32;
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {kM, kK}, kFloat32), w = b.placeholder("w", {kN, kK}, kFloat32);
    const te::Tensor y =
        b.reduce("y", {kM, kN}, {kK}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); });
    const records::Task task = records::make_task("product", std::move(b).finish({y}), Target{});
    const auto result = api::insight(task, {});
    QVERIFY2(result, result ? "" : result.error().text().c_str());
    QCOMPARE(result->flops, 2.0 * kM * kN * kK);
    QCOMPARE(result->compulsory_bytes, 4.0 * (kM * kK + kN * kK + kM * kN));
    QCOMPARE(result->nest.size(), size_t{3});
    QCOMPARE(result->nest[0].extent, double{kM});
    // A run of the outermost loop touches everything; of the middle one a row of x, all of w and a row of y; of the innermost a row of each and one result.
    QCOMPARE(result->nest[0].bytes, result->compulsory_bytes);
    QCOMPARE(result->nest[1].bytes, 4.0 * (kK + kN * kK + kN));
    QCOMPARE(result->nest[2].bytes, 4.0 * (kK + kK + 1));
    QCOMPARE(result->nest[2].runs, double{kM * kN});
    QCOMPARE(result->vector_lanes, 1.0);
  }

  /// Rows that several taps read are counted once.
  void rowsUnderAWindowAreDistinct() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {58, 16}, kFloat32), w = b.placeholder("w", {3}, kFloat32);
    const te::Tensor y =
        b.reduce("y", {56, 16}, {3}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0] + r[0], s[1]) * w(r[0]); });
    const auto result = api::insight(records::make_task("window", std::move(b).finish({y}), Target{}), {});
    QVERIFY2(result, result ? "" : result.error().text().c_str());
    QCOMPARE(result->nest[0].arrays.at("x"), 4.0 * 58 * 16);
    QCOMPARE(result->nest[0].bytes, result->compulsory_bytes);
  }

  void illegalStepsAreAnError() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4}, kFloat32);
    const te::Tensor y = b.compute("y", {4}, [&](const te::Indices& i) { return x.at(i) + x.at(i); });
    const records::Task task = records::make_task("plain", std::move(b).finish({y}), Target{});
    QVERIFY(!api::insight(task, {schedule::FuseStep{99, {0, 1}}}));
    QCOMPARE(api::insight(task, {})->nest.size(), size_t{1});
  }
};

QTEST_APPLESS_MAIN(InsightTest)
#include "insight_test.moc"
