// SPDX-License-Identifier: Apache-2.0
// AutoTVM's spaces: sizes and points as AutoTVM has them, and schedules that compute what the dag says.
#include <QtTest>

#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/lower/lower.h"
#include "engine/measure/check.h"
#include "engine/measure/inputs.h"
#include "engine/measure/signature.h"
#include "engine/space/template.h"
#include "engine/tir/interp.h"
#include "tests/engine/codegen/kernel_runner.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using te::Indices;

namespace {

const Target& avx512() {
  static const Target target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=2").value();
  return target;
}

/// Elementwise work after `y`, with an operand of its shape, as fusion makes it.
te::DagPtr with_epilogue(te::DagBuilder b, const te::Tensor& y, bool epilogue) {
  if (!epilogue) return std::move(b).finish({y});
  const te::Tensor r = b.placeholder("r", y.shape(), kFloat32);
  const te::Tensor sum = b.compute("add", y.shape(), [&](const Indices& i) { return y.at(i) + r.at(i); });
  return std::move(b).finish({b.compute("twice", y.shape(), [&](const Indices& i) { return sum.at(i) + sum.at(i); })});
}

te::DagPtr dense(int64_t m, int64_t n, int64_t k, bool epilogue = false) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return with_epilogue(std::move(b), y, epilogue);
}

te::DagPtr batch_matmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool epilogue = false) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {batch, m, k}, kFloat32), y = b.placeholder("y", {batch, k, n}, kFloat32);
  const te::Tensor z = b.reduce(
      "z", {batch, m, n}, {k}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], r[0], s[2]); }, "batch_matmul");
  return with_epilogue(std::move(b), z, epilogue);
}

struct Conv {
  int64_t ic, oc, hw, kernel, stride = 1, pad = -1, dilation = 1;
  bool depthwise = false, epilogue = false;
};

te::DagPtr conv(const Conv& c) {
  te::DagBuilder b;
  const int64_t pad = c.pad < 0 ? c.dilation * (c.kernel - 1) / 2 : c.pad, padded = c.hw + 2 * pad, span = c.dilation * (c.kernel - 1) + 1;
  const int64_t out = (padded - span) / c.stride + 1;
  const te::Tensor x = b.placeholder("x", {1, c.ic, c.hw, c.hw}, kFloat32);
  const te::Tensor w = b.placeholder("w", {c.oc, c.depthwise ? 1 : c.ic, c.kernel, c.kernel}, kFloat32, te::Role::constant);
  te::Tensor in = x;
  if (pad > 0)
    in = b.compute(
        "pad", {1, c.ic, padded, padded},
        [&](const Indices& i) {
          const ir::Expr inside = ir::index(pad) <= i[2] && i[2] < ir::index(c.hw + pad) && ir::index(pad) <= i[3] && i[3] < ir::index(c.hw + pad);
          return ir::select(inside, x(i[0], i[1], i[2] - pad, i[3] - pad), ir::fimm(kFloat32, 0));
        },
        "pad");
  const auto at = [&](const ir::Expr& o, const ir::Expr& r) { return o * c.stride + r * c.dilation; };
  const std::map<std::string, std::vector<int64_t>> attrs{
      {"strides", {c.stride, c.stride}}, {"pads", {pad, pad, pad, pad}}, {"dilations", {c.dilation, c.dilation}}, {"groups", {1}}};
  const te::Tensor y =
      c.depthwise ? b.reduce(
                        "y", {1, c.oc, out, out}, {c.kernel, c.kernel}, te::Reducer::sum,
                        [&](const Indices& s, const Indices& r) { return in(s[0], s[1], at(s[2], r[0]), at(s[3], r[1])) * w(s[1], ir::index(0), r[0], r[1]); },
                        "depthwise_conv2d", attrs)
                  : b.reduce(
                        "y", {1, c.oc, out, out}, {c.ic, c.kernel, c.kernel}, te::Reducer::sum,
                        [&](const Indices& s, const Indices& r) { return in(s[0], r[0], at(s[2], r[1]), at(s[3], r[2])) * w(s[1], r[0], r[1], r[2]); },
                        "conv2d", attrs);
  return with_epilogue(std::move(b), y, c.epilogue);
}

