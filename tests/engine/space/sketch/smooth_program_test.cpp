// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/smooth_program.h"

#include <fmt/format.h>

#include <QtTest>
#include <cmath>
#include <set>

#include "engine/schedule/loops.h"
#include "engine/space/sketch/lengths.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/open_schedule.h"
#include "engine/space/sketch/smooth_limits.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::space;
using Id = Tape::Id;

namespace {

constexpr size_t kSideBySide = TapeCode::kPoints;

Target smooth_target(bool gpu) {
  Target t = gpu ? parse_target("cuda:a100").value() : Target();
  if (!gpu) t.cores = 2, t.vector_bits = 512;
  return t;
}

/// Those of other properties, and two that are large enough to break limits.
std::vector<tw::testing::NamedDag> larger_dags() {
  std::vector<tw::testing::NamedDag> out = tw::testing::sample_dags();
  out.push_back({"large_product", tw::testing::dags::matmul(1024, 768, 1024)});
  return out;
}

/// Numbers that groups and free numbers can be, where the last length of a loop's split has most of it.
std::vector<int64_t> open_numbers(const OpenSchedule& open, Rng& rng) {
  std::vector<int64_t> out = numbers_of(open.steps);
  for (const OpenSchedule::Group& g : open.groups) {
    const std::vector<int64_t> lengths = random_lengths(g.extent, g.numbers.size(), g.extent, rng);
    for (size_t k = 0; k < lengths.size(); ++k) out[static_cast<size_t>(g.numbers[k])] = lengths[k];
  }
  for (const OpenSchedule::Free& f : open.free) out[static_cast<size_t>(f.number)] = std::min(f.most, int64_t{1} << rng.uniform(8));
  return out;
}

}  // namespace

class SmoothProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatLoweringFinds_data();
  void saysWhatLoweringFinds();
  void sketchesWithoutOpenNumbers();
  void numbersOfSteps();
  void aTileByHand();
  void families();
};

void SmoothProgramTest::saysWhatLoweringFinds_data() {
  QTest::addColumn<int>("dag");
  QTest::addColumn<bool>("gpu");
  int k = 0;
  for (const auto& d : larger_dags()) {
    QTest::newRow(d.name) << k << false;
    QTest::newRow((std::string(d.name) + " by threads").c_str()) << k++ << true;
  }
}

