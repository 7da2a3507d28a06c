// SPDX-License-Identifier: Apache-2.0
// The chain of a small fixed schedule, line by line: which loops each step made, which lines each loop is, and the way back from the machine's code.
#include <QtTest>

#include "engine/api/explain.h"
#include "engine/base/text.h"

using namespace tw;
using api::Level;

namespace {

/// y[i, j] = relu(sum_k x[i, k] * w[k, j]): rows in parallel, eight columns a vector, the sum's blocks of four unrolled, relu's producer inside the rows.
api::Explanation explained() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {4, 32}, kFloat32), w = b.placeholder("w", {32, 16}, kFloat32);
  const te::Tensor s = b.reduce(
      "s", {4, 16}, {32}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]) * w(r[0], i[1]); }, "dense");
  const te::Tensor doubled = b.compute("doubled", {4, 16}, [&](const te::Indices& i) { return s(i[0], i[1]) + s(i[0], i[1]); });
  const te::Tensor y = b.compute("y", {4, 16}, [&](const te::Indices& i) { return ir::max(doubled(i[0], i[1]), ir::fimm(kFloat32, 0)); });
  const records::Task task = records::make_task("small", std::move(b).finish({y}), parse_target("llvm -mcpu=x86-64-v3").value());
  schedule::Builder t(task.dag);
  const int sum = t.stage("s"), out = t.stage("y");
  t.compute_inline(t.stage("doubled"));
  const auto columns = t.split(out, t.loops(out)[1], {8});
  t.compute_at(sum, out, t.loops(out)[0]);
  const auto k = t.split(sum, t.loops(sum)[2], {4});
  const auto j = t.split(sum, t.loops(sum)[1], {8});
  t.reorder(sum, {t.loops(sum)[0], j[0], k[0], k[1], j[1]});
  t.unroll(sum, k[1]);
  t.vectorize(sum, j[1]);
  t.vectorize(out, columns[1]);
  t.parallel(out, t.loops(out)[0]);
  return api::explain(task, std::move(t).finish().value().steps());
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view line : split_lines(text)) out.emplace_back(trim(line));
  return out;
}

}  // namespace

class ChainTest : public QObject {
  Q_OBJECT
  api::Explanation x_;
  std::vector<std::string> steps_, loops_, tir_, assembly_;

