// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/session_options.h"

#include <QtTest>

#include "engine/tune/scheduler.h"
#include "engine/tune/strategy.h"

using namespace tw;
using namespace tw::tune;

class SessionOptionsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void every_option_survives_its_json() {
    SessionOptions o;
    o.tuner = "genetic";
    o.tuner_params = {{"population", 8}};
    o.space = "dense_pack.x86";
    o.seed = 7, o.trials = 11, o.trials_per_task = 12, o.time_s = 1.5, o.batch = 3, o.early_stopping = 4, o.transfer = true, o.finalists = 5;
    o.scheduler = "gradient";
    o.scheduler_params = {{"beta", 3.0}};
    o.weights = records::Weights::warm;
    o.verify = Verify::best;
    o.repeats = 6, o.min_repeat_s = 0.25, o.timeout_s = 8, o.build_timeout_s = 9;
    const Json json = to_json(o);
    for (const Param& p : session_schema()) QVERIFY2(json.at(p.name) != p.default_value, p.name.c_str());
    const auto back = session_options(json);
    QVERIFY2(back, back ? "" : back.error().text().c_str());
    Json again = to_json(*back);
    QCOMPARE(again.at("tuner_params").at("population"), Json(8));
    QCOMPARE(again.at("scheduler_params").at("beta"), Json(3.0));
    QCOMPARE(again.at("scheduler_params").at("alpha"), Json(0.2));
    for (const Param& p : session_schema()) QCOMPARE(again.at(p.name), json.at(p.name));
  }
  void what_is_missing_has_its_default_and_what_is_no_option_is_passed_over() {
    const auto o = session_options(Json{{"device", "local"}, {"seed", 3}});
    QVERIFY(o);
    QCOMPARE(o->seed, uint64_t{3});
    QCOMPARE(o->scheduler, std::string("proportional"));
    QCOMPARE(o->timeout_s, SessionOptions().timeout_s);
    QCOMPARE(session_options(Json{{"timeout_s", 0}, {"build_timeout_s", 0}})->timeout_s, SessionOptions().timeout_s);
    QCOMPARE(session_options(Json{{"timeout_s", 0}, {"build_timeout_s", 0}})->build_timeout_s, SessionOptions().build_timeout_s);
  }
  void bad_options_are_named() {
    for (const auto& [json, name] : std::vector<std::pair<Json, std::string>>{{{{"batch", 0}}, "batch"},
                                                                             {{{"trials", -1}}, "trials"},
                                                                             {{{"trials", "many"}}, "trials"},
                                                                             {{{"time_s", -1}}, "time_s"},
                                                                             {{{"scheduler", "magic"}}, "gradient"},
                                                                             {{{"tuner", "magic"}}, "genetic"},
                                                                             {{{"tuner_params", {{"depth", 1}}}}, "depth"},
                                                                             {{{"tuner_params", 3}}, "3"},
                                                                             {{{"scheduler_params", {{"alpha", 1}}}}, "alpha"}}) {
      const auto o = session_options(json);
      QVERIFY2(!o, dump_json(json).c_str());
      QVERIFY2(o.error().message.find(name) != std::string::npos, o.error().message.c_str());
    }
    QVERIFY(!session_options(Json(3)));
  }
  void names_that_users_of_autotvm_know() {
    const auto named = [](const char* name) {
      const auto o = session_options(Json{{"tuner", name}});
      return o ? o->tuner + " " + o->tuner_params.value("feature", "") + " " + o->tuner_params.value("loss", "") : "refused";
    };
    QCOMPARE(named("ga"), std::string("genetic  "));
    QCOMPARE(named("gridsearch"), std::string("grid  "));
    QCOMPARE(named("xgb"), std::string("xgb knob rank"));
    QCOMPARE(named("xgb_knob"), std::string("xgb knob rank"));
    QCOMPARE(named("xgb_itervar"), std::string("xgb itervar rank"));
    QCOMPARE(named("xgb_curve"), std::string("xgb curve rank"));
    QCOMPARE(named("xgb_rank"), std::string("xgb knob rank"));
    QCOMPARE(named("xgb_itervar_reg"), std::string("xgb itervar reg"));
    for (const char* name : {"xgb_", "xgb_knob_curve", "xgb_magic", "xgb_rank_rank", "gaa"}) QCOMPARE(named(name), std::string("refused"));
    const auto own = session_options(Json{{"tuner", "xgb_curve"}, {"tuner_params", {{"feature", "knob"}}}});
    QCOMPARE(own->tuner_params.at("feature"), Json("knob"));
  }
};

QTEST_APPLESS_MAIN(SessionOptionsTest)
#include "session_options_test.moc"