/// With groups, or of volumes, from the operator.
te::DagPtr other_conv(const space::testing::Dims& x, const space::testing::Dims& w, int64_t stride, int64_t pad, int64_t groups, const char* op) {
  return space::testing::dag_of([&](space::testing::Net& n) { return space::testing::conv(n, x, w, stride, pad, groups, op); });
}

const space::Template& named(const te::DagPtr& dag, const char* name) {
  const space::Template* t = space::find_template(*dag, avx512(), name);
  if (!t) throw std::runtime_error(std::string("no template ") + name);
  return *t;
}

space::ConfigSpace space_of(const te::DagPtr& dag, const char* name) { return named(dag, name).space(*dag, avx512()); }

struct X86Case {
  std::string name;
  const char* space;
  te::DagPtr dag;
};

std::vector<X86Case> cases() {
  return {{"dense pack", "dense_pack.x86", dense(12, 48, 20)},
          {"dense pack, fused", "dense_pack.x86", dense(8, 36, 16, true)},
          {"dense pack, one row", "dense_pack.x86", dense(1, 10, 24)},
          {"dense pack, wide tiles", "dense_pack.x86", dense(4, 211, 6)},
          {"dense nopack, wide tiles", "dense_nopack.x86", dense(12, 60, 16)},
          {"conv, wide tiles", "conv2d_NCHWc.x86", conv({.ic = 2, .oc = 37, .hw = 20, .kernel = 3})},
          {"dense nopack", "dense_nopack.x86", dense(6, 10, 64)},
          {"dense nopack, fused", "dense_nopack.x86", dense(5, 12, 30, true)},
          {"batch matmul", "batch_matmul.x86", batch_matmul(3, 8, 12, 16)},
          {"batch matmul, fused", "batch_matmul.x86", batch_matmul(2, 6, 5, 14, true)},
          {"conv 3x3", "conv2d_NCHWc.x86", conv({.ic = 6, .oc = 32, .hw = 8, .kernel = 3})},
          {"conv 3x3, fused, stride", "conv2d_NCHWc.x86", conv({.ic = 4, .oc = 12, .hw = 9, .kernel = 3, .stride = 2, .epilogue = true})},
          {"conv 3x3, dilated", "conv2d_NCHWc.x86", conv({.ic = 4, .oc = 8, .hw = 12, .kernel = 3, .pad = 0, .dilation = 2})},
          {"conv 1x1", "conv2d_NCHWc.x86", conv({.ic = 8, .oc = 24, .hw = 6, .kernel = 1, .epilogue = true})},
          {"conv 1x1, odd", "conv2d_NCHWc.x86", conv({.ic = 5, .oc = 7, .hw = 7, .kernel = 1})},
          {"depthwise", "depthwise_conv2d_NCHWc.x86", conv({.ic = 32, .oc = 32, .hw = 8, .kernel = 3, .depthwise = true})},
          {"depthwise, fused, stride", "depthwise_conv2d_NCHWc.x86",
           conv({.ic = 12, .oc = 12, .hw = 9, .kernel = 3, .stride = 2, .depthwise = true, .epilogue = true})},
          {"grouped", "group_conv2d_nchw.x86", other_conv({1, 12, 8, 8}, {24, 4, 3, 3}, 1, 1, 3, "conv2d")},
          {"grouped 1x1, stride", "group_conv2d_nchw.x86", other_conv({1, 16, 9, 9}, {8, 8, 1, 1}, 2, 0, 2, "conv2d")},
          {"volumes", "conv3d_ncdhw.x86", other_conv({1, 4, 5, 6, 8}, {16, 4, 3, 3, 3}, 1, 1, 1, "conv3d")},
          {"volumes, stride", "conv3d_ncdhw.x86", other_conv({1, 3, 6, 7, 9}, {10, 3, 2, 3, 3}, 2, 1, 1, "conv3d")}};
}

}  // namespace

