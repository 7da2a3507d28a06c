// SPDX-License-Identifier: Apache-2.0
#include "engine/space/config_space.h"

#include <QtTest>
#include <chrono>

#include "engine/base/json.h"
#include "engine/base/rng.h"

using namespace tw;
using namespace tw::space;

namespace {

SplitOptions outputs(int n, std::string policy = "factors") {
  SplitOptions o;
  o.num_outputs = n;
  o.policy = std::move(policy);
  return o;
}

SplitOptions inner_at_most(int n, int64_t limit, std::string policy = "factors") {
  SplitOptions o = outputs(n, std::move(policy));
  o.filter = [limit](const std::vector<int64_t>& s) { return s.back() <= limit; };
  return o;
}

struct Split {
  const char* name;
  int64_t extent;
  int num_outputs;
};
struct Knob {
  const char* name;
  std::vector<Json> values;
};

ConfigSpace space_of(std::initializer_list<Split> splits, std::initializer_list<Knob> knobs = {}) {
  ConfigSpace s;
  for (const Split& split : splits) s.define_split(split.name, split.extent, outputs(split.num_outputs));
  for (const Knob& knob : knobs) s.define_knob(knob.name, knob.values);
  return s;
}

/// The space of AutoTVM's conv2d_nchw.cuda.
ConfigSpace conv_cuda(int64_t out, int64_t in, int64_t hw, int64_t kernel) {
  return space_of({{"tile_f", out, 4}, {"tile_y", hw, 4}, {"tile_x", hw, 4}, {"tile_rc", in, 2}, {"tile_ry", kernel, 2}, {"tile_rx", kernel, 2}},
                  {{"auto_unroll_max_step", {0, 512, 1500}}, {"unroll_explicit", {0, 1}}});
}

/// The space of AutoTVM's conv2d_NCHWc.x86.
ConfigSpace conv_x86(int64_t in, int64_t out, int64_t ow, bool pointwise) {
  ConfigSpace s;
  s.define_split("tile_ic", in, outputs(2));
  s.define_split("tile_oc", out, outputs(2));
  s.define_split("tile_ow", ow, inner_at_most(2, 64, "verbose"));
  if (pointwise) {
    s.define_knob("tile_oh", {1, 2});
  } else {
    s.define_knob("unroll_kw", {true, false});
  }
  return s;
}

/// dense_large_batch.gpu.
ConfigSpace dense_large(int64_t m, int64_t n, int64_t k) { return space_of({{"tile_x", m, 4}, {"tile_y", n, 4}, {"tile_k", k, 3}}); }

ConfigSpace batch_matmul_cuda(int64_t m, int64_t n, int64_t k) {
  return space_of({{"tile_y", m, 3}, {"tile_x", n, 3}, {"tile_k", k, 2}}, {{"auto_unroll_max_step", {8, 16, 32, 64}}, {"unroll_explicit", {0, 1}}});
}

ConfigSpace depthwise_cuda(int64_t channels, int64_t hw) {
  return space_of({{"tile_f", channels, 4}, {"tile_y", hw, 4}, {"tile_x", hw, 4}}, {{"auto_unroll_max_step", {0, 256, 1500}}, {"unroll_explicit", {0, 1}}});
}

ConfigSpace dense_pack(int64_t m, int64_t n, int64_t k) {
  ConfigSpace s;
  s.define_split("tile_y", m, outputs(3));
  s.define_split("tile_x", n, outputs(3));
  s.define_split("tile_k", k, outputs(2));
  s.define_split("tile_inner", m, inner_at_most(2, 16));
  return s;
}

}  // namespace

class ConfigSpaceTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// ResNet-50 at batch 1: output channels, input channels, output width, kernel width.
  void sizes_of_convolution_spaces_data() {
    QTest::addColumn<int>("out");
    QTest::addColumn<int>("in");
    QTest::addColumn<int>("hw");
    QTest::addColumn<int>("kernel");
    QTest::addColumn<qint64>("direct");
    QTest::addColumn<qint64>("winograd");
    const auto row = [](int in, int out, int hw, int kernel, qint64 direct, qint64 winograd = 0) {
      QTest::newRow(qPrintable(QString("%1x%1 %2->%3 to %4").arg(kernel).arg(in).arg(out).arg(hw))) << out << in << hw << kernel << direct << winograd;
    };
    row(3, 64, 112, 7, 79027200);
    row(64, 64, 56, 1, 22579200);
    row(64, 64, 56, 3, 90316800, 352800);
    row(64, 256, 56, 1, 44352000);
    row(256, 64, 56, 1, 29030400);
    row(256, 128, 56, 1, 41472000);
    row(128, 128, 28, 3, 36864000, 576000);
    row(128, 512, 28, 1, 16896000);
    row(256, 512, 28, 1, 19008000);
    row(256, 256, 14, 3, 9123840, 89100);
    row(256, 1024, 14, 1, 3953664);
    row(1024, 256, 14, 1, 2787840);
    row(512, 512, 7, 3, 844800, 462000);
    row(512, 2048, 7, 1, 349440);
    row(2048, 512, 7, 1, 253440);
  }
  void sizes_of_convolution_spaces() {
    QFETCH(int, out);
    QFETCH(int, in);
    QFETCH(int, hw);
    QFETCH(int, kernel);
    QFETCH(qint64, direct);
    QFETCH(qint64, winograd);
    QCOMPARE(conv_cuda(out, in, hw, kernel).size(), direct);
    if (winograd == 0) return;
    const int64_t m = hw % 8 == 0 ? 4 : 2, tile = m + kernel - 1, tiles = ((hw + m - 1) / m) * ((hw + m - 1) / m);
    ConfigSpace s;
    SplitOptions all_blocks = outputs(4);
    all_blocks.filter = [](const std::vector<int64_t>& size) { return size[1] == 1 && size[2] == 1 && size[3] == 1; };
    s.define_split("tile_b", tile * tile, all_blocks);
    s.define_split("tile_y", out, outputs(4));
    s.define_split("tile_x", tiles, outputs(4));
    s.define_split("tile_rc", in, outputs(2));
    s.define_knob("auto_unroll_max_step", {0, 128, 1500});
    s.define_knob("unroll_explicit", {0, 1});
    QCOMPARE(s.knobs()[0].candidates.size(), size_t{1});
    QCOMPARE(s.size(), winograd);
  }
  void sizes_of_product_spaces() {
    QCOMPARE(dense_large(128, 768, 768).size(), 10692000);
    QCOMPARE(dense_large(128, 3072, 768).size(), 18532800);
    QCOMPARE(batch_matmul_cuda(128, 128, 64).size(), 72576);
    ConfigSpace small;
    small.define_split("tile_k", 768, outputs(2));
    QCOMPARE(small.size(), 18);
    // A filter that looks at the outer factor sees -1 and rejects everything: the space is empty, not wrong.
    SplitOptions mistaken = outputs(3);
    mistaken.filter = [](const std::vector<int64_t>& size) { return size[0] > 2; };
    ConfigSpace empty;
    empty.define_split("tile_k", 768, mistaken);
    QCOMPARE(empty.size(), 0);
  }

  void published_indices_decode_to_their_entities_data() {
    QTest::addColumn<int>("space");
    QTest::addColumn<qint64>("index");
    QTest::addColumn<QString>("entity");
    QTest::newRow("conv cuda, worked example")
        << 0 << qint64{42652153}
        << R"([["tile_f","sp",[-1,1,8,4]],["tile_y","sp",[-1,7,1,1]],["tile_x","sp",[-1,1,28,1]],["tile_rc","sp",[-1,4]],["tile_ry","sp",[-1,3]],["tile_rx","sp",[-1,3]],["auto_unroll_max_step","ot",1500],["unroll_explicit","ot",0]])";
    QTest::newRow("conv cuda, logged")
        << 1 << qint64{649034}
        << R"([["tile_f","sp",[-1,1,16,1]],["tile_y","sp",[-1,1,7,1]],["tile_x","sp",[-1,7,1,1]],["tile_rc","sp",[-1,16]],["tile_ry","sp",[-1,1]],["tile_rx","sp",[-1,3]],["auto_unroll_max_step","ot",512],["unroll_explicit","ot",1]])";
    QTest::newRow("dense x86, logged") << 2 << qint64{481}
                                       << R"([["tile_y","sp",[-1,1,1]],["tile_x","sp",[-1,96,8]],["tile_k","sp",[-1,4]],["tile_inner","sp",[-1,1]]])";
    QTest::newRow("depthwise cuda, logged")
        << 4 << qint64{21230}
        << R"([["tile_f","sp",[-1,1,1,2]],["tile_y","sp",[-1,1,7,1]],["tile_x","sp",[-1,1,7,1]],["auto_unroll_max_step","ot",256],["unroll_explicit","ot",1]])";
    QTest::newRow("batch matmul cuda, logged")
        << 5 << qint64{29655}
        << R"([["tile_y","sp",[-1,2,16]],["tile_x","sp",[-1,16,2]],["tile_k","sp",[-1,32]],["auto_unroll_max_step","ot",64],["unroll_explicit","ot",0]])";
    QTest::newRow("conv x86, logged") << 3 << qint64{909}
                                      << R"([["tile_ic","sp",[-1,512]],["tile_oc","sp",[-1,8]],["tile_ow","sp",[-1,2]],["tile_oh","ot",2]])";
  }
  void published_indices_decode_to_their_entities() {
    QFETCH(int, space);
    QFETCH(qint64, index);
    QFETCH(QString, entity);
    const std::vector<ConfigSpace> spaces = {conv_cuda(64, 64, 56, 3),     conv_cuda(512, 512, 7, 3), dense_pack(1, 768, 768),
                                             conv_x86(2048, 192, 8, true), depthwise_cuda(1024, 7),   batch_matmul_cuda(128, 64, 128)};
    const auto point = spaces[space].get(index);
    QVERIFY(point);
    QCOMPARE(QString::fromStdString(point->json_text()), entity);
    const auto back = spaces[space].from_json(point->json_text());
    QVERIFY(back);
    QCOMPARE(back->index(), index);
  }

  void the_first_knob_varies_fastest() {
    ConfigSpace s;
    s.define_knob("a", {10, 20, 30});
    s.define_knob("b", {"x", "y"});
    QCOMPARE(s.get(1)->integer("a"), 20);
    QCOMPARE(s.get(3)->other("b"), Json("y"));
    QCOMPARE(s.knob_positions(5), (std::vector<int>{2, 1}));
    for (int64_t i = 0; i < s.size(); ++i) QCOMPARE(s.index_of(s.knob_positions(i)), i);
  }

  void redefinition_keeps_the_place() {
    ConfigSpace s;
    s.define_knob("a", {1, 2});
    s.define_knob("b", {1, 2});
    s.define_knob("a", {5});
    QCOMPARE(s.knobs()[0].name, std::string("a"));
    QCOMPARE(s.size(), 2);
  }

  void text_is_pythons() {
    ConfigSpace s;
    s.define_split("tile_x", 8, outputs(2));
    s.define_annotate("ann", 2, "try_unroll");
    s.define_knob("unroll", {true, false});
    s.define_knob("layout", {"NCHW", nullptr});
    QCOMPARE(s.get(0)->text(), std::string("[('tile_x', [-1, 1]), ('ann', ['none', 'none']), ('unroll', True), ('layout', NCHW)],None,0"));
    QCOMPARE(s.get(63)->text(), std::string("[('tile_x', [-1, 8]), ('ann', ['unroll', 'unroll']), ('unroll', False), ('layout', None)],None,63"));
  }

  void splits_are_resolved() {
    ConfigSpace s;
    SplitOptions o = outputs(2, "power2");
    s.define_split("t", 10, o);
    QCOMPARE(s.get(2)->split("t"), (std::vector<int64_t>{3, 4}));
    QCOMPARE(s.get(2)->value("t").split, (std::vector<int64_t>{-1, 4}));
  }

  void reads_real_outer_factors_and_python_booleans() {
    const ConfigSpace s = conv_x86(64, 64, 56, false);
    const auto p = s.from_json(Json::parse(R"([["unroll_kw","ot",1],["tile_ic","sp",[8,8]],["tile_oc","sp",[-1,4]],["tile_ow","sp",[2,28]]])"));
    QVERIFY(p);
    QCOMPARE(p->other("unroll_kw"), Json(true));
    QCOMPARE(p->split("tile_ic"), (std::vector<int64_t>{8, 8}));
    QCOMPARE(s.get(p->index())->json_text(), p->json_text());
  }

  void refuses_foreign_entities_by_name_data() {
    QTest::addColumn<QString>("entity");
    QTest::addColumn<QString>("word");
    QTest::newRow("not a list") << "{}"
                                << "Expected a list of 4 knobs, found object";
    QTest::newRow("too few") << R"([["tile_ic","sp",[-1,1]]])"
                             << "found 1";
    QTest::newRow("shape") << R"([["tile_ic","sp"],1,2,3])"
                           << "[name, kind, value]";
    QTest::newRow("unknown knob") << R"([["x","sp",[-1,1]],["a","sp",[1]],["b","sp",[1]],["c","sp",[1]]])"
                                  << "no knob 'x'";
    QTest::newRow("kind") << R"([["tile_ic","ot",[-1,1]],["a","sp",[1]],["b","sp",[1]],["c","sp",[1]]])"
                          << "of kind 'sp'";
    QTest::newRow("value") << R"([["tile_ic","sp",[-1,5]],["a","sp",[1]],["b","sp",[1]],["c","sp",[1]]])"
                           << "'tile_ic' has no candidate [-1,5]";
    QTest::newRow("outer") << R"([["tile_ic","sp",[7,8]],["a","sp",[1]],["b","sp",[1]],["c","sp",[1]]])"
                           << "'tile_ic' has no candidate [7,8]";
    QTest::newRow("twice") << R"([["tile_ic","sp",[-1,8]],["tile_ic","sp",[-1,8]],["b","sp",[1]],["c","sp",[1]]])"
                           << "given twice";
  }
  void refuses_foreign_entities_by_name() {
    QFETCH(QString, entity);
    QFETCH(QString, word);
    const auto p = conv_x86(64, 64, 56, false).from_json(Json::parse(entity.toStdString()));
    QVERIFY(!p);
    QCOMPARE(p.error().code, ErrorCode::invalid_argument);
    QVERIFY2(p.error().message.find(word.toStdString()) != std::string::npos, p.error().message.c_str());
  }

  void get_refuses_what_is_outside() {
    const ConfigSpace s = conv_x86(64, 64, 56, false);
    QVERIFY(!s.get(-1));
    QVERIFY(!s.get(980));
    QVERIFY(s.get(979));
  }

  void filters_keep_indices() {
    ConfigSpace s;
    s.define_knob("a", {1, 2, 3});
    s.define_knob("b", {1, 2, 3});
    s.add_filter([](const ConfigEntity& e) { return e.integer("a") * e.integer("b") <= 4; }, "a * b is at most 4");
    QCOMPARE(s.size(), 9);
    QCOMPARE(s.filtered_reason(*s.get(8)), std::string("a * b is at most 4"));
    QCOMPARE(s.filtered_reason(*s.get(4)), std::string());
  }

  void an_over_strict_filter_empties_the_space() {
    ConfigSpace s;
    s.define_split("t", 7, inner_at_most(2, 0));
    QCOMPARE(s.size(), 0);
    QVERIFY(!s.get(0));
  }

  void spaces_beyond_32_bits_are_quick() {
    ConfigSpace s;
    for (const char* name : {"a", "b", "c", "d", "e"}) s.define_split(name, 2048, outputs(4));
    QCOMPARE(s.size(), int64_t{364} * 364 * 364 * 364 * 364);
    Rng rng(1);
    const auto start = std::chrono::steady_clock::now();
    constexpr int kPoints = 2000;
    for (int i = 0; i < kPoints; ++i) {
      const auto index = rng.range(0, s.size() - 1);
      const auto point = s.get(index);
      QCOMPARE(point->index(), index);
    }
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kPoints;
    QVERIFY2(us < 100, qPrintable(QString("%1 us a point").arg(us)));
  }
};

QTEST_APPLESS_MAIN(ConfigSpaceTest)
#include "config_space_test.moc"
