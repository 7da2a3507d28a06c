// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/base/json.h"
#include "engine/lower/loop_nest.h"
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;

class StepTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void everyPrimitiveIsWhole();
  void everyPrimitiveIsApplied();
  void textsOfSteps_data();
  void textsOfSteps();
  void refusesMalformedSteps_data();
  void refusesMalformedSteps();
  void replayGivesTheSameStages();
  void errorsNameTheStep();
};

/// Of each row of the table: a code and words of its own, and random steps, legal or not, whose JSON has that code and gives them back.
void StepTest::everyPrimitiveIsWhole() {
  QCOMPARE(schedule::primitives().size(), std::variant_size_v<schedule::Step>);
  std::set<std::string> codes, words;
  const schedule::Schedule s(testing::sample_dags()[1].dag);
  size_t kind = 0;
  for (const schedule::Primitive* p : schedule::primitives()) {
    QVERIFY(codes.insert(p->code).second);
    QVERIFY(!p->words.empty() && p->share > 0);
    for (const schedule::StepWord& w : p->words) {
      QVERIFY2(words.insert(w.word).second, w.word);
      QVERIFY2(std::string_view(w.help).ends_with('.') && std::string_view(w.source).size() > 3, w.word);
    }
    Rng rng(kind);
    for (int k = 0; k < 100; ++k) {
      const schedule::Step step = p->random({s, rng, static_cast<int>(rng.uniform(s.stages().size()))});
      QCOMPARE(step.index(), kind);
      const std::string text = schedule::json_text({step});
      QVERIFY2(text.starts_with("[[\"" + std::string(p->code) + "\","), text.c_str());
      const auto back = schedule::steps_from_json(*parse_json(text));
      QVERIFY2(back, back ? "" : back.error().text().c_str());
      QVERIFY2(back->size() == 1 && back->front() == step, text.c_str());
    }
    ++kind;
  }
}

/// What is printed of a step begins with one of its words: the one that is explained.
void StepTest::everyPrimitiveIsApplied() {
  std::set<std::string> words;
  const auto look = [&](const schedule::Schedule& s) -> std::string {
    schedule::Schedule at(s.dag());
    for (const schedule::Step& step : s.steps()) {
      const std::string text = schedule::describe(step, at), word = schedule::word_of(step).word;
      if (!text.starts_with(word + "(")) return text + " does not begin with " + word;
      words.insert(word);
      at = *at.apply(step);
    }
    return "";
  };
  for (const auto& sample : testing::sample_dags())
    for (int seed = 0; seed < 40; ++seed) {
      Rng rng(static_cast<uint64_t>(seed));
      QCOMPARE(look(testing::random_schedule(sample.dag, rng, 20)), std::string());
    }
  for (const testing::GpuSchedule& g : testing::gpu_schedules()) QCOMPARE(look(g.schedule), std::string());
  size_t all = 0;
  for (const schedule::Primitive* p : schedule::primitives()) all += p->words.size();
  QCOMPARE(words.size(), all);
}

