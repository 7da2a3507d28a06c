// SPDX-License-Identifier: Apache-2.0
#include "engine/api/loop_play.h"

#include <QtTest>

#include "engine/schedule/schedule.h"

using namespace tw;

/// The same schedule on sizes that can be watched.
class LoopPlayApiTest : public QObject {
  Q_OBJECT

  static records::Task matmul(int64_t n, const char* target = "znver4") {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {n, n}, kFloat32), w = b.placeholder("w", {n, n}, kFloat32);
    const te::Tensor y =
        b.reduce("y", {n, n}, {n}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
    return records::make_task("matmul", std::move(b).finish({y}), parse_target(target).value());
  }
  static std::vector<schedule::Step> tiled(const records::Task& task, int64_t rows, int64_t lanes) {
    schedule::Builder b(task.dag);
    const int y = b.stage("y");
    const auto loops = b.loops(y);
    const auto i = b.split(y, loops[0], {rows}), j = b.split(y, loops[1], {lanes});
    b.reorder(y, {i[0], j[0], loops[2], i[1], j[1]});
    b.vectorize(y, j[1]);
    return std::move(b).finish().value().steps();
  }

 private Q_SLOTS:
  void smallTasksArePlayedAsTheyAre() {
    const records::Task task = matmul(64);
    const auto plain = api::play_loops(task, {}).value();
    QCOMPARE(plain.longest, int64_t{0});
    QVERIFY(plain.play->trace().is_whole);
    const auto all = plain.play->sum(plain.play->totals(), -1, -1);
    QCOMPARE(all.loads, int64_t{3} * 64 * 64 * 64);
    QCOMPARE(all.stores, int64_t{64} * 64 * 64 + 64 * 64);
  }
  void largeOnesOnSmallerSizes() {
    const records::Task task = matmul(1024);
    const auto played = api::play_loops(task, tiled(task, 8, 16)).value();
    QCOMPARE(played.longest, int64_t{64});
    QVERIFY(played.play->trace().is_whole);
    QCOMPARE(played.play->trace().arrays[0]->shape, (std::vector<int64_t>{64, 64}));
    QCOMPARE(played.play->sum(played.play->totals(), -1, -1).loads, int64_t{3} * 64 * 64 * 64);
    // Fewer elements, smaller sizes.
    QCOMPARE(api::play_loops(task, tiled(task, 8, 16), {.limit = 1 << 18}).value().longest, int64_t{32});
  }
  void ownSizesEndAtTheLimit() {
    const records::Task task = matmul(1024);
    const auto played = api::play_loops(task, {}, {.limit = 1 << 16, .own_sizes = true}).value();
    QCOMPARE(played.longest, int64_t{0});
    QVERIFY(!played.play->trace().is_whole);
    QVERIFY(!played.not_smaller);
    const int64_t elements = played.play->sum(played.play->totals(), -1, -1).elements();
    QVERIFY2(elements >= 1 << 16 && elements < (1 << 16) + 8, std::to_string(elements).c_str());
  }
  void smallerCachesHitLess() {
    const records::Task task = matmul(64);
    const auto hits = [&](int smaller) {
      const auto p = api::play_loops(task, {}, {.smaller_caches = smaller}).value();
      return p.play->sum(p.play->totals(), -1, -1).hit_share(0);
    };
    QVERIFY2(hits(1) > 0.98 && hits(16) < hits(1), "64x64 matrices and smaller caches");
  }
  void tilesAreUsedAgainWhereThereIsRoom() {
    // Column by column, B is fetched from the second level for each of 64 rows; with 8 rows at a time for each 8.
    const records::Task task = matmul(64);
    const auto second = [&](const std::vector<schedule::Step>& steps) {
      const auto p = api::play_loops(task, steps, {.smaller_caches = 8}).value();
      return p.play->sum(p.play->totals(), -1, 1).held[1];
    };
    const int64_t plain = second({}), blocked = second(tiled(task, 8, 16));
    QVERIFY2(blocked * 4 < plain, (std::to_string(plain) + " against " + std::to_string(blocked)).c_str());
  }
  void whatIsIllegalIsSaid() {
    const records::Task task = matmul(64);
    auto steps = tiled(task, 8, 16);
    steps.push_back(schedule::ComputeInlineStep{99});
    QVERIFY(!api::play_loops(task, steps));
    StopSource stop;
    stop.request_stop();
    QCOMPARE(api::play_loops(task, {}, {}, stop.get_token()).error().code, ErrorCode::cancelled);
  }
};

QTEST_APPLESS_MAIN(LoopPlayApiTest)
#include "loop_play_test.moc"
