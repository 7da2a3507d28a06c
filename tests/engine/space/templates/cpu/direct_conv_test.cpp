// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/direct_conv.h"

#include <QtTest>

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/tir/visit.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the templates of direct convolutions along one to three dimensions and in groups, against the interpreter.
class DirectConvTest : public QObject {
  Q_OBJECT

  static std::vector<TemplateCase> cases() {
    const auto plain = [](Dims x, Dims w, int64_t stride, int64_t pad, int64_t groups, const char* op) {
      return [=](Net& n) { return n.op("relu", {conv(n, x, w, stride, pad, groups, op)}); };
    };
    const auto dilated = [](Dims x, Dims w, Dims strides, Dims dilations, Dims pads, const char* op) {
      return [=](Net& n) { return n.op(op, {n.input(x), n.weight(w)}, {{"strides", strides}, {"dilations", dilations}, {"pads", pads}}); };
    };
    return {
        {"conv1d_nchwc.cpu", {"conv1d, taps in the padding", dilated({2, 16, 23}, {24, 16, 3}, {1}, {9}, {9, 9}, "conv1d")}},
        {"conv2d_nchwc.cpu", {"taps in the padding", dilated({1, 16, 7, 9}, {32, 16, 3, 3}, {1, 1}, {5, 6}, {5, 6, 5, 6}, "conv2d")}},
        {"conv2d_nchwc.cpu",
         {"strided, more taps in the padding on one side", dilated({1, 20, 9, 11}, {40, 20, 3, 5}, {2, 2}, {4, 3}, {7, 2, 1, 10}, "conv2d")}},
        {"conv3d_nchwc.cpu", {"conv3d, taps in the padding", dilated({1, 16, 3, 4, 6}, {16, 16, 3, 3, 3}, {1, 1, 1}, {2, 3, 4}, {2, 3, 4, 2, 3, 4}, "conv3d")}},
        {"conv2d_nchwc.cpu", {"an image in one tile", plain({1, 16, 8, 8}, {32, 16, 4, 4}, 2, 1, 1, "conv2d")}},
        {"conv2d_nchwc.cpu", {"lines of an odd length in one tile", plain({1, 8, 5, 11}, {16, 8, 3, 5}, 1, 2, 1, "conv2d")}},
        {"conv1d_nchwc.cpu", {"conv1d", plain({2, 16, 37}, {24, 16, 3}, 1, 1, 1, "conv1d")}},
        {"conv1d_nchwc.cpu", {"conv1d, strided, one channel", plain({1, 1, 50}, {32, 1, 7}, 2, 3, 1, "conv1d")}},
        {"conv3d_nchwc.cpu", {"conv3d", plain({1, 16, 3, 5, 9}, {32, 16, 3, 3, 3}, 1, 1, 1, "conv3d")}},
        {"conv3d_nchwc.cpu", {"conv3d, strided, three channels", plain({1, 3, 4, 7, 10}, {16, 3, 3, 5, 5}, 2, 1, 1, "conv3d")}},
        {"conv2d_nchwc.cpu", {"vectors of two pixels", plain({1, 16, 6, 8}, {8, 16, 1, 1}, 1, 0, 1, "conv2d")}},
        {"conv2d_nchwc.cpu",
         {"vectors of two or four pixels, added to",
          [](Net& n) {
            const int c = conv(n, {2, 12, 9, 8}, {4, 12, 3, 3}, 1, 1);
            return n.op("add", {c, n.input({2, 4, 9, 8})});
          }}},
        {"conv2d_nchwc.cpu", {"last blocks in part", plain({1, 58, 6, 7}, {58, 58, 1, 1}, 1, 0, 1, "conv2d")}},
        {"conv2d_nchwc.cpu", {"panels of weights in part", plain({1, 16, 5, 6}, {112, 16, 1, 1}, 1, 0, 1, "conv2d")}},
        {"conv2d_nchwc.cpu", {"last blocks in part, strided", plain({1, 29, 9, 8}, {40, 29, 3, 3}, 2, 1, 1, "conv2d")}},
        {"conv2d_nchwc.cpu", {"less than a block", plain({1, 5, 6, 7}, {11, 5, 3, 3}, 1, 1, 1, "conv2d")}},
        {"conv2d_nchwc.cpu",
         {"last blocks in part, by channel and added to",
          [](Net& n) {
            const int c = n.op("conv2d", {n.input({2, 20, 5, 8}), n.weight({37, 20, 3, 3}), n.weight({37})}, {{"pads", Dims(4, 1)}});
            const int scaled = n.op("mul", {n.op("add", {n.op("exp", {c}), n.weight({37, 1, 1})}), n.input({2, 37, 1, 1})});
            return n.op("sigmoid", {n.op("mul", {n.op("add", {scaled, n.input({2, 37, 5, 8})}), n.weight({1, 37, 5, 8})})});
          }}},
        {"conv2d_nchwc.cpu",
         {"padding on one side, rows of several in a tile", dilated({1, 16, 9, 12}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {0, 2, 2, 0}, "conv2d")}},
        {"conv2d_nchwc.cpu", {"lines longer than a tile, the last in part", plain({1, 16, 9, 33}, {24, 16, 5, 5}, 2, 2, 1, "conv2d")}},
        {"conv3d_nchwc.cpu", {"conv3d, last blocks in part", plain({1, 18, 3, 4, 5}, {23, 18, 3, 1, 3}, 1, 1, 1, "conv3d")}},
        {"conv2d_nchwc.cpu",
         {"computed weights, last blocks in part",
          [](Net& n) {
            return n.op("relu", {n.op("conv2d", {n.input({1, 20, 7, 9}), n.input({37, 20, 3, 3})}, {{"pads", Dims(4, 1)}})});
          }}},
        {"grouped_conv2d_nchwc.cpu",
         {"computed weights of each image",
          [](Net& n) {
            return n.op("conv2d", {n.input({1, 32, 6, 7}), n.input({48, 16, 3, 3})}, {{"groups", int64_t{2}}});
          }}},
        {"grouped_conv2d_nchwc.cpu", {"vectors of two or four narrow groups", plain({1, 40, 5, 6}, {40, 4, 3, 3}, 1, 1, 10, "conv2d")}},
        {"grouped_conv1d_nchwc.cpu", {"conv1d, groups of three vectors", plain({1, 96, 29}, {96, 48, 8}, 1, 4, 2, "conv1d")}},
        {"grouped_conv3d_nchwc.cpu", {"conv3d, narrow groups", plain({1, 32, 3, 4, 5}, {32, 8, 3, 3, 3}, 1, 1, 4, "conv3d")}},
        {"grouped_conv2d_nchwc.cpu", {"vectors of four groups, spread", plain({1, 32, 5, 6}, {32, 4, 3, 3}, 2, 1, 8, "conv2d")}},
        {"grouped_conv2d_nchwc.cpu", {"two wide groups", plain({1, 32, 7, 9}, {64, 16, 3, 3}, 1, 1, 2, "conv2d")}},
        {"grouped_conv2d_nchwc.cpu", {"inputs narrower than a vector", plain({1, 36, 5, 6}, {48, 12, 1, 1}, 1, 0, 3, "conv2d")}},
        {"grouped_conv2d_nchwc.cpu", {"groups of a vector and a half", plain({1, 72, 7, 9}, {72, 24, 3, 3}, 1, 1, 3, "conv2d")}},
        {"grouped_conv2d_nchwc.cpu", {"groups of a vector and a quarter, strided", plain({1, 60, 9, 8}, {60, 20, 3, 3}, 2, 1, 3, "conv2d")}},
        {"grouped_conv2d_nchwc.cpu",
         {"groups of half vectors, the last block in part, added to",
          [](Net& n) {
            const int c = conv(n, {2, 36, 5, 6}, {120, 12, 1, 1}, 1, 0, 3);
            return n.op("relu", {n.op("add", {c, n.input({2, 120, 5, 6})})});
          }}},
        {"grouped_conv2d_nchwc.cpu", {"inputs that share blocks, strided", plain({1, 24, 9, 9}, {64, 6, 3, 3}, 2, 1, 4, "conv2d")}},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(cases(), 6);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Whole vectors for any number of channels that does not fit in a part of one; a function of the target's lanes.
  void blocksOfChannels() {
    struct Blocks {
      const char* cpu;
      std::vector<int64_t> of;
    };
    const std::vector<int64_t> channels{1, 2, 3, 4, 5, 8, 12, 17, 20, 24, 29, 40, 58, 72, 116, 120, 255, 464, 672};
    for (const Blocks& b : {Blocks{"x86-64-v2", {1, 2, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
                            Blocks{"haswell", {1, 2, 1, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
                            Blocks{"skylake-avx512", {1, 2, 1, 4, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}}}) {
      const Target target = parse_target(std::string("llvm -mcpu=") + b.cpu).value();
      for (size_t k = 0; k < channels.size(); ++k)
        QVERIFY2(space::cpu::channel_block(channels[k], target) == b.of[k], fmt::format("{}: {} channels", b.cpu, channels[k]).c_str());
    }
  }
  /// Those that divide the vectors; where these are narrow, others that are nearly filled, too.
  void panelsOfWeights() {
    const auto widths = [](int64_t vectors) {
      std::vector<int64_t> of;
      for (const Json& w : space::cpu::panel_widths({1, 2, 3, 4, 5, 6}, vectors)) of.push_back(w.get<int64_t>());
      return of;
    };
    using W = std::vector<int64_t>;
    QCOMPARE(widths(1), W({1}));
    QCOMPARE(widths(2), W({1, 2}));
    QCOMPARE(widths(5), W({1, 5}));
    QCOMPARE(widths(7), W({1, 2, 4}));
    QCOMPARE(widths(8), W({1, 2, 4}));
    QCOMPARE(widths(14), W({1, 2, 3, 4, 5}));
    QCOMPARE(widths(29), W({1, 2, 3, 4, 5, 6}));
  }
  /// Taps that meet the padding beside a tile that spans the image's lines are not computed.
  void leavesOutTapsInThePadding() {
    const Target target = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
    const te::DagPtr dag = dag_of([](Net& n) { return n.op("relu", {conv(n, {1, 64, 8, 8}, {64, 64, 4, 4}, 2, 1)}); });
    const space::Template* t = space::find_template(*dag, target);
    const space::ConfigEntity e = t->space(*dag, target).best_by([](const space::ConfigEntity& x) {
      return x.split("tile_ow")[1] == 4 && x.integer("tile_oh") == 4 && x.integer("pad_inline") == 0 ? 1 : 0;
    });
    const auto f = lower::lower_and_optimize(*t->apply(dag, target, e), "kernel", target);
    QVERIFY(f);
    int64_t updates = 0;
    tir::walk(f->body, [&](const tir::Stmt& s) {
      const auto* store = tir::as<tir::StoreNode>(s);
      const auto* sum = store ? ir::as<ir::BinaryNode>(store->value) : nullptr;
      updates += sum && sum->op == ir::BinaryOp::add;
    });
    QCOMPARE(updates, 14 * 14 * e.integer("oc_blocks") * e.integer("unroll_ic"));  // of 16 in each dimension
  }
  /// By rule no padded copy of an image is made where tests for its padding cost nothing: none is left in what is computed most often, and none around single
  /// elements.
  void padsWhereTheImageIsRead() {
    const auto inlined = [](Dims x, Dims w, int64_t stride, int64_t pad, int64_t dilation = 1) {
      const Target target = parse_target("llvm -mcpu=znver4 -num-cores=2").value();
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("conv2d", {n.input(x), n.weight(w)}, {{"strides", Dims(2, stride)}, {"dilations", Dims(2, dilation)}, {"pads", Dims(4, pad)}});
      });
      const space::Template* t = space::find_template(*dag, target);
      const space::ConfigEntity e = t->fallback(*dag, target);
      const auto f = lower::lower_and_optimize(*t->apply(dag, target, e), "kernel", target);
      int64_t copies = 0, selects = 0;
      tir::walk(f->body, [&](const tir::Stmt& s) {
        if (const auto* a = tir::as<tir::AllocNode>(s)) copies += a->buffer->num_elements() >= x[1] * x[2] * x[3];
        tir::walk_exprs(s, [&](const ir::Expr& v) { ir::walk(v, [&](const ir::Expr& c) { selects += ir::as<ir::SelectNode>(c) != nullptr; }); });
      });
      return e.integer("pad_inline") != 0 && copies == 0 && selects == 0;
    };
    QVERIFY(inlined({1, 64, 28, 28}, {64, 64, 3, 3}, 2, 1));
    QVERIFY(inlined({1, 32, 40, 57}, {64, 32, 3, 3}, 2, 1));  // the last tile of a line in part
    QVERIFY(inlined({2, 32, 30, 30}, {48, 32, 5, 5}, 1, 2));
    QVERIFY(!inlined({1, 3, 64, 64}, {32, 3, 7, 7}, 2, 3));         // planes: no loop over channels
    QVERIFY(!inlined({1, 32, 64, 64}, {32, 32, 9, 9}, 2, 4));       // more taps than are written out
    QVERIFY(!inlined({1, 32, 96, 96}, {32, 32, 3, 3}, 1, 40, 40));  // padding that several tiles meet
  }
  /// Terms that are written out load their weights when they come: those of several at once leave no registers for the sums.
  void sumsOfWrittenTermsStayInRegisters() {
    for (const char* cpu : {"haswell", "skylake-avx512", "znver4"}) {
      const Target target = parse_target(std::string("llvm -num-cores=1 -mcpu=") + cpu).value();
      const te::DagPtr dag = dag_of([](Net& n) { return conv(n, {1, 64, 56, 56}, {256, 64, 1, 1}, 1, 0); });
      const space::Template* t = space::find_template(*dag, target);
      const space::ConfigEntity e = t->fallback(*dag, target);
      QCOMPARE(e.integer("unroll_ic"), int64_t{2});
      const std::string assembly = codegen::build_listing(*lower::lower_and_optimize(*t->apply(dag, target, e), "kernel", target), target).value().assembly;
      QVERIFY(assembly.find("vfmadd") != std::string::npos);
      for (const std::string_view line : split_lines(assembly))
        QVERIFY2(line.find("Spill") == std::string_view::npos || line.find("mm") == std::string_view::npos,
                 (std::string(cpu) + ": " + std::string(line)).c_str());
    }
  }
  /// By rule a line whose data no cache holds is cut so that all weights meet a piece that does, and one with few channels so that all cores have some.
  void linesAreCutIntoPieces() {
    const auto pieces = [](Dims x, int64_t channels, int cores, bool outside) -> int64_t {
      const Target target = parse_target("llvm -mcpu=znver4 -num-cores=" + std::to_string(cores)).value();
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, {channels, x[1], 3}, 1, 1, 1, "conv1d"); });
      const space::ConfigEntity e = space::find_template(*dag, target)->fallback(*dag, target);
      if (outside && e.integer("rows_outer") == 0) return -1;
      return e.integer("line_pieces");
    };
    const int64_t l2 = parse_target("llvm -mcpu=znver4").value().l2_bytes;
    QCOMPARE(pieces({1, 64, 200}, 64, 1, false), int64_t{1});
    QVERIFY(pieces({1, 512, 4096}, 512, 1, true) >= 512 * 4096 * 4 / (l2 / 2));
    QVERIFY(pieces({1, 16, 4096}, 16, 8, false) >= 8);
  }
  /// Vectors would cross groups, or be put together from too many.
  void leavesNarrowGroupsAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    QVERIFY(!space::find_template(*dag_of([](Net& n) { return conv(n, {1, 64, 6, 7}, {32, 4, 3, 3}, 1, 1, 16); }), target));
    QVERIFY(!space::find_template(*dag_of([](Net& n) { return conv(n, {1, 54, 6, 7}, {54, 18, 3, 3}, 1, 1, 3); }), target));
  }
  /// Parts of vectors are computed where that is faster than loops by rule, whose vectors lie along lines.
  void partsOfVectorsWhereTheyPay() {
    const auto in_parts = [](const char* cpu, int64_t width, int64_t groups, int64_t stride, int64_t pad = 1) {
      const Target target = parse_target(std::string("llvm -mcpu=") + cpu).value();
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, {1, width * groups, 28, 28}, {width * groups, width, 3, 3}, stride, pad, groups); });
      return space::find_template(*dag, target)->fallback(*dag, target).index() >= 0;
    };
    QVERIFY(in_parts("znver4", 24, 7, 1));
    QVERIFY(in_parts("znver4", 120, 2, 2));
    QVERIFY(!in_parts("sapphirerapids", 24, 7, 1));  // halves against 14 of 16 lanes
    QVERIFY(!in_parts("sapphirerapids", 20, 7, 1));  // quarters
    QVERIFY(in_parts("sapphirerapids", 24, 7, 2));
    QVERIFY(in_parts("sapphirerapids", 24, 7, 2, 0));
    QVERIFY(in_parts("haswell", 24, 7, 1));  // three whole vectors
  }
  /// Few outputs leave most of a block's lanes empty: vectors lie along lines where nothing around has blocks.
  void linesWhereBlocksAreMostlyEmpty() {
    const auto in_rows = [](const char* cpu, Dims x, Dims w) {
      const Target target = parse_target(std::string("llvm -num-cores=1 -mcpu=") + cpu).value();
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 0, 1); });
      return space::find_template(*dag, target)->rows_suit(*dag, target);
    };
    QVERIFY(in_rows("znver5", {1, 16, 100, 100}, {6, 16, 7, 1}));
    QVERIFY(!in_rows("znver5", {1, 16, 100, 100}, {16, 16, 7, 1}));
    QVERIFY(in_rows("znver5", {1, 64, 56, 56}, {8, 64, 1, 1}));
    QVERIFY(!in_rows("znver5", {1, 160, 1, 1}, {7, 160, 1, 1}));    // no lines
    QVERIFY(!in_rows("znver5", {4, 64, 306, 56}, {20, 64, 2, 2}));  // too many, of an image that no cache keeps
    QVERIFY(in_rows("znver5", {4, 16, 306, 112}, {20, 16, 2, 2}));
    QVERIFY(!in_rows("znver4", {1, 16, 100, 100}, {8, 16, 7, 1}));  // halves of vectors begin twice as often
    QVERIFY(!in_rows("haswell", {1, 16, 100, 100}, {8, 16, 7, 1}));
  }
  /// Tiles of one vector of outputs take one channel in a turn where registers are few.
  void channelsOfNarrowTiles() {
    const auto channels = [](int64_t width) {
      const Target target = parse_target("llvm -mcpu=haswell -num-cores=1").value();
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, {1, 4 * width, 28, 28}, {4 * width, width, 3, 3}, 1, 1, 4); });
      const space::ConfigEntity e = space::find_template(*dag, target)->fallback(*dag, target);
      return std::pair(e.integer("oc_blocks") > 1, e.integer("unroll_ic"));
    };
    QCOMPARE(channels(56), (std::pair<bool, int64_t>(false, 1)));
    QCOMPARE(channels(24), (std::pair<bool, int64_t>(true, 2)));
  }
  /// Five vectors of outputs are a panel; where that fits no level-2 cache, tiles of more pixels and fewer vectors pass less of it.
  void panelsThatNoCacheHolds() {
    const auto pixels = [](int64_t channels) {
      const Target target = parse_target("llvm -mcpu=sapphirerapids -num-cores=1").value();
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, {1, channels, 28, 28}, {72, channels, 3, 3}, 2, 1, 1); });
      const space::ConfigEntity e = space::find_template(*dag, target)->fallback(*dag, target);
      return e.split("tile_ow")[1] * e.integer("tile_oh");
    };
    QVERIFY(pixels(72) <= 5);    // 0.2 MB
    QVERIFY(pixels(672) >= 10);  // 1.9 MB of 2
  }

  /// Weights that no level-2 cache holds are read once where a tile is all of a small image.
  void tilesOfSmallImages() {
    const Target target = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
    const auto tile = [&](int64_t channels) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, {1, channels, 5, 5}, {channels, channels, 3, 3}, 1, 1, 1); });
      const space::Template* direct = space::find_template(*dag, target, "conv2d_nchwc.cpu");
      const space::ConfigEntity e = direct->fallback(*dag, target);
      return std::pair(e.split("tile_ow")[1], e.integer("tile_oh"));
    };
    QCOMPARE(tile(512), (std::pair<int64_t, int64_t>{5, 5}));  // 9.4 MB
    QVERIFY(tile(64).second < 5);                              // 0.15 MB
  }
};

QTEST_APPLESS_MAIN(DirectConvTest)
#include "engine/space/templates/cpu/direct_conv_test.moc"
