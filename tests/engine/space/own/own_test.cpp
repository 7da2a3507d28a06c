// SPDX-License-Identifier: Apache-2.0
#include "engine/space/own/own.h"

#include <fmt/format.h>

#include <QtTest>

#include "engine/ir/lexer.h"
#include "engine/space/own/operators.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space;

/// Texts with schedules: every bundled operator computes what it says at any point, knobs enumerate as AutoTVM's, and whatever is wrong is said in its place.
class OwnTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void operators_compute_what_they_say_data();
  void operators_compute_what_they_say();
  void operators_take_types_and_sizes();
  void knobs_are_those_of_autotvm();
  void conditions_and_factors();
  void one_row_serves_every_text();
  void comments_are_no_part_of_a_task();
  void starts_are_the_untuned_point();
  void mistakes_are_said_in_place_data();
  void mistakes_are_said_in_place();
  void spaces_are_bounded();
  void gpus_take_bound_loops();
  void damaged_texts_are_refused_or_run();
};

namespace {

const std::string kMatmul =
    "param M = 12\n"
    "A: float32[M, 20] = placeholder()\n"
    "B: float32[20, 16] = placeholder()\n"
    "C: float32[M, 16] = sum(y, x, k=20)\n"
    "    A[y, k] * B[k, x]\n"
    "outputs(C)\n"
    "schedule\n";

const Target& processor() {
  static const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=2").value();
  return target;
}

/// Arguments that make an operator small enough to interpret at many points.
std::vector<int64_t> small(const std::string& name) {
  static const std::map<std::string, std::vector<int64_t>> kSmall = {{"matmul", {12, 16, 20}},     {"matmul_halide", {8, 32, 12}}, {"conv2d", {1, 4, 8, 8, 3, 1, 1}},
                                                                     {"depthwise", {1, 4, 8}},     {"batch_matmul", {2, 8, 4, 16}}, {"softmax", {8, 32}},
                                                                     {"stencil", {12, 16}},        {"prefix_sum", {4, 4, 16}}};
  const auto it = kSmall.find(name);
  return it == kSmall.end() ? std::vector<int64_t>() : it->second;
}

std::string small_text(const own::Operator& op) { return te::with_args(op.text, small(op.name), std::nullopt).value(); }

}  // namespace

void OwnTest::operators_compute_what_they_say_data() {
  QTest::addColumn<QString>("name");
  for (const own::Operator& op : own::operators()) QTest::newRow(op.name) << QString(op.name);
}

void OwnTest::operators_compute_what_they_say() {
  QFETCH(QString, name);
  const own::Operator* op = own::find_operator(name.toStdString());
  QVERIFY(op);
  QVERIFY2(te::leading_comment(op->text).size() > 80, "an operator begins with a comment that explains it");
  const std::string text = small_text(*op);
  const auto checked = own::check(text, processor());
  QVERIFY2(checked.has_value(), checked ? "" : checked.error().text().c_str());
  QVERIFY(checked->built > 0);
  QCOMPARE(checked->space.knobs().empty(), false);
  for (const Knob& knob : checked->space.knobs()) QVERIFY2(!knob.help.empty(), knob.name.c_str());
  QVERIFY2(checked->built == checked->looked, checked->refused ? checked->refused->text().c_str() : "");
  const std::string problem = space::testing::problem_of_points(own::row(), checked->dag, processor(), 12);
  QVERIFY2(problem.empty(), problem.c_str());
}

