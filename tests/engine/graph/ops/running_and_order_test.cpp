// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/rng.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/op.h"

using namespace tw;

/// Operators that are computed in blocks of an axis, for extents that fill their blocks and such that do not, against the standard library's algorithms.
class RunningAndOrderTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;

  static HostArray computed(const char* op, const HostArray& x, std::map<std::string, graph::AttrValue> attrs) {
    graph::GraphBuilder b("g");
    b.output((*b.node(op, {b.input("x", {x.dtype, x.shape})}, graph::Attrs{std::move(attrs)}))[0]);
    return graph::evaluate(std::move(b).finish(), {{"x", x}}).value()[0];
  }
  /// Calls `line` with the places of each line along `axis`, in an array of that shape.
  template <class F>
  static void each_line(const Dims& shape, size_t axis, const F& line) {
    int64_t inner = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    const int64_t outer = std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis), int64_t{1}, std::multiplies<>());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) line(o, i, inner);
  }

  /// Equal values stay in the order of their positions.
  static void check_order(const HostArray& x, size_t axis, int64_t k, bool largest, bool sorted) {
    const Dims& dims = x.shape;
    const HostArray found = computed("top_k_indices", x, {{"axis", static_cast<int64_t>(axis)}, {"k", k}, {"largest", int64_t{largest}}, {"sorted", int64_t{sorted}}});
    Dims wanted = dims;
    wanted[axis] = k;
    QCOMPARE(found.shape, wanted);
    QCOMPARE(found.dtype, kInt64);
    each_line(dims, axis, [&](int64_t o, int64_t i, int64_t inner) {
      const auto value = [&](int64_t p) { return x.get((o * dims[axis] + p) * inner + i); };
      std::vector<int64_t> order(static_cast<size_t>(dims[axis]));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return largest ? value(p) > value(q) : value(p) < value(q); });
      for (int64_t p = 0; p < k; ++p) QCOMPARE(found.get_int((o * k + p) * inner + i), order[static_cast<size_t>(p)]);
    });
  }

 private Q_SLOTS:
  void largest_data() {
    QTest::addColumn<QList<int>>("shape");
    QTest::addColumn<int>("axis");
    QTest::addColumn<int>("k");
    QTest::newRow("few") << QList<int>{3, 7} << 1 << 3;
    QTest::newRow("all") << QList<int>{2, 90} << 1 << 90;
    QTest::newRow("one block") << QList<int>{128} << 0 << 5;
    QTest::newRow("blocks") << QList<int>{2, 256} << 1 << 4;
    QTest::newRow("a last block of one") << QList<int>{2, 257} << 1 << 4;
    QTest::newRow("two rounds, ragged") << QList<int>{1, 1500} << 1 << 20;
    QTest::newRow("three rounds") << QList<int>{1, 6000} << 1 << 24;
    QTest::newRow("longer blocks") << QList<int>{1, 700} << 1 << 70;
    QTest::newRow("first axis") << QList<int>{200, 3} << 0 << 5;
    QTest::newRow("middle axis") << QList<int>{2, 149, 3} << 1 << 33;
    QTest::newRow("the first of many") << QList<int>{2, 1500} << 1 << 1;
    QTest::newRow("a power of two") << QList<int>{2, 256} << 1 << 256;
    QTest::newRow("filled up") << QList<int>{3, 300} << 1 << 300;
    QTest::newRow("groups that are sorted") << QList<int>{1, 2100} << 1 << 140;
    QTest::newRow("sorted in the middle") << QList<int>{2, 270, 3} << 1 << 200;
    QTest::newRow("the first of sorted runs") << QList<int>{3, 700} << 1 << 100;
  }
  void largest() {
    QFETCH(QList<int>, shape);
    QFETCH(int, axis);
    QFETCH(int, k);
    const Dims dims(shape.begin(), shape.end());
    Rng rng(3);
    for (const DType type : {kFloat32, kFloat16, kInt8, kUInt32, kInt64})
      for (const bool largest : {true, false})
        for (const bool sorted : {true, false}) {
          if (!sorted && type != kFloat32) continue;
          HostArray x = HostArray::make(type, dims);
          for (int64_t i = 0; i < x.num_elements(); ++i) {
            const double v = static_cast<double>(rng.uniform(12)) - (type == kUInt32 ? 0 : 6), beyond = std::numeric_limits<double>::infinity();
            const double wide = v == 5 ? type == kUInt32 ? 4294967295.0 : 127 : v == 0 && i % 2 == 0 ? -0.0 : v;
            x.set(i, !type.is_float() ? wide : v == 5 ? beyond : v == -6 ? -beyond : wide);
          }
          check_order(x, static_cast<size_t>(axis), k, largest, sorted);
          if (QTest::currentTestFailed()) return;
        }
  }

  void running_data() {
    QTest::addColumn<QList<int>>("shape");
    QTest::addColumn<int>("axis");
    QTest::newRow("short") << QList<int>{2, 31} << 1;
    QTest::newRow("blocks") << QList<int>{2, 64} << 1;
    QTest::newRow("ragged") << QList<int>{2, 65} << 1;
    QTest::newRow("blocks of blocks, ragged") << QList<int>{1, 1003} << 1;
    QTest::newRow("first axis") << QList<int>{47, 3} << 0;
    QTest::newRow("middle axis") << QList<int>{2, 100, 3} << 1;
    QTest::newRow("rows in blocks of blocks, ragged") << QList<int>{1, 303, 3, 1} << 1;
  }
  void running() {
    QFETCH(QList<int>, shape);
    QFETCH(int, axis);
    const Dims dims(shape.begin(), shape.end());
    const auto a = static_cast<size_t>(axis);
    Rng rng(4);
    for (const bool product : {false, true})
      for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
          HostArray x = HostArray::make(product ? kFloat64 : kInt32, dims);
          for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, product ? (rng.uniform(2) == 0 ? 1 : -1) * (1 + rng.uniform_real() * 0.01) : static_cast<double>(rng.uniform(100)) - 40);
          const HostArray found = computed(product ? "cumprod" : "cumsum", x, {{"axis", int64_t{axis}}, {"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}});
          QCOMPARE(found.shape, dims);
          each_line(dims, a, [&](int64_t o, int64_t i, int64_t inner) {
            double sum = product ? 1 : 0;
            for (int64_t p = 0; p < dims[a]; ++p) {
              const int64_t at = (o * dims[a] + (reverse ? dims[a] - 1 - p : p)) * inner + i;
              const double before = sum;
              sum = product ? sum * x.get(at) : sum + x.get(at);
              const double want = exclusive ? before : sum;
              QVERIFY2(std::abs(found.get(at) - want) <= std::abs(want) * 1e-12, qPrintable(QStringLiteral("at %1: %2, expected %3").arg(at).arg(found.get(at)).arg(want)));
            }
          });
        }
  }
};

QTEST_APPLESS_MAIN(RunningAndOrderTest)
#include "running_and_order_test.moc"
