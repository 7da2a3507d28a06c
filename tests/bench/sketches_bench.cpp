// SPDX-License-Identifier: Apache-2.0
// Schedules of sketches: how many one core draws, changes, tells apart and describes in a second, what one round of breeding costs, and one step of gradient descent.
//   sketches_bench [--target llvm|cuda:a100] [--draws 400] [--population 2048] [--generations 4] [--threads 2] [--feature ansor]
#include "engine/base/rng.h"
#include "engine/cost/descent_program.h"
#include "engine/cost/draft/draft.h"
#include "engine/cost/mlp.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/program.h"
#include "engine/tune/population.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

te::DagPtr conv_dag() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 64, 56, 56}, kFloat32), w = b.placeholder("w", {64, 64, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor bias = b.placeholder("bias", {64}, kFloat32, te::Role::constant);
  const te::Tensor p = b.compute(
      "pad", {1, 64, 58, 58},
      [&](const te::Indices& i) {
        const ir::Expr inside = (ir::index(1) <= i[2] && i[2] < ir::index(57)) && (ir::index(1) <= i[3] && i[3] < ir::index(57));
        return ir::select(inside, x(i[0], i[1], i[2] - 1, i[3] - 1), ir::fimm(kFloat32, 0));
      },
      "pad");
  const te::Tensor c = b.reduce(
      "conv2d", {1, 64, 56, 56}, {64, 3, 3}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return p(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
  const te::Tensor y = b.compute("bias_relu", {1, 64, 56, 56}, [&](const te::Indices& i) { return ir::max(c.at(i) + bias(i[1]), ir::fimm(kFloat32, 0)); });
  return std::move(b).finish({y});
}

te::DagPtr dense_dag() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {128, 768}, kFloat32), w = b.placeholder("w", {3072, 768}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {128, 3072}, {768}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({y});
}

/// How often `f` ran in a second of one core.
template <class F>
double per_second(size_t count, F&& f) {
  return static_cast<double>(count) / bench::seconds_of([&] {
           for (size_t i = 0; i < count; ++i) f(i);
         });
}

/// One step of gradient descent: features of 64 seeds of every sketch, a network of 237,000 weights with its derivatives, and those by the seeds' exponents.
void descend(std::span<const space::Sketch> sketches, const Target& target, WorkerPool& workers) {
  constexpr size_t kAll = 64, kSeeds = 32, kSteps = 20;  // seeds as many at a time as the tuner has
  struct Part {
    const cost::DescentProgram& program;
    std::vector<double> x, gradient;
    cost::DescentProgram::Pass pass = {};
  };
  std::vector<cost::DescentProgram> programs;
  for (const space::Sketch& sketch : sketches)
    if (auto open = space::open_schedule(sketch, target)) programs.push_back(bench::need(cost::DescentProgram::make(*std::move(open), target)));
  std::vector<Part> parts;
  Rng rng(1);
  for (size_t k = 0; k < programs.size() * (kAll / kSeeds); ++k) {
    Part& part = parts.emplace_back(Part{programs[k / (kAll / kSeeds)], {}, {}});
    part.x.resize(kSeeds * part.program.variables().size());
    part.gradient.resize(part.x.size());
    for (double& x : part.x) x = rng.uniform_real();
  }
  const cost::Mlp network(learner::felix(), learner::felix().initial(1));
  const auto step = [&](bool with_network) {
    workers.run(parts.size(), [&](size_t k) {
      Part& part = parts[k];
      part.program.forward(part.x, kSeeds, part.pass);
      std::vector<float> slopes(part.pass.features.size(), 1.0F);
      if (with_network) slopes = network.scored(part.program.matrix(part.pass)).gradient;
      part.program.backward(part.pass, slopes, std::vector<double>(kSeeds * part.program.constraints().size(), 1.0), part.gradient);
    });
  };
  step(true);
  const double formulas = bench::seconds_of([&] {
               for (size_t k = 0; k < kSteps; ++k) step(false);
             }) / kSteps;
  const double both = bench::seconds_of([&] {
                        for (size_t k = 0; k < kSteps; ++k) step(true);
                      }) / kSteps;
  std::printf("  a step of descent, %zu seeds of %zu of %zu sketches: %.2f ms on %d threads, formulas alone %.2f ms, limit 5 ms: %.2f of it\n", kAll, programs.size(), sketches.size(),
              1e3 * both, workers.threads(), 1e3 * formulas, both / 5e-3);
}

void measure(const char* name, const te::DagPtr& dag, const Target& target, const bench::Options& options) {
  const std::vector<space::Sketch> sketches = space::sketches(dag, target);
  const space::DrawOptions draw;
  const auto draws = static_cast<size_t>(options.integer("draws", 400));
  std::vector<schedule::Schedule> drawn;
  Rng rng(1);
  const double draws_s = per_second(draws, [&](size_t i) {
    if (auto s = space::random_schedule(sketches[i % sketches.size()], target, draw, rng)) drawn.push_back(*std::move(s));
  });
  size_t changed = 0;
  const double changes_s = per_second(draws, [&](size_t i) {
    changed += space::random_mutation(target, rng).apply({dag, drawn[i % drawn.size()].steps(), target, draw, rng}).has_value();
  });
  const double limits_s = per_second(drawn.size(), [&](size_t i) { static_cast<void>(space::check_limits(drawn[i], target)); });
  uint64_t all = 0;
  const double fingerprints_s = per_second(drawn.size(), [&](size_t i) { all ^= schedule::fingerprint(drawn[i]); });
  const double replays_s = per_second(drawn.size(), [&](size_t i) { static_cast<void>(bench::need(schedule::Schedule::replay(dag, drawn[i].steps()))); });
  const space::Program program = bench::need(space::Program::make(dag, drawn.front().steps()));
  const std::vector<int64_t> numbers = space::numbers_of(drawn.front().steps());
  const double evaluations_s = per_second(10 * draws, [&](size_t) { static_cast<void>(program.check(bench::need(program.evaluate(numbers)), target)); });
  std::printf("%s on %s: program %.0f (limit 20000: %.1f of it)\n  ", name, target.str().c_str(), evaluations_s, evaluations_s / 20000);
  std::printf("%zu sketches, %zu of %zu draws, %zu of %zu changes, a second and core: draws %.0f, changes %.0f, replays %.0f, limits %.0f, fingerprints %.0f",
              sketches.size(), drawn.size(), draws, changed, draws, draws_s, changes_s, replays_s, limits_s, fingerprints_s);
  for (const cost::FeatureDef& f : cost::features())
    if (f.rows_per == cost::RowsPer::store)
      std::printf(", %s %.0f", f.name, per_second(drawn.size(), [&](size_t i) {
                    static_cast<void>(f.extract({.dag = dag, .target = target, .steps = &drawn[i].steps()}));
                  }));
  const double described_s = per_second(draws, [&](size_t) { static_cast<void>(cost::find_feature("ansor")->of_program(program, bench::need(program.evaluate(numbers)), target)); });
  std::printf("\n  ansor by lowering: limit 2000; by the program %.0f (limit 10000: %.1f of it)\n", described_s, described_s / 10000);
  const double drafted_s = per_second(draws, [&](size_t) {
    static_cast<void>(cost::draft_score(cost::symbol_program(program, bench::need(program.evaluate(numbers)), target).values, nullptr));
  });
  std::printf("  drafts %.0f (limit 20000: %.1f of it)\n", drafted_s, drafted_s / 20000);

  const records::Task task = records::make_task(name, dag, target);
  WorkerPool workers(static_cast<int>(options.integer("threads", 2)));
  tune::Population population(task, sketches, draw, workers, {});
  const cost::FeatureDef& feature = *cost::find_feature(options.text("feature", "ansor"));
  const tune::BreedOptions breed{static_cast<int>(options.integer("population", 2048)), static_cast<int>(options.integer("generations", 4))};
  size_t scored = 0;
  const double round_s = bench::seconds_of([&] {
    population.evolve(
        population.draw(breed.population, false, rng), 128, breed,
        [&](std::span<tune::Member> members) {
          const auto rows = population.rows(feature, members);
          for (size_t i = 0; i < members.size(); ++i) members[i].score = rows[i] == nullptr ? std::numeric_limits<float>::lowest() : rows[i]->values.front();
          scored += members.size();
        },
        {}, rng);
  });
  std::printf("  a round of %d x %d: %.2f s on %d threads, %zu schedules scored, limit 3 s: %.2f of it\n", breed.population, breed.generations, round_s, workers.threads(),
              scored, round_s / 3);
  descend(sketches, target, workers);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const std::string only = options.text("target", "");
  for (const char* text : {"llvm", "cuda:a100"}) {
    if (!only.empty() && only != text) continue;
    const Target target = bench::need(parse_target(text));
    measure("conv2d", conv_dag(), target, options);
    measure("dense", dense_dag(), target, options);
  }
}