void OwnTest::operators_take_types_and_sizes() {
  for (const own::Operator& op : own::operators()) {
    const auto whole = own::check(op.text, processor());
    QVERIFY2(whole.has_value(), whole ? "" : (op.name + (": " + whole.error().text())).c_str());
    const auto halves = te::with_args(op.text, {}, kFloat64);
    QVERIFY2(halves.has_value(), halves ? "" : halves.error().text().c_str());
    QCOMPARE((*te::parse_dag(*halves))->ops.back().output->dtype, kFloat64);
  }
  const auto conv = te::with_args(own::find_operator("conv2d")->text, std::vector<int64_t>{1, 3, 32, 16, 3, 2, 1}, std::nullopt);
  QVERIFY(conv.has_value());
  QCOMPARE((*te::parse_dag(*conv))->ops.back().output->shape, (std::vector<int64_t>{1, 16, 16, 16}));
  const auto many = te::with_args(own::find_operator("softmax")->text, std::vector<int64_t>{1, 2, 3}, std::nullopt);
  QVERIFY(!many);
  QCOMPARE(QString::fromStdString(many.error().message), QString("Expected at most 2 arguments (M, N), found 3"));
}

void OwnTest::knobs_are_those_of_autotvm() {
  const std::string text = kMatmul +
                           "define_split(a, 8, num_outputs=3)\n"
                           "define_split(b, C.y, policy=power2)\n"
                           "define_split(c, 12, candidate=[[-1, 3], [2, 6]], help=\"two ways\")\n"
                           "define_reorder(d, [p, q, r], policy=all)\n"
                           "define_reorder(e, [p, q, r, s], policy=interval_all, interval=[1, 3])\n"
                           "define_annotate(f, [p, q], policy=try_unroll_vec)\n"
                           "define_knob(g, [0, True, \"word\"])\n";
  const auto script = own::parse_script(text);
  QVERIFY2(script.has_value(), script ? "" : script.error().text().c_str());
  const ConfigSpace space = own::space_of(*script).value();
  ConfigSpace want;
  want.define_split("a", 8, {.num_outputs = 3});
  want.define_split("b", 12, {.num_outputs = 2, .policy = "power2"});
  want.define_split("c", 12, {.num_outputs = 2, .policy = "candidate", .candidates = {{-1, 3}, {2, 6}}});
  want.define_reorder("d", 3, "all");
  want.define_reorder("e", 4, ReorderOptions{.policy = "interval_all", .begin = 1, .end = 3});
  want.define_annotate("f", 2, "try_unroll_vec");
  want.define_knob("g", {0, 1, "word"});
  QCOMPARE(space.size(), want.size());
  for (const int64_t i : {int64_t{0}, int64_t{1}, int64_t{137}, space.size() / 2, space.size() - 1})
    QCOMPARE(QString::fromStdString(space.get(i)->text()), QString::fromStdString(want.get(i)->text()));
  QCOMPARE(space.knobs()[2].help, std::string("two ways"));
  QCOMPARE(space.knobs()[3].axes, (std::vector<std::string>{"p", "q", "r"}));
}

void OwnTest::conditions_and_factors() {
  const std::string text = kMatmul +
                           "define_split(t, C.x)\n"
                           "define_knob(v, [0, 1])\n"
                           "require(t[1] >= 4 and not (v == 1 and t[1] > M - 4), \"too wide\")\n"
                           "xo, xi = split(C.x, t)\n"
                           "reorder(xo, C.k, xi)\n"
                           "vectorize(xi) if v == 1 or t[0] * 2 == t[1] // 2\n";
  const auto c = own::check(text, processor());
  QVERIFY2(c.has_value(), c ? "" : c.error().text().c_str());
  int marked = 0, kept = 0;
  for (int64_t i = 0; i < c->space.size(); ++i) {
    const ConfigEntity e = c->space.get(i).value();
    const int64_t t0 = e.split("t")[0], t1 = e.split("t")[1], v = e.integer("v");
    const bool want = t1 >= 4 && !(v == 1 && t1 > 12 - 4);
    QCOMPARE(c->space.filtered_reason(e), std::string(want ? "" : "too wide"));
    kept += want;
    const auto s = own::row().apply(c->dag, processor(), e);
    QVERIFY(s.has_value());
    const bool vector = s->stages().back().iters.back().annotation == schedule::Annotation::vectorize;
    QCOMPARE(vector, v == 1 || t0 * 2 == t1 / 2);
    marked += vector;
    QCOMPARE(s->stages().back().iters.size(), size_t{4});
    QCOMPARE(s->stages().back().iters.back().extent, t1);
  }
  QVERIFY(marked > 0 && kept > 0 && kept < c->space.size());
}