  /// What belongs to a line at another level, as texts.
  std::vector<std::string> texts(Level from, int line, Level to) const {
    const auto& all = to == Level::step ? steps_ : to == Level::loop ? loops_ : to == Level::tir_line ? tir_ : assembly_;
    std::vector<std::string> out;
    for (const int n : x_.provenance.related(from, line, to)) out.push_back(all[static_cast<size_t>(n)]);
    return out;
  }
  static int find(const std::vector<std::string>& all, const std::string& text) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const std::string& s) { return s.find(text) != std::string::npos; });
    return it == all.end() ? -1 : static_cast<int>(it - all.begin());
  }

 private Q_SLOTS:
  void initTestCase() {
    x_ = explained();
    QVERIFY2(!x_.error, x_.error ? x_.error->text().c_str() : "");
    steps_ = lines(x_.steps), loops_ = lines(x_.loops), tir_ = lines(x_.tir), assembly_ = lines(x_.assembly);
  }

  void stepsAndWhatBecameOfTheirLoops() {
    const std::vector<std::pair<const char*, std::vector<std::string>>> expected = {
        {"compute_inline(doubled)", {"doubled (inlined)"}},
        {"split(y, j, ", {"for j_0 in 2", "for j_1 in 8 [vectorize]"}},
        {"compute_at(s, y, i)", {"s:"}},
        {"split(s, r0, ", {"for r0_0 in 8 (reduce)", "for r0_1 in 4 (reduce) [unroll]"}},
        {"split(s, j, ", {"for j_0 in 2", "for j_1 in 8 [vectorize]"}},
        {"reorder(s, ", {"for r0_0 in 8 (reduce)", "for r0_1 in 4 (reduce) [unroll]", "for j_1 in 8 [vectorize]"}},  // j_0 stayed the second
        {"unroll(s, r0_1)", {"for r0_1 in 4 (reduce) [unroll]"}},
        {"vectorize(s, j_1)", {"for j_1 in 8 [vectorize]"}},
        {"vectorize(y, j_1)", {"for j_1 in 8 [vectorize]"}},
        {"parallel(y, i)", {"for i in 4 [parallel]"}}};
    QCOMPARE(steps_.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      QCOMPARE(find(steps_, expected[i].first), static_cast<int>(i));
      QVERIFY2(texts(Level::step, static_cast<int>(i), Level::loop) == expected[i].second, expected[i].first);
    }
    // Both stages have loops of these names; each step has those of its own stage only.
    const auto in_sum = x_.provenance.related(Level::step, find(steps_, "vectorize(s"), Level::loop);
    const auto in_out = x_.provenance.related(Level::step, find(steps_, "vectorize(y"), Level::loop);
    QCOMPARE(in_sum.size(), size_t{1});
    QVERIFY(in_sum != in_out);
  }

  void loopsAreTheirLinesOrTheStoresInsideThem() {
    const auto loop = [&](const char* text) { return texts(Level::loop, find(loops_, text), Level::tir_line); };
    QVERIFY((loop("for i in 4 [parallel]") == std::vector<std::string>{"for i in T.parallel(4):"}));
    QVERIFY((loop("for r0_0 in 8") == std::vector<std::string>{"for r0_0 in T.serial(8):"}));
    // Unrolled: the four copies, without what sets the sum to zero before the reduction.
    const auto copies = loop("for r0_1 in 4");
    QCOMPARE(copies.size(), size_t{4});
    for (const std::string& line : copies) QVERIFY(line.find("x[i * 32") != std::string::npos);
    // Vectorised: what sets to zero is a vector too.
    QCOMPARE(loop("for j_1 in 8").size(), size_t{5});
    QCOMPARE(loop("update (sum)").size(), size_t{5});
    // The stage's name: its array and everything in it; nothing of the stage around.
    QCOMPARE(loop("s:").size(), size_t{8});
    QCOMPARE(loop("y:").size(), size_t{3});
    QCOMPARE(loop("doubled (inlined)").size(), size_t{1});
    QVERIFY(loop("doubled (inlined)")[0].find("max(") != std::string::npos);
    QVERIFY(loop("input x").empty());
  }

  void fromTheMachinesCodeToTheStep() {
    int multiplies = 0;
    for (size_t i = 0; i < assembly_.size(); ++i) {
      if (!assembly_[i].starts_with("vfmadd")) continue;
      ++multiplies;
      const int line = static_cast<int>(i);
      QCOMPARE(texts(Level::assembly_line, line, Level::tir_line).size(), size_t{1});
      const auto loops = texts(Level::assembly_line, line, Level::loop);
      QVERIFY(std::find(loops.begin(), loops.end(), "for r0_1 in 4 (reduce) [unroll]") != loops.end());
      const auto steps = texts(Level::assembly_line, line, Level::step);
      for (const char* step : {"unroll(s, r0_1)", "vectorize(s, j_1)"}) QVERIFY(std::find(steps.begin(), steps.end(), step) != steps.end());
      QVERIFY(std::find(steps.begin(), steps.end(), "vectorize(y, j_1)") == steps.end());
    }
    QCOMPARE(multiplies, 4);  // the unrolled copies
    // The loop over the sum's blocks is a counter, a comparison and a jump.
    const auto counter = texts(Level::loop, find(loops_, "for r0_0"), Level::assembly_line);
    QCOMPARE(counter.size(), size_t{3});
    QVERIFY(counter[0].starts_with("inc") && counter[1].starts_with("cmp") && counter[2].starts_with("jl"));
    const auto maximum = texts(Level::loop, find(loops_, "compute"), Level::assembly_line);
    QVERIFY(std::any_of(maximum.begin(), maximum.end(), [](const std::string& s) { return s.starts_with("vmaxps"); }));
  }

  void whatTheCompilerAddedBelongsToNothing() {
    int merged = 0;
    for (size_t i = 0; i < assembly_.size(); ++i) {
      const int origin = x_.assembly_line_to_tir_line[i];
      if (assembly_[i].starts_with("push") || assembly_[i].starts_with("call")) QCOMPARE(origin, codegen::kMerged);
      if (origin != codegen::kMerged) continue;
      ++merged;
      for (const Level to : {Level::step, Level::loop, Level::tir_line, Level::llvm_line})
        QVERIFY(x_.provenance.related(Level::assembly_line, static_cast<int>(i), to).empty());
    }
    QVERIFY(merged > 0);
    QCOMPARE(x_.assembly_line_to_tir_line[static_cast<size_t>(find(assembly_, ".LBB0_1:"))], codegen::kNoCode);
  }
};

QTEST_APPLESS_MAIN(ChainTest)
#include "chain_test.moc"
