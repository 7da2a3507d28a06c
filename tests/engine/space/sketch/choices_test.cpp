// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/choices.h"

#include <QtTest>

#include "tests/engine/lower/sample_dags.h"

using namespace tw;
using namespace tw::space;
using namespace tw::schedule;

class ChoicesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesAndValues() {
    const Schedule s = Schedule::replay(tw::testing::dags::matmul(8, 12, 6, true),
                                        {SplitStep{2, 0, 8, {2, 2}}, SplitStep{2, 3, 12, {4}, false}, ComputeAtStep{2, 3, 1}, AutoUnrollStep{2, 16},
                                         AutoUnrollStep{2, 64}, AnnotationStep{3, 0, Annotation::parallel}})
                           .value();
    QCOMPARE(choices_of(s, "sketch 1"), std::string(R"([["sketch","ot","sketch 1"],["matmul.i","sp",[-1,2,2]],["matmul.j","sp",[4,-1]],["matmul.at","ot","relu.j"],)"
                                                    R"(["matmul.unroll","ot",64],["relu.parallel","ot","i"]])"));
    QCOMPARE(sketch_of(choices_of(s, "sketch 1")), std::string("sketch 1"));
  }
  void listsWithoutASketch() {
    for (const char* text : {"", "[]", "{}", "[[\"tile_x\",\"sp\",[-1,8]]]", "[[\"sketch\",\"ot\",3]]", "not json"}) QCOMPARE(sketch_of(text), std::string());
  }
};

QTEST_APPLESS_MAIN(ChoicesTest)
#include "choices_test.moc"