void OwnTest::one_row_serves_every_text() {
  const std::string text = small_text(*own::find_operator("matmul"));
  const te::DagPtr dag = te::parse_dag(text).value();
  QVERIFY(own::row().matches(*dag, processor()));
  QCOMPARE(alternatives(*dag, processor()).size(), size_t{1});
  QCOMPARE(find_template(*dag, processor(), "own"), &own::row());
  QCOMPARE(te::print(*dag), text);  // what is sent and stored is what was written
  te::Dag plain = *dag;
  plain.source.clear();
  QVERIFY(!own::row().matches(plain, processor()));
  QVERIFY(find_template(plain, processor(), "own") == nullptr);
  QVERIFY(te::structural_key(plain) != te::structural_key(*dag));
  // A computation without a schedule is the task that a network may have too.
  const std::string bare = text.substr(0, text.find("schedule\n"));
  QCOMPARE(te::structural_key(**te::parse_dag(bare)), te::structural_key(plain));
}

void OwnTest::comments_are_no_part_of_a_task() {
  const std::string text = kMatmul + "vectorize(C.x)\n";
  const std::string noted = "# a note\n" + kMatmul + "# another\nvectorize( C.x )   # why\n";
  QCOMPARE(te::structural_key(**te::parse_dag(noted)), te::structural_key(**te::parse_dag(text)));
  QVERIFY(te::structural_key(**te::parse_dag(kMatmul + "unroll(C.x)\n")) != te::structural_key(**te::parse_dag(text)));
}

void OwnTest::starts_are_the_untuned_point() {
  const std::string text = kMatmul + "define_split(t, C.x)\ndefine_reorder(r, [C.y, C.k], policy=all)\nstart(t=[-1, 8], r=[C.k, C.y])\nxo, xi = split(C.x, t)\nreorder(r)\n";
  const te::DagPtr dag = te::parse_dag(text).value();
  const ConfigEntity start = own::row().fallback(*dag, processor());
  QVERIFY(start.index() >= 0);
  QCOMPARE(start.split("t"), (std::vector<int64_t>{2, 8}));
  QCOMPARE(start.reorder("r"), (std::vector<int>{1, 0}));
  QVERIFY(default_schedule(dag, processor()).steps() == own::row().apply(dag, processor(), start)->steps());
  // A start fits other shapes: the largest factors up to those named.
  const std::string other = kMatmul + "define_split(t, C.y)\nstart(t=[-1, 8])\nyo, yi = split(C.y, t)\n";
  QCOMPARE(own::row().fallback(**te::parse_dag(other), processor()).split("t"), (std::vector<int64_t>{2, 6}));
  QCOMPARE(own::row().fallback(**te::parse_dag(kMatmul + "vectorize(C.x)\n"), processor()).index(), int64_t{-1});
}

