// SPDX-License-Identifier: Apache-2.0
#include "engine/space/point_texts.h"

#include <QtTest>

using namespace tw;
using namespace tw::space;

namespace {

ConfigSpace space_of_all_kinds() {
  ConfigSpace s;
  s.define_split("tile \"x\" ]", 24, {.num_outputs = 3});
  s.define_reorder("order", 3, "all");
  s.define_annotate("ann", 2, "try_unroll_vec");
  s.define_knob("unroll", {0, 64, 512});
  s.define_knob("flag", {true, "word]", nullptr});
  return s;
}

}  // namespace

class PointTextsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void everyPointIsFoundByItsText() {
    const ConfigSpace s = space_of_all_kinds();
    const PointTexts texts(s);
    for (int64_t i = 0; i < s.size(); i += 7) {
      const auto point = texts.read(s.get(i)->json_text());
      QVERIFY2(point, point ? "" : point.error().text().c_str());
      QCOMPARE(point->index(), i);
    }
  }

  void otherSpellingsAreParsed() {
    ConfigSpace s;
    s.define_split("tile_x", 24, {.num_outputs = 2});
    s.define_knob("unroll", {0, 64});
    const PointTexts texts(s);
    const int64_t wanted = s.from_json(std::string(R"([["tile_x","sp",[-1,8]],["unroll","ot",64]])"))->index();
    for (const char* text : {R"([["tile_x","sp",[3,8]],["unroll","ot",64]])", R"([["unroll","ot",64],["tile_x","sp",[-1,8]]])",
                             R"([ ["tile_x", "sp", [-1, 8]], ["unroll", "ot", 64] ])", R"([["tile_\u0078","sp",[-1,8]],["unroll","ot",64]])"}) {
      const auto point = texts.read(text);
      QVERIFY2(point, text);
      QCOMPARE(point->index(), wanted);
    }
  }

  void errorsAreThoseOfTheSpace() {
    ConfigSpace s;
    s.define_split("tile_x", 24, {.num_outputs = 2});
    s.define_knob("unroll", {0, 64});
    const PointTexts texts(s);
    for (const char* text : {"", "[", "[]", "null", R"([["tile_x","sp",[-1,7]],["unroll","ot",64]])", R"([["tile_x","sp",[-1,8]]])",
                             R"([["tile_x","sp",[-1,8]],["unroll","ot",64],["more","ot",1]])", R"([["tile_x","sp",[-1,8]],["unroll","ot",64])",
                             R"([["tile_x","sp",[-1,8]]["unroll","ot",64]])", R"([["tile_x","sp",[-1,8]],["unroll","ot",65]])"}) {
      const auto point = texts.read(text);
      const auto expected = s.from_json(std::string(text));
      QVERIFY2(!point && !expected, text);
      QCOMPARE(point.error().text(), expected.error().text());
    }
  }
};

QTEST_APPLESS_MAIN(PointTextsTest)
#include "point_texts_test.moc"
