// SPDX-License-Identifier: Apache-2.0
#include "engine/api/explain.h"

#include <QtTest>

#include "engine/codegen/cuda/nvrtc.h"
#include "engine/space/template.h"
#include "engine/tune/candidate.h"

using namespace tw;

class ExplainTest : public QObject {
  Q_OBJECT

  static records::Task dense_task(int64_t n) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4, 32}, kFloat32), w = b.placeholder("w", {n, 32}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {4, n}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    return records::make_task("dense", std::move(b).finish({y}), parse_target("llvm -mcpu=x86-64-v3").value());
  }

 private Q_SLOTS:
  void everyPartIsThere() {
    const records::Task task = dense_task(48);
    for (const records::Candidate& c : {tune::default_candidate(task), api::candidate_at(task, 0).value()}) {
      const api::Explanation x = api::explain(task, c.steps);
      QVERIFY2(!x.error, x.error ? x.error->text().c_str() : "");
      for (const std::string* part : {&x.steps, &x.loops, &x.lowered, &x.tir, &x.llvm_ir, &x.assembly}) QVERIFY(!part->empty());
      QVERIFY(std::any_of(x.assembly_line_to_tir_line.begin(), x.assembly_line_to_tir_line.end(), [](int line) { return line >= 0; }));
    }
  }

  /// CUDA C++ in the place of LLVM IR, PTX in that of assembly, both traced to the loops.
  void kernelsForGpus() {
    records::Task task = dense_task(48);
    task.target = parse_target("cuda:a100").value();
    const api::Explanation x = api::explain(task, tune::default_candidate(task).steps);
    QVERIFY2(!x.error, x.error ? x.error->text().c_str() : "");
    QVERIFY(x.llvm_ir.find("__global__") != std::string::npos);
    const auto traced = [](const std::vector<int>& lines) { return std::any_of(lines.begin(), lines.end(), [](int line) { return line >= 0; }); };
    QVERIFY(traced(x.llvm_ir_line_to_tir_line));
    if (!codegen::nvrtc_version()) QSKIP("NVRTC is not installed");
    QVERIFY2(x.assembly.find(".entry main_kernel") != std::string::npos, x.assembly.c_str());
    QVERIFY(traced(x.assembly_line_to_tir_line));
  }

  void errorsKeepWhatCameBefore() {
    const records::Task task = dense_task(48);
    const api::Explanation x = api::explain(task, {schedule::FuseStep{99, {0, 1}}});
    QVERIFY(x.error && x.steps.empty());
  }

  void pointsOutsideTheSpace() {
    const records::Task task = dense_task(48);
    QVERIFY(!api::candidate_at(task, -1));
    const records::Candidate first = api::candidate_at(task, 0).value();
    QCOMPARE(api::candidate_at(task, first.space, 0).value().steps.size(), first.steps.size());
    QCOMPARE(api::candidate_at(task, "no_such_template", 0).error().code, ErrorCode::not_applicable);
    QVERIFY(!api::candidate_at(task, int64_t{1} << 60));
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4}, kFloat32);
    const te::Tensor y = b.compute("y", {4}, [&](const te::Indices& i) { return x.at(i) + x.at(i); });
    const records::Task plain = records::make_task("plain", std::move(b).finish({y}), task.target);
    QCOMPARE(api::candidate_at(plain, 0).error().code, ErrorCode::not_applicable);
    QCOMPARE(tune::default_candidate(plain).space, std::string("default"));
  }
};

QTEST_APPLESS_MAIN(ExplainTest)
#include "explain_test.moc"