void OwnTest::mistakes_are_said_in_place_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("line");
  QTest::addColumn<int>("column");
  QTest::addColumn<QString>("says");
  auto row = [n = 0](const std::string& text, int line, int column, const char* says) mutable {
    QTest::newRow(("case " + std::to_string(++n)).c_str()) << QString::fromStdString(text) << line << column << QString(says);
  };
  const std::string& m = kMatmul;
  row("A: float32[4 = placeholder()\n", 1, 14, "Expected ']', found '='");
  row("A: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    A[i + 1]\noutputs(B)\n", 2, 1, "Expected index 1 of 'A' from 0 to 3");
  row("A: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    select(i < 3, A[i + 1], A[i])\noutputs(B)\n", 0, 0, "");
  row("A: float32[4] = placeholder()\nU: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    A[i]\noutputs(B)\n", 2, 1, "a placeholder that something reads");
  row("A: float32[4] = placeholder(constant)\nB: float32[4] = compute(i)\n    A[i]\noutputs(B)\n", 1, 1, "gets all of its arrays");
  row("A: int32[4] = placeholder()\nB: float32[4] = compute(i)\n    A[i]\noutputs(B)\n", 2, 1, "Expected a body of type float32, found int32");
  row("param N = 4\nparam N = 5\n", 2, 7, "found 'N' again");
  row("param float32 = 4\n", 1, 7, "which has a meaning");
  row(m + "vectorise(C.x)\n", 8, 1, "found 'vectorise'");
  row(m + "vectorize(C.z)\n", 8, 11, "Expected a loop of 'C' (y, x, k), found 'z'");
  row(m + "vectorize(xi)\n", 8, 11, "found 'xi'");
  row(m + "vectorize(C.x, )\n", 8, 16, "Expected a value");
  row(m + "a, b = split(C.x, 0)\n", 8, 19, "Expected a length from 1");
  row(m + "a, b, c = split(C.x, 4)\n", 8, 11, "Expected 2 names for 2 loops, found 3");
  row(m + "a, b = split(C.x, 4)\nc, d = split(C.x, 2)\n", 9, 14, "Expected a loop of 'C' (y, x_0, x_1, k), found 'x'");
  row(m + "a, b = split(C.x, 4)\nc = fuse(a, b)\nvectorize(b)\n", 10, 11, "found 'b', which a step before this one split, fused");
  row(m + "a = fuse(C.y, C.k)\n", 8, 5, "");
  row(m + "define_split(t, C.w)\n", 8, 17, "Expected an extent, or an axis as C.y, C.x, C.k, found 'C.w'");
  row(m + "define_split(t, C.x, num_output=3)\n", 8, 33, "found 'num_output'");
  row(m + "define_split(t, C.x, policy=all)\n", 8, 29, "Expected the policy factors, power2, verbose or candidate, found 'all'");
  row(m + "define_split(t, C.x)\ndefine_split(t, C.y)\n", 9, 1, "found knob 't' again");
  row(m + "define_reorder(r, [a, a], policy=all)\n", 8, 23, "found 'a' again");
  row(m + "define_annotate(r, [a], policy=try_vex)\n", 8, 32, "found 'try_vex'");
  row(m + "define_knob(r, [])\n", 8, 16, "Expected values in brackets");
  row(m + "define_knob(r, [1])\nx = define_knob(s, [1])\n", 9, 5, "by itself");
  row(m + "define_knob(r, [1])\nunroll(C.k) if s == 1\n", 9, 16, "found 's'");
  row(m + "define_knob(r, [\"a\"])\nunroll(C.k) if r == 1\n", 9, 16, "whose values are numbers");
  row(m + "define_split(t, C.x)\nunroll(C.k) if t[2] == 1\n", 9, 16, "from 0 to 1, found 2");
  row(m + "define_split(t, C.x)\nrequire(t[1] > 99, \"never\")\n", 9, 1, "Expected requirements that some points meet");
  row(m + "define_split(t, C.x)\nstart(t=[-1, 3, 4])\n", 9, 9, "Expected a value of knob 't'");
  row(m + "define_knob(v, [1, 2])\nstart(v=3)\n", 9, 1, "has no candidate");
  row(m + "define_split(t, C.x)\nstart(s=[-1, 4])\n", 9, 9, "no knob 's'");
  row(m + "bind(C.x, threadIdx.w)\n", 8, 11, "found 'threadIdx.w'");
  row(m + "compute_inline(C)\n", 8, 1, "");
  row(m + "unroll(C.x) if 1 // 0\n", 8, 18, "Expected a divisor, found 0");
  row(m + "unroll(" + std::string(60, '(') + "C.x\n", 8, 40, "levels of nesting");
}

