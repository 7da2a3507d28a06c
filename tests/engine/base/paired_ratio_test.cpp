// SPDX-License-Identifier: Apache-2.0
#include "engine/base/paired_ratio.h"

#include <QtTest>
#include <cmath>

using namespace tw;

namespace {

QByteArray shown(const PairedRatio& r) { return QByteArray::number(r.ratio) + " from " + QByteArray::number(r.low) + " to " + QByteArray::number(r.high); }

/// Processes in which b takes `ratio` times as long as a, each with an advantage of its own for one of them by chance, and noise in every round.
std::vector<PairedRounds> processes(Rng& rng, int count, int rounds, double ratio, double between, double within) {
  std::vector<PairedRounds> out(static_cast<size_t>(count));
  for (PairedRounds& p : out) {
    const double own = 1 + between * rng.normal();
    p.a.emplace_back(), p.b.emplace_back();
    for (int i = 0; i < rounds; ++i) {
      const double regime = 1 + 0.2 * rng.uniform_real();
      p.a[0].push_back(regime * (1 + within * std::abs(rng.normal())));
      p.b[0].push_back(regime * ratio * own * (1 + within * std::abs(rng.normal())));
    }
  }
  return out;
}

}  // namespace

class PairedRatioTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// A thousand resamples, each of as many rounds as there are: what is drawn in all.
  void draws_a_thousand_samples() {
    const std::vector<double> a{1, 1.1, 0.9, 1.05, 1}, b{1.2, 1.1, 1, 1.15, 1.05};
    Rng used(7), counted(7);
    paired_ratio(a, b, used);
    for (int k = 0; k < 1000 * 5; ++k) counted.uniform(5);
    QCOMPARE(used.next(), counted.next());
  }

  void ratios_of_pairs_ignore_a_common_drift() {
    std::vector<double> a, b;
    Rng rng(1);
    for (int i = 0; i < 45; ++i) {
      const double regime = i < 20 ? 1 : 1.4;
      a.push_back(regime * (1 + 0.01 * rng.normal()));
      b.push_back(0.97 * regime * (1 + 0.01 * rng.normal()));
    }
    b[3] *= 9;  // one disturbed sample
    const PairedRatio r = paired_ratio(a, b, rng);
    QVERIFY(r.low < 0.97 && 0.97 < r.high);
    QVERIFY(r.high < 0.99);
    QVERIFY(r.low <= r.ratio && r.ratio <= r.high);
  }
  void bursts_of_disturbed_samples_do_not_decide() {
    std::vector<double> a, b;
    Rng rng(3);
    for (int i = 0; i < 45; ++i) {
      a.push_back((1 + 0.01 * rng.normal()) * (i % 2 == 0 ? 300 : 1));
      b.push_back(0.97 * (1 + 0.01 * rng.normal()));
    }
    const PairedRatio r = paired_ratio(a, b, rng);
    QVERIFY2(r.low > 0.9 && r.high < 1.0, qPrintable(QString("%1 %2").arg(r.low).arg(r.high)));
  }
  void equal_kernels_are_a_tie() {
    int surely_faster = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      std::vector<double> a, b;
      for (int i = 0; i < 45; ++i) a.push_back(1 + 0.03 * std::abs(rng.normal())), b.push_back(1 + 0.03 * std::abs(rng.normal()));
      if (paired_ratio(a, b, rng).high < 0.99) ++surely_faster;
    }
    QVERIFY2(surely_faster <= 10, qPrintable(QString::number(surely_faster)));
  }
  void parts_add_up_and_a_disturbed_part_leaves_the_others() {
    // In every round another part is disturbed: no round is clean, but every part is in most of its rounds.
    PairedRounds p;
    for (int part = 0; part < 8; ++part) {
      p.a.emplace_back(), p.b.emplace_back();
      for (int round = 0; round < 8; ++round) {
        p.a.back().push_back(round == part ? 50 : 1);
        p.b.back().push_back(round == (part + 3) % 8 ? 90 : 0.9);
      }
    }
    QCOMPARE(parts_time(p.a), 8.0);
    QVERIFY(std::abs(parts_time(p.b) - 7.2) < 1e-12);
    Rng rng(1);
    const PairedRatio r = paired_ratio(std::span(&p, 1), rng);
    QVERIFY2(std::abs(r.ratio - 0.9) < 1e-12 && r.surely_faster() && r.high < 0.95, shown(r));
  }
  void programs_may_have_different_numbers_of_parts() {
    const PairedRounds p{{{2, 2, 2, 2}}, {{1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5}}};
    Rng rng(1);
    const PairedRatio r = paired_ratio(std::span(&p, 1), rng);
    QCOMPARE(r.ratio, 0.75);
    QVERIFY(r.low == 0.75 && r.high == 0.75);
  }
  void a_gain_of_three_percent_shows_over_processes() {
    int found = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Rng rng(seed);
      found += paired_ratio(processes(rng, 9, 8, 0.97, 0.005, 0.02), rng).surely_faster();
    }
    QVERIFY2(found >= 47, QByteArray::number(found));
  }
  void luck_of_processes_is_no_gain() {
    // Their rounds hardly differ, the processes do: pairs thrown together would be sure of anything.
    int sure = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      sure += paired_ratio(processes(rng, 9, 8, 1, 0.02, 0.001), rng).surely_faster();
    }
    QVERIFY2(sure <= 14, QByteArray::number(sure));
  }
  void noise_only_widens_the_interval() {
    double width[2] = {};
    for (uint64_t seed = 0; seed < 20; ++seed) {
      for (const bool noisy : {false, true}) {
        Rng rng(seed);
        const PairedRatio r = paired_ratio(processes(rng, 9, 8, 0.97, 0.005, noisy ? 0.2 : 0.01), rng);
        QVERIFY2(r.low < 0.985 && r.high > 0.955, shown(r));
        width[noisy] += r.high - r.low;
      }
    }
    QVERIFY(width[1] > 2 * width[0]);
  }
  void medians() {
    QCOMPARE(median_of({3, 1, 2}), 2.0);
    QCOMPARE(median_of({4, 1, 2, 3}), 2.5);
    QCOMPARE(median_of({7}), 7.0);
    QCOMPARE(lower_quartile_of({8, 1, 7, 2, 6, 3, 5, 4}), 3.0);
    QCOMPARE(lower_quartile_of({2, 1}), 1.0);
    QCOMPARE(lower_quartile_of({7}), 7.0);
  }
};

QTEST_APPLESS_MAIN(PairedRatioTest)
#include "paired_ratio_test.moc"
