// SPDX-License-Identifier: Apache-2.0
#include "engine/api/explain.h"

#include <QtTest>

#include "engine/base/text.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/space/template.h"
#include "engine/tune/candidate.h"

using namespace tw;

class ExplainTest : public QObject {
  Q_OBJECT

  static records::Task dense_task(int64_t n, int64_t rows = 4, int64_t depth = 32) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {rows, depth}, kFloat32), w = b.placeholder("w", {n, depth}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {rows, n}, {depth}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    return records::make_task("dense", std::move(b).finish({y}), parse_target("llvm -mcpu=x86-64-v3").value());
  }

  /// What is known of some lines; -1 without any.
  static double sum_of(const std::vector<double>& shares) {
    double sum = -1;
    for (const double s : shares)
      if (s >= 0) sum = std::max(sum, 0.0) + s;
    return sum;
  }
  /// The 0-based line of a text, of those that hold all words, whose share is greatest.
  static int line_with(const std::string& text, const std::vector<std::string>& words, const std::vector<double>& shares) {
    int found = -1;
    const auto lines = split_lines(text);
    for (size_t i = 0; i < lines.size() && i < shares.size(); ++i) {
      const bool all = std::all_of(words.begin(), words.end(), [&](const std::string& w) { return lines[i].find(w) != std::string_view::npos; });
      if (all && (found < 0 || shares[i] > shares[static_cast<size_t>(found)])) found = static_cast<int>(i);
    }
    return found;
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

  /// An outline says the same of steps, loops and TIR, and links them alike, without having compiled.
  void outlines() {
    api::Network network;
    const records::Task task = dense_task(48);
    for (const records::Candidate& c : {tune::default_candidate(task), api::candidate_at(task, 0).value()}) {
      const api::Explanation whole = api::explain(task, c.steps, network, {}), outline = api::outline(task, c.steps, network, {});
      QVERIFY(!outline.error);
      QVERIFY(outline.steps == whole.steps && outline.loops == whole.loops && outline.lowered == whole.lowered && outline.tir == whole.tir);
      QVERIFY(outline.llvm_ir.empty() && outline.assembly.empty());
      const auto lines = static_cast<int>(split_lines(whole.loops).size());
      bool any = false;
      for (int line = 0; line < lines; ++line) {
        const auto tir = outline.provenance.related(api::Level::loop, line, api::Level::tir_line);
        QVERIFY(tir == whole.provenance.related(api::Level::loop, line, api::Level::tir_line));
        any |= !tir.empty();
      }
      QVERIFY(any);
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

  /// A product of matrices spends its time in the product, whatever is stored before and after; parts add up to the whole.
  void partsOfTheTime() {
    const records::Task task = dense_task(64, 64, 256);
    for (const records::Candidate& c : {tune::default_candidate(task), api::candidate_at(task, 0).value()}) {
      const api::Explanation x = api::explain(task, c.steps);
      QVERIFY2(!x.error, x.error ? x.error->text().c_str() : "");
      const api::TimeShares& shares = x.shares;
      QVERIFY(shares.source.find("x86-64-v3") != std::string::npos);
      QCOMPARE(shares.own.size(), shares.tir.size());
      QCOMPARE(shares.assembly.size(), x.assembly_line_to_tir_line.size());
      QVERIFY2(std::abs(sum_of(shares.own) - 1) < 1e-9, x.tir.c_str());
      // Stores of products, one for each register of the tile.
      const auto lines = split_lines(x.tir);
      double products = 0;
      for (size_t i = 0; i < lines.size() && i < shares.own.size(); ++i)
        if (lines[i].find(" = ") != std::string_view::npos && lines[i].find(" * ") != std::string_view::npos && shares.own[i] >= 0) products += shares.own[i];
      QVERIFY2(products > 0.5, (std::to_string(products) + "\n" + x.tir).c_str());
      // Every loop around a product has at least as much, and none more than all.
      const int product = line_with(x.tir, {" = ", " * "}, shares.own);
      QVERIFY(product >= 0);
      const auto indent = [](std::string_view line) { return line.find_first_not_of(' '); };
      size_t level = indent(lines[static_cast<size_t>(product)]);
      double inside = shares.own[static_cast<size_t>(product)];
      for (int i = product - 1; i > 0 && level > 4; --i) {
        if (indent(lines[static_cast<size_t>(i)]) >= level) continue;
        level = indent(lines[static_cast<size_t>(i)]);
        QVERIFY(shares.tir[static_cast<size_t>(i)] >= inside - 1e-12 && shares.tir[static_cast<size_t>(i)] <= 1 + 1e-9);
        inside = shares.tir[static_cast<size_t>(i)];
      }
      QVERIFY(inside > 0.98);
      double instructions = 0;
      const auto assembly = split_lines(x.assembly);
      for (size_t i = 0; i < shares.assembly.size(); ++i) {
        if (x.assembly_line_to_tir_line[i] >= 0 && shares.assembly[i] >= 0) instructions += shares.assembly[i];
        if (x.assembly_line_to_tir_line[i] == codegen::kMerged) QVERIFY(shares.assembly[i] < 0);  // belongs to nothing, so nothing is said
      }
      QVERIFY(std::abs(instructions - 1) < 1e-9);
      // The multiply-adds stand in the block that takes most.
      const auto label = std::max_element(shares.assembly.begin(), shares.assembly.end()) - shares.assembly.begin();
      QVERIFY2(assembly[static_cast<size_t>(label)].starts_with(".LBB"), std::string(assembly[static_cast<size_t>(label)]).c_str());
      bool multiplies = false;
      for (size_t i = static_cast<size_t>(label) + 1; i < assembly.size() && !assembly[i].starts_with(".LBB"); ++i) multiplies |= assembly[i].find("vfmadd") != std::string_view::npos;
      QVERIFY2(multiplies, x.assembly.c_str());
      QVERIFY(std::any_of(shares.loops.begin(), shares.loops.end(), [](double s) { return s > 0.9; }));
    }
  }

  /// What takes longer in a table of instructions takes a greater part: a division beside a sum over the same elements.
  void dearInstructionsTakeMore() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4096}, kFloat32);
    const te::Tensor y = b.compute("y", {4096}, [&](const te::Indices& i) { return x.at(i) + x.at(i); });
    const te::Tensor z = b.compute("z", {4096}, [&](const te::Indices& i) { return x.at(i) / (x.at(i) + ir::fimm(kFloat32, 2)); });
    const records::Task task = records::make_task("two", std::move(b).finish({y, z}), parse_target("llvm -mcpu=x86-64-v3").value());
    const api::Explanation e = api::explain(task, {});
    QVERIFY2(!e.error, e.error ? e.error->text().c_str() : "");
    const int sum = line_with(e.tir, {"y["}, e.shares.own), quotient = line_with(e.tir, {"z["}, e.shares.own);
    QVERIFY2(sum >= 0 && quotient >= 0, e.tir.c_str());
    QVERIFY(e.shares.own[static_cast<size_t>(quotient)] > 2 * e.shares.own[static_cast<size_t>(sum)]);
  }

  /// By the formula: statements of a launch share it by what limits it; there is no listing to share among.
  void partsOfTheTimeOnAGpu() {
    records::Task task = dense_task(256, 256, 512);
    task.target = parse_target("cuda:a100").value();
    const api::Explanation x = api::explain(task, tune::default_candidate(task).steps);
    QVERIFY2(!x.error, x.error ? x.error->text().c_str() : "");
    QVERIFY(x.shares.source.find("formula") != std::string::npos && x.shares.assembly.empty());
    QVERIFY(std::abs(sum_of(x.shares.own) - 1) < 1e-9);
    const int product = line_with(x.tir, {" = ", "*"}, x.shares.tir);
    QVERIFY2(product >= 0 && x.shares.own[static_cast<size_t>(product)] > 0.2, x.tir.c_str());
    QVERIFY(std::abs(*std::max_element(x.shares.tir.begin(), x.shares.tir.end()) - 1) < 1e-9);
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