void OwnTest::mistakes_are_said_in_place() {
  QFETCH(QString, text);
  QFETCH(int, line);
  QFETCH(int, column);
  QFETCH(QString, says);
  const auto c = own::check(text.toStdString(), processor());
  QCOMPARE(c.has_value(), line == 0);
  if (c) return;
  const QString message = QString::fromStdString(c.error().text());
  QVERIFY2(message.contains(says), qPrintable(message));
  const auto place = ir::place_of(c.error());
  QVERIFY2(place.has_value(), qPrintable(message));
  QVERIFY2(place->line == line && place->column == column, qPrintable(message));
}

void OwnTest::spaces_are_bounded() {
  const auto refused = [](const std::string& text) {
    const auto c = own::check(kMatmul + text, processor());
    return c ? QString() : QString::fromStdString(c.error().message);
  };
  QVERIFY(refused("define_split(t, 1073741824, num_outputs=6, policy=verbose)\n").contains("at most 65536 candidates"));
  QVERIFY(refused("define_reorder(t, [a, b, c, d, e, f, g, h, i], policy=all)\n").contains("at most 8 loops"));
  QVERIFY(refused("define_knob(t, [99999999999])\n").contains("Expected numbers up to"));
  std::string many;
  for (int i = 0; i < 20; ++i) many += fmt::format("define_reorder(k{}, [a, b, c, d, e, f], policy=all)\n", i);
  QVERIFY(refused(many).contains("at most 2^53 points"));
  std::string steps;
  for (int i = 0; i < 600; ++i) steps += "unroll(C.k)\n";
  QVERIFY(refused(steps).contains("at most 512 statements"));
  QVERIFY(!own::check(std::string(1 << 17, '#') + "\n" + kMatmul, processor()).has_value());
}

void OwnTest::gpus_take_bound_loops() {
  const Target gpu = parse_target("cuda:a100").value();
  const std::string text = kMatmul +
                           "define_split(ty, C.y)\ndefine_split(tx, C.x)\ndefine_annotate(b, [yo, xo, yi, xi], policy=bind_gpu)\n"
                           "yo, yi = split(C.y, ty)\nxo, xi = split(C.x, tx)\nreorder(yo, xo, yi, xi, C.k)\nannotate(b)\n";
  const auto c = own::check(text, gpu);
  QVERIFY2(c.has_value(), c ? "" : c.error().text().c_str());
  QCOMPARE(QString::fromStdString(space::testing::problem_of_points(own::row(), c->dag, gpu, 6, 1)), QString());
}

/// Texts with something cut, doubled, swapped or changed: refused with a sentence, or a task whose points can be looked at.
void OwnTest::damaged_texts_are_refused_or_run() {
  Rng rng(7);
  static constexpr std::string_view kBytes = "()[],.=*/%<>#\"_ CAxyk019\n";
  int refused = 0;
  std::vector<std::string> texts;
  for (const own::Operator& op : own::operators()) texts.push_back(small_text(op));
  for (int n = 0; n < 1500; ++n) {
    std::string t = texts[rng.uniform(texts.size())];
    const std::string other = texts[rng.uniform(texts.size())];
    for (uint64_t k = 0; k <= rng.uniform(3); ++k) {
      const size_t at = rng.uniform(t.size()), length = rng.uniform(12);
      switch (rng.uniform(4)) {
        case 0:
          t[at] = kBytes[rng.uniform(kBytes.size())];
          break;
        case 1:
          t.erase(at, length);
          break;
        case 2:
          t.insert(at, other.substr(rng.uniform(other.size()), length));
          break;
        default:
          t.insert(at, t.substr(at, length * 4));
      }
    }
    const auto c = own::check(t, processor());
    if (c) continue;
    ++refused;
    QVERIFY2(!c.error().message.empty() && c.error().code != ErrorCode::internal, (t + "\n" + c.error().text()).c_str());
  }
  QVERIFY(refused > 300 && refused < 1500);
}

QTEST_APPLESS_MAIN(OwnTest)
#include "own_test.moc"