/// Formulas that are written down once, worked out exactly at many integers: iterations of all loops, bytes of all arrays and whether limits are kept, as lowering
/// each of those schedules finds them.
void SmoothProgramTest::saysWhatLoweringFinds() {
  QFETCH(int, dag);
  QFETCH(bool, gpu);
  const tw::testing::NamedDag sample = larger_dags()[static_cast<size_t>(dag)];
  const Target target = smooth_target(gpu);
  int points = 0, limited = 0;
  for (const Sketch& sketch : sketches(sample.dag, target)) {
    const auto open = open_schedule(sketch, target);
    if (!open) {
      QCOMPARE(open.error().code, ErrorCode::not_applicable);
      continue;
    }
    const Program program = Program::make(open->dag, open->steps).value();
    std::vector<Tape::Leaf> leaves;
    std::vector<double> groups;
    std::vector<int> of_leaf;
    for (const OpenSchedule::Group& g : open->groups) {
      groups.push_back(std::log(static_cast<double>(g.extent)));
      for (const int n : g.numbers) leaves.push_back({groups.back(), static_cast<int>(groups.size()) - 1}), of_leaf.push_back(n);
    }
    for (const OpenSchedule::Free& f : open->free) leaves.push_back({std::log(static_cast<double>(f.most))}), of_leaf.push_back(f.number);
    Tape tape(leaves, groups);
    std::vector<Id> numbers;
    for (const int64_t n : numbers_of(open->steps)) numbers.push_back(tape.constant(std::log(static_cast<double>(std::max<int64_t>(1, n)))));
    for (size_t k = 0; k < of_leaf.size(); ++k) numbers[static_cast<size_t>(of_leaf[k])] = tape.leaf(k);
    const SmoothProgram smooth(program, tape, numbers);
    const std::vector<SmoothLimit> limits = smooth_limits(smooth, tape, target);
    std::vector<Id> outputs;
    for (const Id loop : smooth.loops()) outputs.push_back(tape.exp(loop));
    for (const SmoothProgram::Stage& st : smooth.stages()) outputs.push_back(st.elements < 0 ? tape.constant(0) : tape.exp(st.elements));
    for (const SmoothLimit& l : limits) outputs.push_back(l.excess);
    const TapeCode code(tape, outputs);
    Rng rng(17);
    for (int n = 0; n < 25; ++n) {
      const std::vector<int64_t> at = open_numbers(*open, rng);
      const auto s = schedule::Schedule::replay(open->dag, open->with_numbers(at));
      if (!s) continue;
      const lower::LoopExtents extents(*s);
      if (!extents.ok()) continue;
      const auto evaluated = program.evaluate(at);
      if (!evaluated || !evaluated->exact) continue;  // where it depends on the numbers, lowering alone knows
      ++points;
      std::vector<double> in, values(code.rows() * kSideBySide);
      for (const int k : of_leaf) in.insert(in.end(), kSideBySide, std::log(static_cast<double>(at[static_cast<size_t>(k)])));
      code.forward(TapeCode::Kind::exact, in, values);
      const auto value = [&](size_t output) { return values[code.row(output) * kSideBySide]; };
      const auto context = [&](const std::string& text) { return QString::fromStdString(fmt::format("{}\n{}", text, schedule::print_steps(*s))); };
      for (size_t i = 0; i < s->stages().size(); ++i) {
        const schedule::Stage& st = s->stages()[i];
        if (!schedule::has_loops(st)) continue;
        for (size_t l = 0; l < st.iters.size(); ++l) {
          const auto loop = static_cast<size_t>(program.stages()[i].first_loop) + l;
          const double want = static_cast<double>(extents.of(static_cast<int>(i), st.iters[l]));
          if (value(loop) != want) QFAIL(qPrintable(context(fmt::format("loop {} of {}: {} instead of {}", l, st.op.name, value(loop), want))));
        }
        double want = 1;
        for (const int64_t e : extents.region(static_cast<int>(i))) want *= static_cast<double>(e);
        if (value(program.loops().size() + i) != want) QFAIL(qPrintable(context(fmt::format("elements of {}: {} instead of {}", st.op.name, value(program.loops().size() + i), want))));
      }
      // What the target refuses for its size, a formula does.
      const auto kept = check_limits(*s, target);
      if (kept || kept.error().code != ErrorCode::resource_limit) continue;
      ++limited;
      bool broken = false;
      for (size_t k = 0; k < limits.size(); ++k) broken = broken || value(outputs.size() - limits.size() + k) > 1e-9;
      if (!broken) QFAIL(qPrintable(context("no formula says what the check of limits says: " + kept.error().text())));
    }
  }
  QVERIFY(points > 10);
  if (gpu && std::string_view(sample.name) == "large_product") QVERIFY(limited > 10);
}

