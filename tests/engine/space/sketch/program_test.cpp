// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/program.h"

#include <fmt/format.h>

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/mutate.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::space;

namespace {

Target target_for(bool gpu) {
  Target t = gpu ? parse_target("cuda:a100").value() : Target();
  if (!gpu) t.cores = 2;
  return t;
}

/// A child of a schedule, replayed.
Expected<schedule::Schedule> changed_by(const MutationRule& rule, const schedule::Schedule& s, const Target& target, const DrawOptions& options, Rng& rng) {
  TW_TRY(const std::vector<schedule::Step> steps, rule.apply({s.dag(), s.steps(), target, options, rng}));
  return schedule::Schedule::replay(s.dag(), steps);
}

/// Changes lengths of splits until something is left that replays.
std::optional<schedule::Schedule> other_numbers(const schedule::Schedule& s, const Target& target, const DrawOptions& options, Rng& rng) {
  std::optional<schedule::Schedule> out;
  for (int k = 0; k < 3; ++k)
    for (const MutationRule& rule : mutation_rules())
      if (std::string_view(rule.name) == "tile-size" || std::string_view(rule.name) == "auto-unroll")
        if (auto changed = changed_by(rule, out ? *out : s, target, options, rng)) out = *std::move(changed);
  return out;
}

}  // namespace

class ProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatLoweringFinds_data();
  void saysWhatLoweringFinds();
  void aTiledProductByHand();
  void structures();
  void numbersOfPartialSums();
};

void ProgramTest::saysWhatLoweringFinds_data() {
  QTest::addColumn<int>("dag");
  QTest::addColumn<bool>("gpu");
  int k = 0;
  for (const auto& d : tw::testing::sample_dags()) {
    QTest::newRow(d.name) << k << false;
    QTest::newRow((std::string(d.name) + " by threads").c_str()) << k++ << true;
  }
}

/// One program for many points: extents of all loops, regions and what is legal, as replaying and lowering each point finds them.
void ProgramTest::saysWhatLoweringFinds() {
  QFETCH(int, dag);
  QFETCH(bool, gpu);
  const tw::testing::NamedDag sample = tw::testing::sample_dags()[static_cast<size_t>(dag)];
  const Target target = target_for(gpu);
  const std::vector<Sketch> all = sketches(sample.dag, target);
  // Where an index divides an axis, as those of products made of convolutions do, what is read inside loops is left to lowering.
  const auto divides = [](const schedule::Schedule& schedule) {
    bool found = false;
    for (const schedule::Stage& st : schedule.stages())
      if (st.op.body)
        ir::walk(*st.op.body, [&](const ir::Expr& x) {
          const auto* b = ir::as<ir::BinaryNode>(x);
          found = found || (b && (b->op == ir::BinaryOp::floor_div || b->op == ir::BinaryOp::floor_mod));
        });
    return found;
  };
  int points = 0, undivided = 0, exact = 0;
  for (uint64_t seed = 0; seed < 600 && points < 120; ++seed) {
    Rng rng(seed * 131 + static_cast<uint64_t>(dag));
    const DrawOptions options{.uneven = 0.3};
    const auto first = random_schedule(all[seed % all.size()], target, options, rng);
    if (!first) continue;
    const auto program = Program::make(sample.dag, first->steps());
    if (!program) {
      QVERIFY2(!lower::lower(*first, "f"), program.error().text().c_str());
      continue;
    }
    for (int k = 0; k < 8; ++k) {
      const auto s = k == 0 ? std::optional(*first) : other_numbers(*first, target, options, rng);
      if (!s) break;
      const std::vector<int64_t> numbers = numbers_of(s->steps());
      if (!program->covers(numbers)) continue;
      QCOMPARE(structure_of(s->steps()), structure_of(first->steps()));
      const auto e = program->evaluate(numbers);
      QVERIFY2(e, e ? "" : e.error().text().c_str());
      ++points;
      const bool simple = !divides(*s);
      undivided += simple;
      const auto context = [&](const std::string& text) { return QString::fromStdString(fmt::format("seed {}: {}\n{}", seed, text, schedule::print_steps(*s))); };
      if (!e->exact) continue;
      exact += simple;
      const bool lowers = lower::lower(*s, "f").has_value() && check_limits(*s, target).has_value();
      const auto checked = program->check(*e, target);
      if (lowers != checked.has_value()) QFAIL(qPrintable(context(checked ? "found legal" : checked.error().text())));
      const lower::LoopExtents extents(*s);
      if (!extents.ok()) continue;
      for (size_t i = 0; i < s->stages().size(); ++i) {
        const schedule::Stage& st = s->stages()[i];
        if (!schedule::has_loops(st)) continue;
        const Program::Stage& stage = program->stages()[i];
        for (size_t l = 0; l < st.iters.size(); ++l) {
          const int64_t found = e->loops[static_cast<size_t>(stage.first_loop) + l], want = extents.of(static_cast<int>(i), st.iters[l]);
          if (found != want) QFAIL(qPrintable(context(fmt::format("loop {} of {}: {} instead of {}", l, st.op.name, found, want))));
        }
        int64_t bytes = st.op.output->dtype.bytes();
        for (const int64_t n : extents.region(static_cast<int>(i))) bytes *= n;
        QCOMPARE(e->stages[i].bytes, bytes);
        QCOMPARE(e->unroll[i], st.auto_unroll);
      }
    }
  }
  QVERIFY2(points >= 20, qPrintable(QString::number(points)));
  QVERIFY2(exact >= undivided * 8 / 10, qPrintable(QString("%1 of %2 exact").arg(exact).arg(undivided)));
}

