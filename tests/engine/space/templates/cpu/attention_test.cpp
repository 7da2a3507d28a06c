// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the template of attentions against the interpreter.
class AttentionTest : public QObject {
  Q_OBJECT

  /// softmax(f(q k)) v, with so many queries, keys, depth of the scores and width of the values.
  struct Sizes {
    Dims batch;
    int64_t queries, keys, depth, width;
  };
  static Dims with(Dims batch, int64_t rows, int64_t columns) {
    batch.insert(batch.end(), {rows, columns});
    return batch;
  }
  using Between = std::function<int(Net&, int scores)>;
  static Make attention(const Sizes& s, const Between& between = {}, const Between& after = {}) {
    return [=](Net& n) {
      const int q = n.input(with(s.batch, s.queries, s.depth)), k = n.input(with(s.batch, s.depth, s.keys)), v = n.input(with(s.batch, s.keys, s.width));
      int scores = n.op("matmul", {q, k});
      if (between) scores = between(n, scores);
      const int out = n.op("matmul", {n.op("softmax", {scores}), v});
      return after ? after(n, out) : out;
    };
  }
  static std::vector<Case> cases() {
    return {
        {"heads", attention({{1, 3}, 20, 32, 16, 32})},
        {"keys that are no whole vectors", attention({{2}, 9, 37, 8, 24})},
        {"a window of 49", attention({{5}, 49, 49, 32, 32})},
        {"values in part of two vectors", attention({{2}, 7, 40, 19, 19})},
        {"one query", attention({{1, 4}, 1, 50, 16, 16})},
        {"few keys", attention({{2}, 6, 3, 8, 8})},
        {"no batch", attention({{}, 13, 64, 12, 20})},
        {"scaled and masked", attention({{2, 3}, 11, 48, 8, 16},
                                        [](Net& n, int s) {
                                          return n.op("add", {n.op("mul", {s, n.weight({1})}), n.input({2, 1, 1, 48})});
                                        })},
        {"a mask that is computed", attention({{2, 3}, 11, 48, 8, 16},
                                              [](Net& n, int s) {
                                                return n.op("add", {s, n.op("exp", {n.input({2, 1, 1, 48})})});
                                              })},
        {"a residual follows", attention({{2}, 10, 24, 8, 32}, {},
                                         [](Net& n, int o) {
                                           return n.op("relu", {n.op("add", {o, n.input({2, 10, 32})})});
                                         })},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(template_named("attention.cpu"), cases(), 8);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  void servesUntunedNetworks() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    for (const Case& c : cases()) QCOMPARE(std::string(space::fallback(dag_of(c.make), target)->space_template->name), std::string("attention.cpu"));
  }
  /// A tile wider than all keys computes whole vectors: under a mask its sums would go to memory.
  void tilesWiderThanTheKeysStayInRegisters() {
    const Target target = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
    for (const int64_t keys : {30, 66}) {
      const te::DagPtr dag = dag_of(attention({{2}, 12, keys, 32, 64}));
      const space::Template& found = template_named("attention.cpu");
      const space::ConfigEntity point = found.fallback(*dag, target);
      QVERIFY2(point.split("tile_k")[1] > keys, point.text().c_str());
      const std::string steps = schedule::print_steps(found.apply(dag, target, point).value());
      const size_t first = steps.find("pad("), second = first == std::string::npos ? first : steps.find("pad(", first + 1);
      QVERIFY2(second != std::string::npos, steps.c_str());  // of the scores that are shown, and of their sums
    }
  }
  void leavesOthersAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const auto matches = [&](const Make& make) { return template_named("attention.cpu").matches(*dag_of(make), target); };
    // A product alone, a softmax alone, a softmax between scores that somebody else reads as values.
    QVERIFY(!matches([](Net& n) { return n.op("matmul", {n.input({2, 8, 16}), n.input({2, 16, 8})}); }));
    QVERIFY(!matches([](Net& n) { return n.op("softmax", {n.input({2, 8, 16})}); }));
    QVERIFY(!matches([](Net& n) { return n.op("matmul", {n.op("softmax", {n.input({2, 8, 16})}), n.input({2, 16, 8})}); }));
    QVERIFY(!matches([](Net& n) {
      const int s = n.op("matmul", {n.input({2, 8, 16}), n.input({2, 16, 8})});
      return n.op("matmul", {n.op("softmax", {s}), s});
    }));
    // Along another axis, and the weights as the second operand.
    QVERIFY(!matches([](Net& n) {
      const int s = n.op("matmul", {n.input({2, 8, 16}), n.input({2, 16, 8})});
      return n.op("matmul", {n.op("softmax", {s}, {{"axis", int64_t{1}}}), n.input({2, 8, 8})});
    }));
    QVERIFY(!matches([](Net& n) {
      const int s = n.op("matmul", {n.input({2, 8, 16}), n.input({2, 16, 8})});
      return n.op("matmul", {n.input({2, 8, 8}), n.op("softmax", {s})});
    }));
  }
};

QTEST_APPLESS_MAIN(AttentionTest)
#include "engine/space/templates/cpu/attention_test.moc"
