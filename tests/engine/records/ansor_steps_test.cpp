// SPDX-License-Identifier: Apache-2.0
#include "engine/records/ansor_steps.h"

#include <fmt/format.h>

#include <QtTest>
#include <map>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/lower/loop_nest.h"
#include "engine/lower/lower.h"
#include "engine/records/ansor_log.h"
#include "engine/records/topi.h"
#include "engine/schedule/fingerprint.h"
#include "tests/engine/lower/sample_dags.h"

using namespace tw;
using namespace tw::records;
using schedule::Schedule;
using schedule::Step;

namespace {

std::vector<AnsorRecord> published() {
  std::vector<AnsorRecord> out;
  for (const char* file : {"conv2d", "matmul", "sparse_dense", "resnet-50-NHWC-B1-llvm", "resnet-18-NHWC-B1-cuda"})
    for (AnsorRecord& r : read_ansor(read_file(std::string(TW_TESTS_DIR) + "/engine/records/ansor/" + file + ".json").value()).records) out.push_back(std::move(r));
  return out;
}

std::vector<Step> steps_of(const AnsorRecord& r) { return schedule::steps_from_json(*parse_json(r.record.candidate.config)).value(); }

/// Of keys that are functions' names, and of those whose text leaves something open, as TVM's tutorials define them; null for what is not known.
te::DagPtr definition(const AnsorRecord& r) {
  if (auto dag = topi_definition(r.workload_key)) return *dag;
  namespace dags = tw::testing::dags;
  te::DagBuilder b;
  if (r.workload_key.find("matmul_add") != std::string::npos) {
    const te::Tensor a = b.placeholder("a", {1024, 1024}, kFloat32), w = b.placeholder("b", {1024, 1024}, kFloat32);
    const te::Tensor p = dags::product(b, a, w), c = b.placeholder("c", {1024, 1024}, kFloat32);
    return std::move(b).finish({b.compute("out", {1024, 1024}, [&](const te::Indices& i) { return p.at(i) + c.at(i); })});
  }
  if (r.workload_key.find("conv2d_layer") != std::string::npos) {
    const te::Tensor x = b.placeholder("data", {1, 512, 7, 7}, kFloat32), w = b.placeholder("kernel", {512, 512, 3, 3}, kFloat32);
    const te::Tensor c = dags::conv2d(b, dags::pad(b, x, 1), w, 1), bias = b.placeholder("bias", {1, 512, 1, 1}, kFloat32);
    const te::Tensor a = b.compute("add", c.shape(), [&](const te::Indices& i) { return c.at(i) + bias(i[0], i[1], ir::index(0), ir::index(0)); });
    return std::move(b).finish({dags::relu(b, a)});
  }
  if (r.workload_key.find("a5612fdeb9db4d579a75ec225ea4c06a") != std::string::npos) {  // a window of three is not in the text
    const te::Tensor x = b.placeholder("x", {1, 112, 112, 64}, kFloat32);
    const te::Tensor p = b.compute("pad", {1, 114, 114, 64}, [&](const te::Indices& i) {
      const ir::Expr inside = ir::index(1) <= i[1] && i[1] < ir::index(113) && ir::index(1) <= i[2] && i[2] < ir::index(113);
      return ir::select(inside, x(i[0], i[1] - 1, i[2] - 1, i[3]), ir::fimm(kFloat32, -3.4e38));
    });
    const te::Tensor m = b.reduce("pool", {1, 56, 56, 64}, {3, 3}, te::Reducer::max,
                                  [&](const te::Indices& s, const te::Indices& k) { return p(s[0], s[1] * 2 + k[0], s[2] * 2 + k[1], s[3]); });
    const te::Tensor bias = b.placeholder("bias", {1, 1, 1, 64}, kFloat32);
    const te::Tensor a = b.compute("add", m.shape(), [&](const te::Indices& i) { return m.at(i) + bias(i[0], ir::index(0), ir::index(0), i[3]); });
    return std::move(b).finish({dags::relu(b, a)});
  }
  return nullptr;
}

}  // namespace

class AnsorStepsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyPublishedRecordIsRead();
  void theyReplayAndLower();
  void stagesAreNumberedAsInTvm();
  void numbersFollowInsertedStages();
  void whatTvmLacksIsNamed();
};

