// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/schedule/loops.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Images at places that the kernel itself works out.
class LookupsTest : public QObject {
  Q_OBJECT

  static Make sampled(int64_t channels, int64_t height, int64_t width, DType indices = kInt32) {
    return [=](Net& n) {
      const Dims places{2, height, width, 2};
      const int at = n.op("clip", {n.op("mul", {n.op("abs", {n.input(places)}), n.weight({2})})}, {{"min", 0.0}, {"max", 5.0}});
      const int whole = n.op("floor", {at});
      const int rest = n.op("slice", {n.op("sub", {at, whole})}, {{"starts", Dims(4, 0)}, {"sizes", Dims{2, height, width, 1}}, {"steps", Dims(4, 1)}});
      const int image = n.op("transpose", {n.input({2, channels, 7, 6})}, {{"perm", Dims{0, 2, 3, 1}}});
      const auto rows = [&](int place) {
        return n.op("gather_nd", {image, n.op("cast", {place}, {{"to", std::string(indices.name())}})}, {{"batch_dims", int64_t{1}}});
      };
      const int sum = n.op("add", {n.op("mul", {rows(whole), rest}), rows(n.op("neg", {whole}))});
      return n.op("transpose", {sum}, {{"perm", Dims{0, 3, 1, 2}}});
    };
  }
  static std::vector<Case> cases() {
    return {{"five channels, the last of a row in part", sampled(5, 6, 19)},
            {"many channels", sampled(90, 3, 16)},
            {"one row", sampled(17, 1, 40)},
            {"few places", sampled(33, 1, 5)},
            {"short rows", sampled(17, 4, 9)},
            {"rows of less than half a vector", sampled(32, 5, 3)},
            {"three channels", sampled(3, 5, 20)},
            {"one channel at places of 64 bits", sampled(1, 4, 37, kInt64)},
            {"eight channels at places of 64 bits", sampled(8, 4, 37, kInt64)}};
  }
  static std::string steps(const Make& make) {
    return schedule::print_steps(space::default_schedule(dag_of(make), parse_target("llvm -mcpu=znver4 -num-cores=1").value()));
  }
  static int count(const std::string& text, const std::string& word) {
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    QFETCH(int, number);
    const std::string problem = problem_by_rule(cases()[static_cast<size_t>(number)]);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// In vectors along them, and turned; places are worked out a row at a time.
  void rowsAreReadWhole() {
    const std::string s = steps(sampled(40, 6, 32));
    QCOMPARE(count(s, "cache_write"), 1);
    QVERIFY2(count(s, "compute_at") > 1, s.c_str());
  }
  /// What lies beside each other is too little to be put there first, or few of it are read.
  void fewChannelsStayApart() {
    const auto copies = [](int64_t channels, int64_t height = 6, int64_t width = 32) {
      const schedule::Schedule s = space::default_schedule(dag_of(sampled(channels, height, width)), parse_target("llvm -mcpu=znver4 -num-cores=1").value());
      int whole = 0;
      for (const schedule::Stage& st : s.stages())
        whole += schedule::has_loops(st) && st.location == schedule::ComputeLocation::root && st.op.output->shape == Dims{2, 7, 6, channels};
      return whole;
    };
    QCOMPARE(copies(3), 0);
    QCOMPARE(copies(4), 1);
    QCOMPARE(copies(40, 1, 5), 0);  // 20 of 84 pixels
    QCOMPARE(copies(40, 1, 6), 1);
  }
};

QTEST_APPLESS_MAIN(LookupsTest)
#include "lookups_test.moc"
