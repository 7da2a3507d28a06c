// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/share.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"

using namespace tw;
using te::Indices;
using te::Tensor;

/// Which functions may work in place.
class ShareTest : public QObject {
  Q_OBJECT

  using Make = Tensor (*)(te::DagBuilder&, const Tensor& x, const Tensor& y);
  static tir::Func lowered(Make make, const std::vector<int64_t>& shape, bool by_rule) {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", shape, kFloat32), y = b.placeholder("y", shape, kFloat32);
    const te::DagPtr dag = std::move(b).finish({make(b, x, y)});
    const Target target = host_target();
    const schedule::Schedule s = by_rule ? space::default_schedule(dag, target) : schedule::Schedule(dag);
    return lower::lower_and_optimize(s, "f", target).value();
  }

 private Q_SLOTS:
  void rows_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("over_x");
    QTest::addColumn<bool>("over_y");
    QTest::newRow("sum") << 0 << true << true;
    QTest::newRow("one element, and its mirror image") << 1 << true << false;
    QTest::newRow("transposed") << 2 << false << true;
    QTest::newRow("mean of a row") << 3 << false << true;
    QTest::newRow("product of matrices") << 4 << false << false;
    QTest::newRow("the same element twice") << 5 << true << true;
  }
  void rows() {
    QFETCH(int, kind);
    QFETCH(bool, over_x);
    QFETCH(bool, over_y);
    static const Make kMake[] = {
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) { return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) + y.at(i); }); },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) + y(i[0], ir::index(x.shape()[1] - 1) - i[1]); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x(i[1], i[0]) * y.at(i); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          const Tensor sum =
              b.reduce("sum", {x.shape()[0]}, {x.shape()[1]}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
          return b.compute("f", x.shape(), [&](const Indices& i) { return sum(i[0]) - y.at(i); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.reduce("f", x.shape(), {x.shape()[1]}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * y(r[0], s[1]); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) * x.at(i) + y.at(i); });
        },
    };
    for (const bool by_rule : {false, true}) {
      const tir::Func f = lowered(kMake[kind], {32, 32}, by_rule);
      QCOMPARE(tir::may_share_storage(f, 0, 2), over_x);
      QCOMPARE(tir::may_share_storage(f, 1, 2), over_y);
    }
  }

  /// What is said of random functions, against running them over their own operand: each element is read at its own place, or at one shifted, mirrored or turned,
  /// before or after others are stored, in loops of all orders.
  void randomFunctions() {
    Rng rng(11);
    int shared = 0, refused = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      const int64_t n = rng.range(1, 4), m = rng.range(1, 4), size = n * m;
      const auto place = [&] {
        const std::string own = fmt::format("i * {} + j", m);
        switch (rng.uniform(6)) {
          case 0:
            return fmt::format("({} + {}) % {}", own, rng.range(0, size), size);
          case 1:
            return fmt::format("{} - ({})", size - 1, own);
          case 2:
            return fmt::format("j * {} + i", n);
          default:
            return own;
        }
      };
      const std::string store = rng.uniform(3) == 0 ? fmt::format("j * {} + i", n) : fmt::format("i * {} + j", m);
      std::string value = fmt::format("A[{}]", place());
      for (uint64_t more = rng.uniform(3); more > 0; --more) value += fmt::format(" + {}[{}]", rng.uniform(2) ? "A" : "B", place());
      if (rng.uniform(5) == 0) value = fmt::format("select(A[{}] < T.float32(0), {}, B[{}])", place(), value, place());
      const bool turned = rng.uniform(2) == 0, branches = rng.uniform(4) == 0;
      const auto text = [&](const std::string& parameters, const std::string& before, const std::string& a, const std::string& c) {
        std::string body = fmt::format("{}[{}] = {}", c, store, value);
        if (branches)
          body = fmt::format("if i + j < {}:\n                {}\n            else:\n                {}[{}] = A[{}]", n, body, c, store, store);
        for (size_t at = body.find("A["); at != std::string::npos; at = body.find("A[", at + 1)) body.replace(at, 1, a);
        return fmt::format(
            "@T.prim_func\ndef f({}):\n    T.func_attr({{\"num_outputs\": 1}})\n{}    for {} in T.serial({}):\n        for {} in T.serial({}):\n            {}\n",
            parameters, before, turned ? "j" : "i", turned ? m : n, turned ? "i" : "j", turned ? n : m, body);
      };
      const auto array = [&](const char* name) { return fmt::format("{}: T.Buffer(({},), \"float32\")", name, size); };
      const std::string all = fmt::format("{}, {}, {}", array("A"), array("B"), array("C"));
      const auto apart = tir::parse_func(text(all, "", "A", "C"));
      QVERIFY2(apart.has_value(), (apart ? "" : apart.error().text()).c_str());
      if (!tir::may_share_storage(*apart, 0, 2)) {
        ++refused;
        continue;
      }
      ++shared;
      const auto together = tir::parse_func(text(all, fmt::format("    for k in T.serial({}):\n        C[k] = A[k]\n", size), "C", "C"));
      QVERIFY2(together.has_value(), (together ? "" : together.error().text()).c_str());
      std::vector<HostArray> one(3, HostArray::make(kFloat32, {size}));
      for (HostArray& a : one)
        for (int64_t k = 0; k < size; ++k) a.set(k, rng.uniform_real() - 0.5);
      std::vector<HostArray> other = one;
      QVERIFY(tir::interpret(*apart, one) && tir::interpret(*together, other));
      QVERIFY2(one[2].data == other[2].data, tir::print(*apart).c_str());
    }
    QVERIFY(shared > 300 && refused > 300);
  }

  /// Each element is stored once whichever branch runs, or it is not known how often.
  void branches() {
    const auto shares = [](const char* body) {
      const auto f = tir::parse_func(fmt::format("@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                                                 "    T.func_attr({{\"num_outputs\": 1}})\n    for i in T.serial(4):\n{}",
                                                 body));
      if (!f) qFatal("%s", f.error().text().c_str());
      return tir::may_share_storage(*f, 0, 1);
    };
    QVERIFY(shares("        if i < 2:\n            C[i] = A[i]\n        else:\n            C[i] = T.float32(0)\n"));
    QVERIFY(!shares("        if i < 2:\n            C[i] = A[i]\n            C[i] = A[i]\n        else:\n            C[i] = T.float32(0)\n"));
    QVERIFY(!shares("        if i < 2:\n            C[i] = A[i]\n"));
    QVERIFY(!shares("        if i < 2:\n            if i < 1:\n                C[i] = A[i]\n        else:\n            C[i] = T.float32(0)\n"));
    QVERIFY(!shares("        if A[i] < T.float32(0):\n            C[i] = A[i]\n        else:\n            C[i] = T.float32(0)\n"));
  }

  void sizesMustAgree() {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {1, 32}, kFloat32), y = b.placeholder("y", {4, 32}, kFloat32), h = b.placeholder("h", {4, 32}, kFloat16);
    const Tensor f = b.compute("f", {4, 32}, [&](const Indices& i) { return x(ir::index(0), i[1]) + y.at(i) + ir::cast(kFloat32, h.at(i)); });
    const tir::Func func = lower::lower_and_optimize(schedule::Schedule(std::move(b).finish({f})), "f", host_target()).value();
    QVERIFY(!tir::may_share_storage(func, 0, 3));
    QVERIFY(tir::may_share_storage(func, 1, 3));
    QVERIFY(!tir::may_share_storage(func, 2, 3));
  }
};

QTEST_APPLESS_MAIN(ShareTest)
#include "share_test.moc"