/// Codes as they were counted in the files, and each list as it was written.
void AnsorStepsTest::everyPublishedRecordIsRead() {
  const std::vector<AnsorRecord> all = published();
  QCOMPARE(all.size(), size_t{53});
  std::map<std::string, int> counts;
  for (const AnsorRecord& r : all) {
    const Json written = *parse_json(r.record.candidate.config);
    for (const Json& step : written) ++counts[step[0].get<std::string>()];
    QCOMPARE(schedule::to_json(steps_of(r)), written);
  }
  const std::map<std::string, int> expected{{"SP", 427}, {"AN", 413}, {"FU", 185}, {"FSP", 172}, {"CI", 122}, {"RE", 117}, {"CA", 107},
                                            {"PR", 81},  {"CHR", 44}, {"FFSP", 44}, {"CHW", 20},  {"CR", 5},   {"RF", 2}};
  QCOMPARE(counts, expected);
}

/// All but the one whose reduction has another length for each row: their steps are legal, lower for their targets, and go back to TVM's as they were.
void AnsorStepsTest::theyReplayAndLower() {
  int replayed = 0;
  for (const AnsorRecord& r : published()) {
    const te::DagPtr dag = definition(r);
    if (!dag) {
      QVERIFY2(r.workload_key.find("sparse_dense") != std::string::npos, r.workload_key.c_str());
      continue;
    }
    const std::vector<Step> theirs = steps_of(r);
    const auto ours = steps_from_ansor(dag, theirs);
    QVERIFY2(ours, ours ? "" : (r.workload_key + ": " + ours.error().text()).c_str());
    const Schedule s = Schedule::replay(dag, *ours).value();
    const Target target = r.target.starts_with("cuda") ? parse_target("cuda:a100").value() : parse_target("llvm -mcpu=x86-64-v3 -num-cores=8").value();
    const auto f = lower::lower_and_optimize(s, "f", target);
    QVERIFY2(f, f ? "" : (r.workload_key + ": " + f.error().text() + "\n" + schedule::print_steps(s)).c_str());
    const auto back = steps_to_ansor(dag, *ours);
    QVERIFY2(back && *back == theirs, r.workload_key.c_str());
    QCOMPARE(schedule::fingerprint(Schedule::replay(dag, steps_from_ansor(dag, *back).value()).value()), schedule::fingerprint(s));
    ++replayed;
  }
  QCOMPARE(replayed, 52);
}

/// What an op reads comes before it, first what it reads first.
void AnsorStepsTest::stagesAreNumberedAsInTvm() {
  const auto dag = tw::testing::dags::conv_nhwc();
  std::string names;
  for (const int i : ansor_order(*dag)) names += dag->ops[static_cast<size_t>(i)].name + " ";
  QCOMPARE(names, std::string("x pad w conv2d bias bias_add relu "));
}

void AnsorStepsTest::numbersFollowInsertedStages() {
  using namespace schedule;
  const auto dag = tw::testing::dags::conv_nhwc();  // ours: 0 x, 1 w, 2 bias, 3 pad, 4 conv2d, 5 bias_add, 6 relu
  const std::vector<Step> theirs{CacheWriteStep{3, "local"},        // before the convolution
                                 CacheReadStep{2, "shared", {3}},  // after the weights
                                 ComputeInlineStep{1},             // the border
                                 ComputeInlineStep{7},             // the sum with the bias
                                 ComputeAtStep{4, 5, 0}};
  const std::vector<Step> ours{CacheWriteStep{4, "local"}, CacheReadStep{1, "shared", {4}}, ComputeInlineStep{4}, ComputeInlineStep{7}, ComputeAtStep{5, 6, 0}};
  const auto found = steps_from_ansor(dag, theirs);
  QVERIFY2(found, found ? "" : found.error().text().c_str());
  QCOMPARE(QString::fromStdString(json_text(*found)), QString::fromStdString(json_text(ours)));
  QCOMPARE(QString::fromStdString(json_text(*steps_to_ansor(dag, ours))), QString::fromStdString(json_text(theirs)));
}

void AnsorStepsTest::whatTvmLacksIsNamed() {
  using namespace schedule;
  const auto dag = tw::testing::dags::dense_relu();
  const auto refused = steps_to_ansor(dag, {ComputeInlineStep{2}, LayoutStep{1, {{0, 0}, {1, 0}}}});
  QCOMPARE(refused.error().code, ErrorCode::unsupported);
  QCOMPARE(refused.error().text(), std::string("Expected steps that TVM's records have, found 'layout' (at schedule step 1)"));
  QVERIFY(steps_from_ansor(dag, {ComputeInlineStep{9}}).error().message.starts_with("Expected a stage below 4, found 9"));
  QCOMPARE(steps_from_ansor(dag, {AnnotationStep{2, 0, Annotation::parallel}, FuseStep{2, {0, 1}}}).error().code, ErrorCode::illegal_schedule);
}

QTEST_APPLESS_MAIN(AnsorStepsTest)
#include "ansor_steps_test.moc"