/// The form in which records keep steps, and the words; neither may change.
void StepTest::textsOfSteps_data() {
  using namespace schedule;
  QTest::addColumn<QString>("steps");
  QTest::addColumn<QString>("words");
  const auto add = [](const char* json, const char* words) { QTest::newRow(words) << json << words; };
  add("[[\"SP\",2,0,7,[4,2],1]]", "split(dense, i, factors=[4, 2])");
  add("[[\"SP\",2,0,7,[4,2],0]]", "split(dense, i, parts=[4, 2])");
  add("[[\"FU\",2,[]]]", "fuse(dense, nothing)");
  add("[[\"FSP\",2,0,3,2]]", "follow_split(dense, i, step=3, lengths=2)");
  add("[[\"FFSP\",2,0,[3,1],1,1]]", "follow_fused_split(dense, i, steps=[3, 1], level=1, factor)");
  add("[[\"FFSP\",2,0,[3],0,0]]", "follow_fused_split(dense, i, steps=[3], level=0, parts)");
  add("[[\"PR\",2,0,\"auto_unroll_max_step$16\"]]", "auto_unroll(dense, 16)");
  add("[[\"FU\",2,[0,1]]]", "fuse(dense, i, j)");
  add("[[\"RE\",2,[2,0,1]]]", "reorder(dense, r0, i, j)");
  add("[[\"AN\",2,0,3]]", "parallel(dense, i)");
  add("[[\"AN\",2,1,2]]", "vectorize(dense, j)");
  add("[[\"AN\",2,0,1]]", "unroll(dense, i)");
  add("[[\"AN\",2,0,12]]", "unroll_explicit(dense, i)");
  add("[[\"AN\",2,0,6]]", "bind(dense, i, threadIdx.x)");
  add("[[\"CA\",2,3,1]]", "compute_at(dense, relu, j)");
  add("[[\"CI\",2]]", "compute_inline(dense)");
  add("[[\"CR\",2]]", "compute_root(dense)");
  add("[[\"CHR\",0,\"shared\",[2]]]", "cache_read(x, \"shared\")");
  add("[[\"CHW\",2,\"local\"]]", "cache_write(dense, \"local\")");
  add("[[\"LT\",1,[[0,0],[1,0],[0,16]]]]", "layout(w, [d0][d1][d0: 16])");
  add("[[\"RF\",2,2,1]]", "rfactor(dense, r0, axis=1)");
  add("[[\"SA\",2,0,16,4]]", "storage_align(dense, i, factor=16, offset=4)");
  add("[[\"PD\",2,1,4]]", "pad(dense, j, 4)");
  add("[[\"DB\",2]]", "double_buffer(dense)");
  add("[[\"WG\",2,4]]", "winograd(dense, tile=4)");
  add("[[\"WG\",2,4,1]]", "winograd(dense, tile=4, flat)");
  add("[[\"PL\",2,3]]", "pipeline(dense, arrays=3)");
  add("[[\"TS\",2,0]]", "tensorize(dense, i)");
  add("[[\"IM\",2]]", "im2col(dense)");
  add("[[\"IM\",2,2,8,16,4]]", "im2col(dense, r0, pixels=8, filters=16, terms=4)");
}
void StepTest::textsOfSteps() {
  QFETCH(QString, steps);
  QFETCH(QString, words);
  const auto read = schedule::steps_from_json(*parse_json(steps.toStdString()));
  QVERIFY2(read, read ? "" : read.error().text().c_str());
  QCOMPARE(QString::fromStdString(schedule::json_text(*read)), steps);
  QCOMPARE(QString::fromStdString(schedule::describe(read->front(), schedule::Schedule(testing::sample_dags().front().dag))), words);
}

void StepTest::refusesMalformedSteps_data() {
  QTest::addColumn<QString>("text");
  for (const char* t : {"3", "{}", "[]", "[\"SP\"]", "[\"FSP\", 0, 0]", "[\"FFSP\", 0, 0, 1, 0, 1]", "[\"PR\", 0, 0, 3]", "[\"XX\", 0]", "[\"AN\", 0, 0, 11]", "[\"RF\", 0]", "[\"SA\", 0, 0, 4]",
                        "[\"SP\", \"a\", 0, 8, [2], 1]", "[\"LT\", 0, [[0]]]", "[\"RE\", 0, 7]", "[\"PL\", 0]", "[\"TS\", 0]", "[\"IM\"]"})
    QTest::newRow(t) << t;
}
void StepTest::refusesMalformedSteps() {
  QFETCH(QString, text);
  const auto step = schedule::step_from_json(*parse_json(text.toStdString()));
  QVERIFY(!step);
  QVERIFY(step.error().message.starts_with("Expected"));
}

void StepTest::replayGivesTheSameStages() {
  for (const auto& sample : testing::sample_dags()) {
    Rng rng(7);
    const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 30);
    const auto again = schedule::Schedule::replay(sample.dag, s.steps());
    QVERIFY(again);
    QCOMPARE(lower::print_loops(*again).text, lower::print_loops(s).text);
    QCOMPARE(QString::fromStdString(schedule::print_steps(s)).count('\n'), static_cast<int>(s.steps().size()));
  }
}

void StepTest::errorsNameTheStep() {
  const auto dag = testing::sample_dags().front().dag;
  const auto r = schedule::Schedule::replay(
      dag, {schedule::AnnotationStep{2, 0, schedule::Annotation::parallel}, schedule::AnnotationStep{2, 2, schedule::Annotation::parallel}});
  QVERIFY(!r);
  QCOMPARE(r.error().code, ErrorCode::illegal_schedule);
  QVERIFY(r.error().text().find("schedule step 1") != std::string::npos);
  QVERIFY(r.error().text().find("reduction loop") != std::string::npos);
}

QTEST_APPLESS_MAIN(StepTest)
#include "step_test.moc"
