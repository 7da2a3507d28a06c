// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/tape.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::space;
using Id = Tape::Id;

namespace {

constexpr size_t kAtOnce = TapeCode::kPoints;
const double kLnTwo = std::log(2.0), kLnThree = std::log(3.0);

/// The value of each output where all points have these leaves.
std::vector<double> tape_values(const Tape& tape, const std::vector<Id>& outputs, const std::vector<double>& leaves, TapeCode::Kind kind = TapeCode::Kind::smooth) {
  const TapeCode code(tape, outputs);
  std::vector<double> in, values(code.rows() * kAtOnce), out;
  for (const double l : leaves) in.insert(in.end(), kAtOnce, l);
  code.forward(kind, in, values);
  for (size_t k = 0; k < outputs.size(); ++k) out.push_back(values[code.row(k) * kAtOnce + kAtOnce - 1]);
  return out;
}

bool agree(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

}  // namespace

class TapeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneFormEach();
  void whatIsKnownOfNumbers();
  void valuesOfEveryKind();
  void exactlyAsIntegersAre();
  void derivativesOfEveryKind();
  void textOfAFormula();
};

void TapeTest::oneFormEach() {
  Tape t({{10}, {10}}, {});
  const Id a = t.leaf(0), b = t.leaf(1);
  QCOMPARE(t.plus(a, b), t.plus(b, a));
  QCOMPARE(t.minus(t.plus(a, b), b), a);
  QVERIFY(t.is_constant(t.minus(a, a), 0));
  QCOMPARE(t.log(t.exp(t.plus(a, b))), t.plus(a, b));
  QCOMPARE(t.product(t.exp(a), t.exp(b)), t.product(t.exp(b), t.exp(a)));
  QVERIFY(t.is_constant(t.product(t.exp(a), t.constant(0)), 0));
  // 2 a = a + a, and twice a sum is a sum.
  QCOMPARE(t.exp(t.sum({{a}}, kLnTwo)), t.exp(t.sum({{a}}, kLnTwo)));
  const Id sum = t.sum({{t.exp(a)}, {t.exp(b)}});
  QCOMPARE(t.exp(t.sum({{t.log(sum)}}, kLnTwo)), t.sum({{t.exp(a), 2}, {t.exp(b), 2}}));
  // n (m - 1) + n is n m.
  const Id both = t.exp(t.plus(a, b));
  QCOMPARE(t.log(t.sum({{both}, {t.exp(a), -1}, {t.exp(a)}})), t.plus(a, b));
}

void TapeTest::whatIsKnownOfNumbers() {
  // Two lengths of a loop of 12, and a number of its own.
  Tape t({{std::log(12.0), 0}, {std::log(12.0), 0}, {5}}, {std::log(12.0)});
  const Id a = t.leaf(0), b = t.leaf(1), c = t.leaf(2), extent = t.constant(std::log(12.0));
  QCOMPARE(t.least(a, extent), a);
  QCOMPARE(t.least(t.plus(a, b), extent), t.plus(a, b));
  QCOMPARE(t.most(t.minus(extent, t.plus(a, b)), t.constant(0)), t.minus(extent, t.plus(a, b)));
  QCOMPARE(t.log_ceil(t.minus(extent, a)), t.minus(extent, a));
  QCOMPARE(t.log_ceil(t.plus(a, c)), t.plus(a, c));
  QVERIFY(t.log_ceil(t.minus(extent, c)) != t.minus(extent, c));
  QVERIFY(t.log_ceil(t.sum({{a, -1}}, std::log(6.0))) != t.sum({{a, -1}}, std::log(6.0)));  // 12 is divided, not 6
  QVERIFY(t.is_constant(t.log_ceil(t.minus(a, extent)), 0));
  const Id less = t.least(a, c);
  QCOMPARE(t.most(less, a), a);
  QCOMPARE(t.least(less, c), less);
}

void TapeTest::valuesOfEveryKind() {
  Tape t({{10}, {10}}, {});
  const Id a = t.leaf(0), b = t.leaf(1);
  const std::vector<Id> formulas = {t.sum({{a, 3}, {b, -2}}, 0.5), t.product(a, b),     t.least(a, b),     t.most(a, b),     t.exp(a),
                                    t.log(a),                      t.log_next(a),       t.log_ceil(a),     t.above_one(a),   t.above_one(b),
                                    t.zero(t.minus(a, b)),         t.zero(a),           t.either(t.above_one(b), t.zero(b)), t.log(t.sum({{a, -1}}))};
  const double x = 1.3, y = 0.4, u = y / kLnTwo, step = u * u * (3 - 2 * u);
  const std::vector<double> want = {3 * x - 2 * y + 0.5, x * y, y, x, std::exp(x), std::log(x), std::log1p(std::exp(x)), x, 1, step,
                                    0,                   0,     1 - step * (1 - step), std::log(1e-3)};
  const std::vector<double> found = tape_values(t, formulas, {x, y});
  for (size_t k = 0; k < want.size(); ++k) QVERIFY2(agree(found[k], want[k]), qPrintable(QString("%1: %2 instead of %3").arg(k).arg(found[k]).arg(want[k])));
  QVERIFY(agree(tape_values(t, {t.log_next(a)}, {50, 0})[0], 50));
  QVERIFY(agree(tape_values(t, {t.log_ceil(t.minus(a, b))}, {0, 1})[0], 0));
}