class X86Test : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Sizes of ResNet-50's and BERT's spaces at batch 1 and sequence length 128, as AutoTVM counts them.
  void sizes_data() {
    QTest::addColumn<int>("in");
    QTest::addColumn<int>("out");
    QTest::addColumn<int>("hw");
    QTest::addColumn<int>("kernel");
    QTest::addColumn<int>("stride");
    QTest::addColumn<qint64>("size");
    const auto row = [](int in, int out, int hw, int kernel, int stride, qint64 size) {
      QTest::newRow(qPrintable(QString("%1x%1/%2 %3->%4 @%5").arg(kernel).arg(stride).arg(in).arg(out).arg(hw))) << in << out << hw << kernel << stride << size;
    };
    row(3, 64, 224, 7, 2, 308);
    row(64, 64, 56, 1, 1, 980);
    row(64, 64, 56, 3, 1, 980);
    row(64, 256, 56, 1, 1, 1260);
    row(256, 64, 56, 1, 1, 1260);
    row(256, 128, 56, 1, 1, 1440);
    row(128, 128, 56, 3, 2, 1024);
    row(128, 128, 28, 3, 1, 1024);
    row(128, 512, 28, 1, 1, 1280);
    row(256, 512, 56, 1, 2, 1440);
    row(256, 256, 14, 3, 1, 972);
    row(256, 1024, 14, 1, 1, 1188);
    row(1024, 256, 14, 1, 1, 1188);
    row(512, 512, 7, 3, 1, 800);
    row(512, 2048, 7, 1, 1, 960);
    row(2048, 512, 7, 1, 1, 960);
  }
  void sizes() {
    QFETCH(int, in);
    QFETCH(int, out);
    QFETCH(int, hw);
    QFETCH(int, kernel);
    QFETCH(int, stride);
    QFETCH(qint64, size);
    QCOMPARE(space_of(conv({.ic = in, .oc = out, .hw = hw, .kernel = kernel, .stride = stride}), "conv2d_NCHWc.x86").size(), size);
  }
  void sizes_of_products() {
    QCOMPARE(space_of(dense(1, 1000, 2048), "dense_pack.x86").size(), 1200);
    QCOMPARE(space_of(dense(1, 1000, 2048), "dense_nopack.x86").size(), 192);
    QCOMPARE(space_of(dense(128, 768, 768), "dense_pack.x86").size(), 437400);
    QCOMPARE(space_of(dense(128, 768, 768), "dense_nopack.x86").size(), 2592);
    QCOMPARE(space_of(dense(128, 3072, 768), "dense_pack.x86").size(), 641520);
    QCOMPARE(space_of(dense(128, 3072, 768), "dense_nopack.x86").size(), 3168);
    QCOMPARE(space_of(batch_matmul(12, 128, 128, 64), "batch_matmul.x86").size(), 448);
  }
  void logged_indices_decode_to_their_entities() {
    QCOMPARE(space_of(dense(1, 768, 768), "dense_pack.x86").get(481)->json_text(),
             std::string(R"([["tile_y","sp",[-1,1,1]],["tile_x","sp",[-1,96,8]],["tile_k","sp",[-1,4]],["tile_inner","sp",[-1,1]]])"));
    QCOMPARE(space_of(conv({.ic = 2048, .oc = 192, .hw = 8, .kernel = 1}), "conv2d_NCHWc.x86").get(909)->json_text(),
             std::string(R"([["tile_ic","sp",[-1,512]],["tile_oc","sp",[-1,8]],["tile_ow","sp",[-1,2]],["tile_oh","ot",2]])"));
  }
  /// ResNeXt's 3x3 convolutions of 32 groups and one of r3d_18: divisors times divisors times divisors up to a limit times 2.
  void sizes_of_groups_and_volumes() {
    const space::ConfigSpace grouped = space_of(other_conv({1, 128, 56, 56}, {128, 4, 3, 3}, 1, 1, 32, "conv2d"), "group_conv2d_nchw.x86");
    QCOMPARE(grouped.size(), 8 * 8 * 8 * 2);
    int64_t valid = 0;
    for (int64_t i = 0; i < grouped.size(); ++i) valid += grouped.filtered_reason(grouped.get(i).value()).empty();
    QCOMPARE(valid, 3 * 3 * 8 * 2);  // blocks of 1, 2 or 4 channels
    QCOMPARE(space_of(other_conv({1, 64, 16, 56, 56}, {64, 64, 3, 3, 3}, 1, 1, 1, "conv3d"), "conv3d_ncdhw.x86").size(), 7 * 7 * 5 * 2);
  }
  void knobs_depend_on_the_window() {
    const auto last = [](const te::DagPtr& dag) { return space_of(dag, "conv2d_NCHWc.x86").knobs().back(); };
    QCOMPARE(last(conv({.ic = 4, .oc = 4, .hw = 1, .kernel = 1})).candidates.size(), size_t{1});
    QCOMPARE(last(conv({.ic = 4, .oc = 4, .hw = 4, .kernel = 1})).name, std::string("tile_oh"));
    QCOMPARE(last(conv({.ic = 4, .oc = 4, .hw = 4, .kernel = 3})).candidates[0].other, Json(true));
    // AutoTVM leaves the dilation out of the width: 12 - 3 + 1 = 10 columns, though there are 8.
    QCOMPARE(space_of(conv({.ic = 4, .oc = 4, .hw = 12, .kernel = 3, .pad = 0, .dilation = 2}), "conv2d_NCHWc.x86").knobs()[2].extent, 10);
  }
  void they_are_chosen_by_name_alone() {
    for (const X86Case& c : cases()) {
      const space::Template* preferred = space::find_template(*c.dag, avx512());
      QVERIFY(!preferred || std::string(preferred->name).ends_with(".cpu"));
      const auto all = space::find_templates(*c.dag, avx512());
      QVERIFY(std::any_of(all.begin(), all.end(), [&](const space::Template* t) { return std::string(t->name) == c.space; }));
      if (preferred) QVERIFY(all.front() == preferred);
    }
    QVERIFY(!space::find_template(*conv({.ic = 4, .oc = 4, .hw = 8, .kernel = 3, .dilation = 2, .depthwise = true}), avx512(), "depthwise_conv2d_NCHWc.x86"));
    QVERIFY(!space::find_template(*dense(4, 4, 4), avx512(), "conv2d_NCHWc.x86"));
  }
  void fallbacks_are_autotvms() {
    const auto fallback = [](const te::DagPtr& dag, const char* name) { return named(dag, name).fallback(*dag, avx512()).json_text(); };
    QCOMPARE(fallback(dense(128, 768, 768), "dense_pack.x86"),
             std::string(R"([["tile_y","sp",[-1,4,8]],["tile_x","sp",[-1,8,32]],["tile_k","sp",[-1,1]],["tile_inner","sp",[-1,8]]])"));
    QCOMPARE(fallback(dense(6, 1000, 2048), "dense_pack.x86"),
             std::string(R"([["tile_y","sp",[-1,1,2]],["tile_x","sp",[-1,8,25]],["tile_k","sp",[-1,1]],["tile_inner","sp",[-1,2]]])"));
    QCOMPARE(fallback(dense(128, 768, 768), "dense_nopack.x86"), std::string(R"([["tile_y","sp",[-1,128]],["tile_x","sp",[-1,1]],["tile_k","sp",[-1,32]]])"));
    QCOMPARE(fallback(batch_matmul(12, 128, 100, 64), "batch_matmul.x86"),
             std::string(R"([["tile_y","sp",[-1,8]],["tile_x","sp",[-1,4]],["tile_k","sp",[-1,16]]])"));
    QCOMPARE(fallback(conv({.ic = 3, .oc = 64, .hw = 224, .kernel = 7, .stride = 2}), "conv2d_NCHWc.x86"),
             std::string(R"([["tile_ic","sp",[-1,3]],["tile_oc","sp",[-1,16]],["tile_ow","sp",[-1,28]],["unroll_kw","ot",false]])"));
    QCOMPARE(fallback(conv({.ic = 512, .oc = 2048, .hw = 14, .kernel = 1}), "conv2d_NCHWc.x86"),
             std::string(R"([["tile_ic","sp",[-1,16]],["tile_oc","sp",[-1,16]],["tile_ow","sp",[-1,14]],["tile_oh","ot",2]])"));
    QCOMPARE(fallback(other_conv({1, 96, 14, 14}, {96, 24, 3, 3}, 1, 1, 4, "conv2d"), "group_conv2d_nchw.x86"),
             std::string(R"([["tile_ic","sp",[-1,12]],["tile_oc","sp",[-1,12]],["tile_ow","sp",[-1,14]],["unroll_kw","ot",false]])"));
    QCOMPARE(fallback(other_conv({1, 64, 8, 28, 28}, {128, 64, 3, 3, 3}, 1, 1, 1, "conv3d"), "conv3d_ncdhw.x86"),
             std::string(R"([["tile_ic","sp",[-1,16]],["tile_oc","sp",[-1,16]],["tile_ow","sp",[-1,7]],["unroll_kw","ot",false]])"));
  }

  void points_keep_results_data() {
    QTest::addColumn<int>("number");
    int k = 0;
    for (const X86Case& c : cases()) QTest::newRow(c.name.c_str()) << k++;
  }
  /// The first, the last, the fallback and random points, interpreted and compiled, against the interpreter of the bare expressions.
  void points_keep_results() {
    QFETCH(int, number);
    const X86Case c = cases()[static_cast<size_t>(number)];
    const space::Template& t = named(c.dag, c.space);
    const space::ConfigSpace space = t.space(*c.dag, avx512());
    const measure::Reference want = measure::make_reference(*c.dag, 3, {.full_flops = int64_t{1} << 40}).value();
    const std::vector<HostArray> inputs = measure::make_inputs(*c.dag, 3);
    std::vector<int64_t> points{0, space.size() - 1, t.fallback(*c.dag, avx512()).index()};
    Rng rng(7);
    while (points.size() < 14) points.push_back(rng.range(0, space.size() - 1));
    for (const int64_t point : points) {
      const space::ConfigEntity e = space.get(point).value();
      if (!space.filtered_reason(e).empty()) continue;
      const auto fail = [&](const std::string& text) { return e.text() + ": " + text; };
      const auto s = t.apply(c.dag, avx512(), e);
      QVERIFY2(s, s ? "" : fail(s.error().text()).c_str());
      tir::PassHooks hooks;
      hooks.verify = true;
      const auto func = lower::lower_and_optimize(*s, "kernel", avx512(), hooks);
      QVERIFY2(func, func ? "" : fail(func.error().text()).c_str());
      const std::vector<runtime::ArgSpec> specs = measure::signature_of(*s, "kernel").args;
      std::vector<HostArray> args;
      for (const runtime::ArgSpec& spec : specs) {
        args.push_back(HostArray::make(spec.dtype, spec.physical_shape()));
        if (!spec.output) runtime::pack_layout(spec, inputs[args.size() - 1].data.data(), args.back().data.data());
      }
      const auto check = [&](const std::vector<HostArray>& got) {
        HostArray plain = HostArray::make(specs.back().dtype, specs.back().shape);
        runtime::unpack_layout(specs.back(), got.back().data.data(), plain.data.data());
        std::vector<double> values;
        for (int64_t i = 0; i < plain.num_elements(); ++i) values.push_back(plain.get(i));
        return measure::compare(want.outputs[0], values).equal;
      };
      std::vector<HostArray> interpreted = args;
      const auto ran = tir::interpret(*func, interpreted);
      QVERIFY2(ran, ran ? "" : fail(ran.error().text()).c_str());
      QVERIFY2(check(interpreted), fail("interpreted values differ").c_str());
      if (avx512().vector_bits > host_target().vector_bits) continue;
      const auto done = codegen::testing::run(*func, args, avx512());
      QVERIFY2(done, done ? "" : fail(done.error().text()).c_str());
      QVERIFY2(check(args), fail("compiled values differ").c_str());
    }
  }
};

QTEST_APPLESS_MAIN(X86Test)
#include "x86_test.moc"
