// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/knob_values.h"

#include <QtTest>

#include "widgets/tuning/knob_text.h"
#include "widgets/tuning/trial_store.h"

using namespace tw;
using namespace tw::widgets;

class KnobValuesTest : public QObject {
  Q_OBJECT

  static QStringList entries(const char* text, bool* whole = nullptr) {
    NamedValueReader reader(text);
    QStringList list;
    const auto plain = [](std::string_view v) { return QString::fromUtf8(v.data(), static_cast<qsizetype>(v.size())); };
    for (auto e = reader.next(); e; e = reader.next()) list << plain(e->name) + QLatin1Char('|') + plain(e->kind) + QLatin1Char('|') + plain(e->value);
    if (whole) *whole = reader.isWhole();
    return list;
  }

 private Q_SLOTS:
  void readsEntries() {
    bool whole = false;
    QCOMPARE(entries(R"([["tile_x","sp",[-1,8]],["unroll","ot",16]])", &whole), (QStringList{QStringLiteral("tile_x|sp|[-1,8]"), QStringLiteral("unroll|ot|16")}));
    QVERIFY(whole);
    QCOMPARE(entries(" [ [\"a\" , \"ot\" , \"x, ]y\" ] , [\"b\",\"an\",[\"unroll\",\"vec\"]] ] ", &whole),
             (QStringList{QStringLiteral("a|ot|\"x, ]y\""), QStringLiteral("b|an|[\"unroll\",\"vec\"]")}));
    QVERIFY(whole);
    QVERIFY(entries("[]", &whole).isEmpty() && whole);
    for (const char* torn : {"", "[", "{}", R"([["a","ot",1])", R"([["a","ot"]])", R"([["a","ot",1]] x)", R"([["a","ot",1],])", R"([["a","ot",])", "[[\"a"}) {
      entries(torn, &whole);
      QVERIFY2(!whole, torn);
    }
  }

  void readsValuesOfTheirKind() {
    QCOMPARE(knobValueOf(space::KnobKind::split, "[-1, 8]")->split, (std::vector<int64_t>{-1, 8}));
    QCOMPARE(knobValueOf(space::KnobKind::other, "true")->other, Json(true));
    QCOMPARE(knobValueOf(space::KnobKind::annotate, R"(["vec"])")->annotate, std::vector<std::string>{"vec"});
    QVERIFY(!knobValueOf(space::KnobKind::split, "8") && !knobValueOf(space::KnobKind::split, R"(["x"])") && !knobValueOf(space::KnobKind::other, "{"));
    QVERIFY(knobKindOf("re") == space::KnobKind::reorder && !knobKindOf("zz"));
  }

  void aSplitsFirstFactorIsKnownEitherWay() {
    space::ConfigSpace space;
    space.define_split("tile", 64, {});
    const space::Knob& knob = space.knobs()[0];
    for (size_t p = 0; p < knob.candidates.size(); ++p) {
      space::KnobValue real = knob.candidates[p];
      QCOMPARE(candidateOf(knob, real), static_cast<int>(p));
      real.split[0] = 64 / real.split[1];
      QCOMPARE(candidateOf(knob, real), static_cast<int>(p));
      real.split[0] += 1;
      QCOMPARE(candidateOf(knob, real), -1);
    }
  }

  void ordersAndAnnotationsNameTheirLoops() {
    auto space = std::make_shared<space::ConfigSpace>();
    space->define_reorder("order", 3, space::ReorderOptions{.policy = "all", .axes = {"ki", "yi", "xi"}});
    space->define_annotate("marks", 2, space::AnnotateOptions{.policy = "try_unroll_vec", .axes = {"yi", "xi"}});
    space->define_reorder("unnamed", 2, "all");
    const auto& knobs = space->knobs();
    QCOMPARE(knobValueText(knobs[0], knobs[0].candidates[3]), QStringLiteral("[yi, xi, ki]"));
    QCOMPARE(knobValueText(knobs[1], knobs[1].candidates[0]), QStringLiteral("none"));
    QCOMPARE(knobValueText(knobs[1], knobs[1].candidates[5]), QStringLiteral("unroll yi, vec xi"));
    QCOMPARE(knobValueText(knobs[2], knobs[2].candidates[1]), QStringLiteral("[1, 0]"));
    // Of a record too, where the space is known.
    records::Candidate candidate;
    candidate.space = "own";
    candidate.config = space->get(3)->json_text();
    QCOMPARE(knobsText(knobsOf(candidate, {{"own", space}})), QStringLiteral("order [yi, xi, ki]  marks none  unnamed [0, 1]"));
    QCOMPARE(knobsText(knobsOf(candidate, {})), QStringLiteral("order [1, 2, 0]  marks [none, none]  unnamed [0, 1]"));
  }

  /// What a store keeps of trials that have names and no number.
  void storesKnowTheirChoices() {
    TrialStore store(1e9);
    const auto add = [&](const char* space, const char* config) {
      db::TrialOutcome t;
      t.number = store.size() + 1, t.space = space, t.config = config, t.status = records::Status::ok, t.seconds = 1e-3;
      store.append(t);
    };
    add("sketch", R"([["i","sp",[4,8]],["unroll","ot",16]])");
    add("sketch", R"([["i","sp",[2,16]],["unroll","ot",16]])");
    add("sketch", R"([["i","sp",[2,2,8]]])");
    add("other", R"([["i","sp",[4,8]],["unroll","ot",16]])");
    add("default", "");
    add("sketch", R"([["i","sp")");
    QCOMPARE(store.layoutCount(), 3u);
    QCOMPARE(store.layoutId(0), store.layoutId(1));
    QVERIFY(store.layoutId(0) != store.layoutId(2) && store.layoutId(0) != store.layoutId(3));
    QCOMPARE(store.layoutId(4), TrialStore::kNoLayout);
    QCOMPARE(store.layoutId(5), TrialStore::kNoLayout);
    QCOMPARE(store.text(store.knobValueId(1, 0)), std::string("[2,16]"));
    QCOMPARE(store.knobValueId(0, 1), store.knobValueId(1, 1));
    QCOMPARE(store.knobNames(), (std::set<std::string>{"i", "unroll"}));
    records::Candidate c;
    c.space = "sketch", c.config = R"([["i","sp",[2,16]],["unroll","ot",16]])";
    QVERIFY(!store.isOf(0, c) && store.isOf(1, c) && !store.isOf(2, c));
    c.space = "default", c.config.clear();
    QVERIFY(store.isOf(4, c) && !store.isOf(0, c));
    // A snapshot for other threads keeps what it has.
    const TrialColumns snapshot(store);
    for (int i = 0; i < 20'000; ++i) add("sketch", R"([["i","sp",[8,4]],["unroll","ot",0]])");
    QCOMPARE(snapshot.text(snapshot.knobValueId(3, 0)), std::string("[4,8]"));
    QCOMPARE(store.text(store.knobValueId(20'005, 0)), std::string("[8,4]"));
  }
};

QTEST_APPLESS_MAIN(KnobValuesTest)
#include "knob_values_test.moc"