/// Steps and rounding as they are where numbers are integers; smooth ones say the same where nothing is rounded.
void TapeTest::exactlyAsIntegersAre() {
  Tape t({{10}, {10}}, {});
  const Id a = t.leaf(0), b = t.leaf(1);
  const std::vector<Id> formulas = {t.exp(t.plus(a, b)), t.above_one(a), t.above_one(b), t.zero(t.minus(a, b)), t.zero(b), t.log_ceil(t.minus(a, b)), t.log_ceil(t.plus(a, b))};
  const double seven = std::log(7.0);
  const std::vector<double> exact = tape_values(t, formulas, {seven, kLnThree}, TapeCode::Kind::exact), smooth = tape_values(t, formulas, {seven, kLnThree});
  QCOMPARE(exact[0], 21.0);
  QVERIFY(agree(exact[5], kLnThree));  // 7/3 is rounded up
  QVERIFY(agree(smooth[5], seven - kLnThree));
  for (const size_t k : {1, 2, 3, 4, 6}) QVERIFY(agree(exact[k], smooth[k]));
  const std::vector<double> ones = tape_values(t, formulas, {0, 0}, TapeCode::Kind::exact);
  QCOMPARE(ones, (std::vector<double>{1, 0, 0, 1, 1, 0, 0}));
}

/// Central differences, away from where slopes change.
void TapeTest::derivativesOfEveryKind() {
  Tape t({{10}, {10}, {10}}, {});
  const Id a = t.leaf(0), b = t.leaf(1), c = t.leaf(2);
  const std::vector<Id> formulas = {t.sum({{a, 3}, {b, -2}}, 0.5),
                                    t.product(t.plus(a, b), t.minus(a, c)),
                                    t.least(t.plus(a, c), b),
                                    t.most(a, t.product(b, c)),
                                    t.exp(t.sum({{a, 0.3}, {c, -1}})),
                                    t.log(t.sum({{t.exp(a)}, {t.exp(b), 2}}, -1)),
                                    t.log_next(t.minus(a, b)),
                                    t.log_ceil(t.minus(a, c)),
                                    t.above_one(b),
                                    t.zero(t.minus(b, c)),
                                    t.zero(t.minus(c, b))};
  const TapeCode code(t, formulas);
  Rng rng(3);
  std::vector<double> leaves(3 * kAtOnce), values(code.rows() * kAtOnce), adjoints(code.rows() * kAtOnce), found(3 * kAtOnce);
  for (size_t p = 0; p < kAtOnce; ++p) leaves[p] = 2 + rng.uniform_real(), leaves[kAtOnce + p] = 0.05 + 0.5 * rng.uniform_real(), leaves[2 * kAtOnce + p] = 0.1 + 0.4 * rng.uniform_real();
  for (size_t k = 0; k < formulas.size(); ++k) {
    code.forward(TapeCode::Kind::smooth, leaves, values);
    std::fill(adjoints.begin(), adjoints.end(), 0.0);
    std::fill_n(adjoints.begin() + static_cast<std::ptrdiff_t>(code.row(k) * kAtOnce), kAtOnce, 1.0);
    code.backward(values, adjoints, found);
    for (size_t l = 0; l < 3; ++l) {
      constexpr double kStep = 1e-5;
      const auto moved = [&](double by) {
        std::vector<double> at = leaves, out(code.rows() * kAtOnce);
        for (size_t p = 0; p < kAtOnce; ++p) at[l * kAtOnce + p] += by;
        code.forward(TapeCode::Kind::smooth, at, out);
        return std::vector<double>(out.begin() + static_cast<std::ptrdiff_t>(code.row(k) * kAtOnce), out.begin() + static_cast<std::ptrdiff_t>((code.row(k) + 1) * kAtOnce));
      };
      const std::vector<double> up = moved(kStep), down = moved(-kStep);
      for (size_t p = 0; p < kAtOnce; ++p) {
        const double want = (up[p] - down[p]) / (2 * kStep);
        QVERIFY2(std::abs(found[l * kAtOnce + p] - want) <= 1e-6 * std::max(1.0, std::abs(want)), qPrintable(QString("formula %1 by %2: %3 instead of %4").arg(k).arg(l).arg(found[l * kAtOnce + p]).arg(want)));
      }
    }
  }
}

void TapeTest::textOfAFormula() {
  Tape t({{10}, {10}}, {});
  const Id a = t.leaf(0), b = t.leaf(1);
  const std::vector<std::string> names = {"c.0", "c.1"};
  QCOMPARE(t.text(t.log_next(t.sum({{a, 2}, {b, -1}}, 3)), names), std::string("ln(1 + exp((2 ln c.0 - ln c.1 + 3)))"));
  const Id truth = t.above_one(a);
  QCOMPARE(t.text(t.product(truth, t.most(a, b)), names), std::string("[ln c.0 > 0] * max(ln c.0, ln c.1)"));
  // A part that is shared is written out each time: twice as often with every step.
  Id shared = a;
  for (int k = 0; k < 200; ++k) shared = t.product(t.log_next(shared), t.exp(shared));
  QCOMPARE(t.text(shared, names, 100).size(), size_t{104});
  QVERIFY(t.text(shared, names, 100).ends_with(" ..."));
}

QTEST_APPLESS_MAIN(TapeTest)
#include "tape_test.moc"
