// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/space/templates/cpu/blocked.h"
#include "engine/target/cpu_table.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

namespace {

struct BuiltLayer {
  const char* name;
  Make make;
};

/// Layers in the sizes of networks, one a template.
std::vector<BuiltLayer> built_layers() {
  const auto convolution = [](Dims x, Dims w, int64_t stride, int64_t groups = 1, const char* op = "conv2d") -> Make {
    return [=](Net& n) { return n.op("relu", {conv(n, x, w, stride, 1, groups, op)}); };
  };
  return {{"3x3", convolution({1, 64, 28, 28}, {64, 64, 3, 3}, 1)},
          {"3x3 by 2, odd channels", convolution({1, 58, 28, 28}, {116, 58, 3, 3}, 2)},
          {"depthwise", convolution({1, 96, 28, 28}, {96, 1, 3, 3}, 1, 96)},
          {"groups", convolution({1, 64, 28, 28}, {64, 16, 3, 3}, 1, 4)},
          {"volumes", convolution({1, 32, 4, 14, 14}, {32, 32, 3, 3, 3}, 1, 1, "conv3d")},
          {"transposed", [](Net& n) { return n.op("conv2d_transpose", {n.input({1, 64, 8, 8}), n.weight({64, 32, 4, 4})}, {{"strides", Dims{2, 2}}}); }},
          {"dense", [](Net& n) { return n.op("dense", {n.input({128, 1024}), n.weight({512, 1024})}); }},
          {"one row", [](Net& n) { return n.op("dense", {n.input({1, 1024}), n.weight({512, 1024})}); }},
          {"heads", [](Net& n) { return n.op("matmul", {n.input({12, 49, 64}), n.input({12, 64, 49})}); }},
          {"softmax", [](Net& n) { return n.op("softmax", {n.input({12, 128, 197})}, {{"axis", int64_t{2}}}); }}};
}

}  // namespace

/// Rules choose by what is known of a processor, not by the one at hand: code for others is built, looked at and not run.
class OtherProcessorsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void build_data() {
    QTest::addColumn<QString>("cpu");
    for (const char* cpu : {"x86-64-v2", "haswell", "skylake-avx512", "sapphirerapids", "graniterapids", "znver3", "znver4", "znver5"}) QTest::newRow(cpu) << cpu;
  }
  /// The widest vectors that there are, and multiply-adds where there are any.
  void build() {
    QFETCH(QString, cpu);
    const Target target = parse_target(fmt::format("llvm -mcpu={} -num-cores=6", cpu.toStdString())).value();
    const bool fma = (target::find_cpu(target.cpu)->features & target::bit(target::X86Feature::fma)) != 0;
    const char* widest = target.vector_bits == 512 ? "zmm" : target.vector_bits == 256 ? "ymm" : "xmm";
    for (const BuiltLayer& l : built_layers()) {
      const std::string where = fmt::format("{} on {}", l.name, target.str());
      const auto func = lower::lower_and_optimize(space::default_schedule(dag_of(l.make), target), "kernel", target);
      QVERIFY2(func.has_value(), where.c_str());
      const auto listing = codegen::build_listing(*func, target);
      QVERIFY2(listing.has_value(), where.c_str());
      QVERIFY2(listing->assembly.find(widest) != std::string::npos, where.c_str());
      for (const char* wider : {"ymm", "zmm"})
        if (std::string_view(wider) > widest) QVERIFY2(listing->assembly.find(wider) == std::string::npos, where.c_str());
      if (l.name != std::string("softmax")) QVERIFY2((listing->assembly.find("vfmadd") != std::string::npos) == fma, where.c_str());
    }
  }

  /// The register tile of a large product fits the registers and keeps the pipes of its processor busy.
  void tiles_data() { build_data(); }
  void tiles() {
    QFETCH(QString, cpu);
    const Target target = parse_target(cpu.toStdString()).value();
    const space::Template& dense = template_named("dense_pack.cpu");
    const te::DagPtr dag = dag_of([](Net& n) { return n.op("dense", {n.input({240, 500}), n.weight({960, 500})}); });
    const space::ConfigEntity point = dense.fallback(*dag, target);
    const int64_t rows = point.split("tile_y")[1], vectors = point.split("tile_x")[1] / target.lanes();
    QVERIFY(space::cpu::fits_registers(rows, vectors, target));
    QVERIFY(rows * vectors >= target::pipes_of(target.cpu).in_flight());
  }
};

QTEST_APPLESS_MAIN(OtherProcessorsTest)
#include "other_processors_test.moc"
