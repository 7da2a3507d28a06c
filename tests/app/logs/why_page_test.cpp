// SPDX-License-Identifier: Apache-2.0
#include "app/logs/why_page.h"

#include <QtTest>

#include "engine/tune/candidate.h"
#include "tests/engine/lower/sample_dags.h"

using namespace tw;

class WhyPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbers() {
    QCOMPARE(logs::fact_text(12), std::string("12"));
    QCOMPARE(logs::fact_text(0.123456), std::string("0.1235"));
    QCOMPARE(logs::fact_text(2363123.4), std::string("2363123"));
    api::WhyFaster why{.first_s = 8, .second_s = 2};
    QCOMPARE(logs::explained_text(why, {{"a", "1", "2"}, {.factor = 2}}), std::string("50 %"));
    why.second_s = 8;
    QCOMPARE(logs::explained_text(why, {{"a", "1", "2"}, {.factor = 2}}), std::string("-"));
  }
  void allOfItStandsInThePage() {
    const records::Task task = records::make_task("a<b", tw::testing::dags::matmul(64, 64, 64), parse_target("llvm -mcpu=znver4 -num-cores=2").value());
    const logs::WhySide first{"the default <schedule>", tune::default_candidate(task)}, second{"3:17", {.space = "sketch"}};
    api::WhyFaster why{.first_s = 4e-3, .second_s = 1e-3, .choices = {{{"tile<x>", "[1]", "[8]"}, {.factor = 4, .least = 4, .most = 4}}}, .orders = 1, .all_orders = 1};
    why.missing = {{{"tile<x>"}, "no & trial"}};
    why.facts = {{"blocks", 2, 4}}, why.counts = {{"cycles of a call", 2e6, 1e6}}, why.features = {{"stride", 1, 2}}, why.uncounted = "The rest is not counted";
    const std::string page = logs::why_page(task, first, second, why, "measured");
    for (const char* expected : {"a&lt;b", "the default &lt;schedule&gt;", "tile&lt;x&gt;", "no &amp; trial", "100 %", "cycles of a call", "2000000", "stride", "The rest is not counted", "<mark>",
                                 "TIR after all passes", "Assembly", "grid-template-columns"})
      QVERIFY2(page.find(expected) != std::string::npos, expected);
    QVERIFY(page.find("http://") == std::string::npos && page.find("https://") == std::string::npos && page.find("<script") == std::string::npos);
    why.undivided = "Expected <more>";
    const std::string other = logs::why_page(task, first, second, why, "measured");
    QVERIFY(other.find("cannot be shared among choices: Expected &lt;more&gt;") != std::string::npos && other.find("100 %") == std::string::npos);
  }
};

QTEST_APPLESS_MAIN(WhyPageTest)
#include "why_page_test.moc"