/// c[i, j] = sum over k of a[i, k] w[k, j], tiled 8 x 8, the product computed in the inner of the outer loops of its copy.
void ProgramTest::aTiledProductByHand() {
  schedule::Builder b(tw::testing::dags::matmul(64, 64, 32));
  const int c = b.stage("matmul");
  const int cache = b.cache_write(c);
  const int out = cache + 1;
  const auto loops = b.loops(out);
  const auto i = b.split(out, loops[0], {8}), j = b.split(out, loops[1], {4});
  b.reorder(out, {i[0], j[0], i[1], j[1]});
  b.compute_at(cache, out, j[0]);
  const schedule::Schedule s = std::move(b).finish().value();
  const Program program = Program::make(s.dag(), s.steps()).value();
  QCOMPARE(numbers_of(s.steps()), (std::vector<int64_t>{8, 4}));
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{8, 4}, {16, 2}, {5, 64}}) {
    const Evaluated e = program.evaluate(std::vector<int64_t>{rows, columns}).value();
    QVERIFY(e.exact);
    const Evaluated::Stage& tile = e.stages[static_cast<size_t>(cache)];
    QCOMPARE((std::vector<int64_t>{tile.extents[0], tile.extents[1], tile.extents[2]}), (std::vector<int64_t>{rows, columns, 32}));
    QCOMPARE(tile.bytes, 4 * rows * columns);
    // Rows of the tile: those of its place, then its own loop.
    QCOMPARE(tile.values[0].terms.size(), size_t{2});
    QCOMPARE(tile.values[0].terms[0].coeff, rows);
  }
  QVERIFY(!program.evaluate(std::vector<int64_t>{0, 4}));
}

void ProgramTest::structures() {
  const auto dag = tw::testing::dags::matmul(64, 64, 32);
  const auto with = [&](int64_t length, int iter) { return std::vector<schedule::Step>{schedule::SplitStep{2, iter, 64, {length}}}; };
  QCOMPARE(structure_of(with(8, 0)), structure_of(with(4, 0)));
  QVERIFY(structure_of(with(8, 0)) != structure_of(with(8, 1)));
  QVERIFY(structure_of(with(8, 0)) != structure_of(std::vector<schedule::Step>{schedule::SplitStep{2, 0, 64, {8}}, schedule::ComputeRootStep{2}}));
}

/// A length that became the extent of an axis stays what it was.
void ProgramTest::numbersOfPartialSums() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {16, 64}, kFloat32);
  const te::Tensor y = b.reduce("y", {16}, {64}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]); });
  schedule::Builder builder(std::move(b).finish({y}));
  const auto parts = builder.split(1, builder.loops(1)[1], {8});
  const int rf = builder.rfactor(1, parts[1], 1);
  builder.split(rf, builder.loops(rf)[0], {4});
  const schedule::Schedule s = std::move(builder).finish().value();
  const Program program = Program::make(s.dag(), s.steps()).value();
  QVERIFY(program.covers(std::vector<int64_t>{8, 2}));
  QVERIFY(!program.covers(std::vector<int64_t>{4, 2}));
  QVERIFY(!program.covers(std::vector<int64_t>{8}));
}

QTEST_APPLESS_MAIN(ProgramTest)
#include "program_test.moc"
