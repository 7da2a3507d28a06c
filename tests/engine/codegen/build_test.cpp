// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <thread>

#include "engine/base/text.h"
#include "engine/target/cpu_table.h"
#include "tests/engine/codegen/kernel_runner.h"
#include "tests/engine/codegen/micro_kernel.h"

using namespace tw;
using namespace tw::codegen::testing;

class BuildTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// What the table of processors says a name implies is what LLVM takes it to imply.
  void processors_as_llvm_knows_them() {
    for (const target::CpuInfo& cpu : target::cpu_table()) {
      const auto names = codegen::enabled_features(*parse_target(cpu.name));
      QVERIFY2(names, cpu.name);
      std::vector<std::string> flags;
      for (const std::string& n : *names) flags.push_back("+" + n);
      const auto difference = target::feature_delta(cpu.features, target::apply_features(0, flags));
      QVERIFY2(difference.empty(), fmt::format("{}: {}", cpu.name, fmt::join(difference, ",")).c_str());
    }
    const auto less = codegen::enabled_features(*parse_target("llvm -mcpu=znver5 -mattr=-avx512fp16,-avx512bf16"));
    QVERIFY(std::find(less->begin(), less->end(), "avx512bf16") == less->end());
    QVERIFY(std::find(less->begin(), less->end(), "avx512f") != less->end());
  }

  /// Code for every processor in the table, whatever this machine is.
  void every_processor() {
    for (const std::string& name : target_presets()) {
      const auto object = codegen::build_object({micro_gemm({2, 2}, 4, 64, 8)}, *parse_target(name));
      QVERIFY2(object, name.c_str());
    }
  }

  void same_input_same_bytes() {
    const tir::Func f = micro_gemm({4, 2}, 16, 64, 32, tir::ForKind::parallel);
    Target t = *parse_target("znver4");
    t.cores = 4;
    const auto first = codegen::build_object({f}, t), second = codegen::build_object({f}, t);
    QVERIFY(first && second);
    QVERIFY(*first == *second);
  }

  /// A builder that has built something else, or failed to, gives the bytes of a fresh one.
  void a_builder_remembers_nothing() {
    const Target t = *parse_target("znver4");
    const tir::Func small = micro_gemm({2, 2}, 4, 64, 8), large = micro_gemm({4, 2}, 16, 64, 32);
    codegen::ObjectBuilder builder(t);
    for (const tir::Func& f : {small, large, small}) {
      const auto object = builder.build({f}), fresh = codegen::build_object({f}, t);
      QVERIFY(object && fresh);
      QVERIFY(*object == *fresh);
      QVERIFY(builder.build({}).has_value());  // a network may have nothing to compute
      QCOMPARE(builder.build({{"f", f.params, 1, tir::seq(std::vector<tir::Stmt>(5000, f.body))}}).error().code, ErrorCode::resource_limit);
    }
  }

  void from_several_threads() {
    std::vector<std::vector<std::byte>> objects(4);
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < objects.size(); ++i)
        threads.emplace_back([&objects, i] {
          if (auto object = codegen::build_object({micro_gemm({4, 2}, 16, 64, 32)}, *parse_target("znver4"))) objects[i] = std::move(*object);
        });
    }
    QVERIFY(!objects[0].empty());
    for (const auto& o : objects) QVERIFY(o == objects[0]);
  }

  /// One function for the kernel and one for its parallel loop. A store to one array does not make another array's element be loaded again.
  void arrays_are_told_apart() {
    const auto A = ir::make_buffer("A", kFloat32, {128}), C = ir::make_buffer("C", kFloat32, {128}), D = ir::make_buffer("D", kFloat32, {128});
    const ir::Var i = ir::make_var("i");
    const ir::Expr at = ir::ramp(ir::to_expr(i) * 16, ir::index(1), 16), x = ir::load(A, {at});
    const tir::Stmt body = tir::seq({tir::store(C, {at}, x), tir::store(D, {at}, x)});
    Target t = *parse_target("znver4");
    t.cores = 2;
    const auto listing = codegen::build_listing({"kernel", {A, C, D}, 2, tir::make_for(i, ir::index(0), ir::index(8), tir::ForKind::parallel, body)}, t,
                                                {.opt = codegen::OptLevel::full});
    QVERIFY(listing);
    const auto count = [&](std::string_view word) {
      size_t n = 0;
      for (size_t k = 0; (k = listing->llvm_ir.find(word, k)) != std::string::npos; ++k) ++n;
      return n;
    };
    QCOMPARE(count("\ndefine "), size_t{2});
    QCOMPARE(count("load <16 x float>"), size_t{1});
  }

  void version() { QVERIFY(codegen::codegen_version().starts_with("LLVM 19.")); }
};

QTEST_APPLESS_MAIN(BuildTest)
#include "build_test.moc"
