// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/matmul.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::learner;

class MatmulTest : public QObject {
  Q_OBJECT

  static std::vector<float> numbers(size_t count, uint64_t seed) {
    Rng rng(seed);
    std::vector<float> out(count);
    for (float& x : out) x = static_cast<float>(rng.uniform_real() * 2 - 1);
    return out;
  }

 private Q_SLOTS:
  void itsElementsAreSumsOfProducts_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (const auto& [m, n, k] : {std::tuple(1, 1, 1), {5, 7, 3}, {8, 32, 64}, {13, 33, 257}, {3, 70, 600}, {64, 16, 2}, {4, 4, 0}}) QTest::addRow("%d %d %d", m, n, k) << m << n << k;
  }
  /// As they lie and transposed, alone and added; nothing beside the result is touched.
  void itsElementsAreSumsOfProducts() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    const auto M = static_cast<size_t>(m), N = static_cast<size_t>(n), K = static_cast<size_t>(k);
    const size_t stride = N + 3;
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        for (const bool add : {false, true}) {
          const std::vector<float> a = numbers(M * K, 1), b = numbers(K * N, 2), before = numbers(M * stride, 3);
          std::vector<float> c = before;
          matmul(M, N, K, {a.data(), left ? M : K, left}, {b.data(), right ? K : N, right}, c.data(), stride, add);
          for (size_t i = 0; i < M; ++i) {
            for (size_t j = 0; j < N; ++j) {
              double sum = add ? before[i * stride + j] : 0;
              for (size_t p = 0; p < K; ++p) sum += static_cast<double>(left ? a[p * M + i] : a[i * K + p]) * (right ? b[j * K + p] : b[p * N + j]);
              QVERIFY2(std::abs(sum - c[i * stride + j]) < 1e-4, qPrintable(QStringLiteral("%1 %2: %3 and %4").arg(i).arg(j).arg(sum).arg(c[i * stride + j])));
            }
            for (size_t j = N; j < stride; ++j) QCOMPARE(c[i * stride + j], before[i * stride + j]);
          }
        }
  }

  void whatIsDoneToSums_data() { itsElementsAreSumsOfProducts_data(); }
  /// A bias and a least number, once, however many parts a sum has; zeros on the left, those of a row, of a column and others, change nothing.
  void whatIsDoneToSums() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    const auto M = static_cast<size_t>(m), N = static_cast<size_t>(n), K = static_cast<size_t>(k);
    std::vector<float> a = numbers(M * K, 1);
    for (size_t i = 0; i < M; ++i)
      for (size_t p = 0; p < K; ++p)
        if (i == 1 || p % 3 == 1 || a[i * K + p] < -0.5F) a[i * K + p] = 0;
    const std::vector<float> b = numbers(K * N, 2), bias = numbers(N, 4), before = numbers(M * (N + 3), 3);
    const PackedMatrix packed(K, N, {b.data(), N});
    for (const bool biased : {false, true})
      for (const float least : {-std::numeric_limits<float>::infinity(), 0.25F}) {
        std::vector<float> c = before;
        packed.multiply(M, {a.data(), K}, c.data(), N + 3, {biased ? bias.data() : nullptr, least});
        for (size_t i = 0; i < M; ++i) {
          for (size_t j = 0; j < N; ++j) {
            double sum = biased ? bias[j] : 0;
            for (size_t p = 0; p < K; ++p) sum += static_cast<double>(a[i * K + p]) * b[p * N + j];
            sum = std::max<double>(sum, least);
            QVERIFY2(std::abs(sum - c[i * (N + 3) + j]) < 1e-4, qPrintable(QStringLiteral("%1 %2: %3 and %4").arg(i).arg(j).arg(sum).arg(c[i * (N + 3) + j])));
          }
          for (size_t j = N; j < N + 3; ++j) QCOMPARE(c[i * (N + 3) + j], before[i * (N + 3) + j]);
        }
      }
  }
  /// What is no number stays one.
  void noNumbers() {
    const std::vector<float> a(4, std::numeric_limits<float>::quiet_NaN()), b(4, 1);
    float c[1];
    PackedMatrix(4, 1, {b.data(), 1}).multiply(1, {a.data(), 4}, c, 1, {nullptr, 0});
    QVERIFY(std::isnan(c[0]));
  }
};

QTEST_APPLESS_MAIN(MatmulTest)
#include "matmul_test.moc"