/// They are told by reason.
void SmoothProgramTest::sketchesWithoutOpenNumbers() {
  const Target target = parse_target("cuda:a100").value();
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {256, 256}, kFloat16), w = b.placeholder("w", {256, 256}, kFloat16, te::Role::constant);
  const te::DagPtr dag = std::move(b).finish({b.reduce(
      "dense", {256, 256}, {256}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense")});
  int refused = 0, open = 0;
  for (const Sketch& s : sketches(dag, target)) {
    const auto made = open_schedule(s, target);
    const bool cores = std::any_of(s.derived.begin(), s.derived.end(), [](const RuleUse& u) { return std::string_view(u.rule) == "tensor-cores"; });
    QCOMPARE(made.has_value(), !cores);
    ++(cores ? refused : open);
    if (made) continue;
    QCOMPARE(made.error().code, ErrorCode::not_applicable);
    QVERIFY2(made.error().text().find("an instruction's") != std::string::npos, made.error().text().c_str());
  }
  QVERIFY(refused > 0 && open > 0);
}

/// Of steps that another search made: lengths that divide their loops are groups, others stand by themselves; put back they are the same steps.
void SmoothProgramTest::numbersOfSteps() {
  const te::DagPtr dag = tw::testing::dags::matmul(12, 12, 12);
  schedule::Builder b(dag);
  const int c = b.stage("matmul");
  const auto loops = b.loops(c);
  b.split(c, loops[0], {2, 3});
  b.split(c, loops[1], {5});
  const schedule::Schedule s = std::move(b).finish().value();
  const OpenSchedule open = opened(dag, s.steps());
  QCOMPARE(open.groups, (std::vector<OpenSchedule::Group>{{12, {0, 1}}}));
  QCOMPARE(open.free, (std::vector<OpenSchedule::Free>{{2, 1024}}));
  QCOMPARE(open.with_numbers(numbers_of(s.steps())), s.steps());
  QCOMPARE(numbers_of(open.with_numbers(std::vector<int64_t>{4, 1, 7})), (std::vector<int64_t>{4, 1, 7}));
}

/// 12 x 12 x 12, i in three and k in two loops: the outermost runs 12 / (a b) times, k 12 / c, wherever a and b are.
void SmoothProgramTest::aTileByHand() {
  schedule::Builder b(tw::testing::dags::matmul(12, 12, 12));
  const int c = b.stage("matmul");
  const auto loops = b.loops(c);
  b.split(c, loops[0], {2, 3});
  b.split(c, loops[2], {4});
  const schedule::Schedule s = std::move(b).finish().value();
  const Program program = Program::make(s.dag(), s.steps()).value();
  const double all = std::log(12.0);
  Tape tape({{all, 0}, {all, 0}, {all, 1}}, {all, all});
  const std::vector<Id> numbers = {tape.leaf(0), tape.leaf(1), tape.leaf(2)};
  const SmoothProgram smooth(program, tape, numbers);
  const auto first = static_cast<size_t>(program.stages()[static_cast<size_t>(c)].first_loop);
  QCOMPARE(smooth.loops()[first], tape.minus(tape.constant(all), tape.plus(numbers[0], numbers[1])));
  QCOMPARE(smooth.loops()[first + 1], numbers[0]);
  QCOMPARE(smooth.loops()[first + 2], numbers[1]);
  QCOMPARE(smooth.loops()[first + 4], tape.minus(tape.constant(all), numbers[2]));
  const SmoothProgram::Index& i = smooth.stages()[static_cast<size_t>(c)].values[0];
  QCOMPARE(i.terms.size(), size_t{3});
  for (const SmoothProgram::Term& t : i.terms)
    if (t.loop == static_cast<int>(first)) QCOMPARE(t.coeff, tape.plus(numbers[0], numbers[1]));
}

/// Another shape is the same kind of computation, another epilogue or literal another one.
void SmoothProgramTest::families() {
  const auto product = [](int64_t m, int64_t n, int64_t k, double least, bool relu) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    if (!relu) return family_of(*std::move(b).finish({y}));
    return family_of(*std::move(b).finish({b.compute("relu", {m, n}, [&](const te::Indices& i) { return ir::max(y.at(i), ir::fimm(kFloat32, least)); })}));
  };
  QCOMPARE(product(64, 1000, 512, 0, true), product(8, 24, 4096, 0, true));
  QVERIFY(product(64, 1000, 512, 0, true) != product(64, 1000, 512, 0, false));
  QVERIFY(product(64, 1000, 512, 0, true) != product(64, 1000, 512, 1, true));
  std::set<uint64_t> all;
  for (const auto& d : tw::testing::sample_dags()) all.insert(family_of(*d.dag));
  QVERIFY(all.size() + 8 > tw::testing::sample_dags().size());
}

QTEST_APPLESS_MAIN(SmoothProgramTest)
#include "smooth_program_test.moc"
