// SPDX-License-Identifier: Apache-2.0
#include "engine/api/candidate_walk.h"

#include <QtTest>
#include <cmath>

#include "engine/api/why_faster.h"
#include "engine/base/text.h"
#include "engine/schedule/fingerprint.h"
#include "engine/schedule/schedule.h"
#include "engine/space/sketch/choices.h"
#include "engine/space/sketch/draw.h"
#include "engine/space/sketch/sketch.h"
#include "engine/tune/candidate.h"
#include "tests/engine/lower/sample_dags.h"

using namespace tw;

/// Ways between schedules of sketches and others.
class CandidateWalkTest : public QObject {
  Q_OBJECT

  static records::Task product() { return records::make_task("product", tw::testing::dags::matmul(64, 64, 64), parse_target("llvm -mcpu=znver4 -num-cores=2").value()); }
  static records::Candidate of(const schedule::Schedule& s, const std::string& sketch) {
    return {.space = space::kSketchSpace, .config = space::choices_of(s, sketch), .steps = s.steps(), .fingerprint = schedule::fingerprint(s)};
  }
  static std::vector<records::Candidate> drawn(const records::Task& task, size_t n) {
    std::vector<records::Candidate> out;
    Rng rng(7);
    const auto sketches = space::sketches(task.dag, task.target, {});
    for (size_t k = 0; out.size() < n && k < 40 * n; ++k) {
      const size_t number = k % sketches.size();
      if (auto s = space::random_schedule(sketches[number], task.target, {}, rng)) out.push_back(of(*s, fmt::format("sketch {}", number)));
    }
    return out;
  }

 private Q_SLOTS:
  void bothEndsAndWhatLiesBetween() {
    const records::Task task = product();
    const auto candidates = drawn(task, 24);
    QCOMPARE(candidates.size(), size_t{24});
    int walked = 0, between = 0;
    for (const auto& a : candidates)
      for (const auto& b : candidates) {
        if (a.fingerprint == b.fingerprint) continue;
        const auto walk = api::candidate_walk(task, a, b);
        if (!walk) {
          QVERIFY2(walk.error().code == ErrorCode::unsupported || walk.error().code == ErrorCode::invalid_argument, walk.error().text().c_str());
          continue;
        }
        ++walked;
        const uint32_t all = (uint32_t{1} << walk->changes.size()) - 1;
        QVERIFY(walk->at(0).value().fingerprint == a.fingerprint && walk->at(all).value().fingerprint == b.fingerprint);
        for (const api::CandidateChange& c : walk->changes) QVERIFY2(!c.name.empty() && c.first != c.second, c.name.c_str());
        for (size_t k = 0; walk->changes.size() > 1 && k < walk->changes.size(); ++k)
          if (const auto one = walk->at(uint32_t{1} << k)) {
            ++between;
            QVERIFY(one->fingerprint == schedule::fingerprint(schedule::Schedule::replay(task.dag, one->steps).value()));
            QVERIFY(one->steps != a.steps);
            QVERIFY(!one->config.empty() && one->index == -1);
          }
      }
    QVERIFY2(walked > 300 && between > 300, qPrintable(QStringLiteral("%1 %2").arg(walked).arg(between)));
  }

  void aLengthThatDiffersIsOneChange() {
    const records::Task task = product();
    const auto candidates = drawn(task, 1);
    records::Candidate other = candidates[0];
    // Another length of the first split that has one, where that is legal.
    for (schedule::Step& step : other.steps)
      if (auto* split = std::get_if<schedule::SplitStep>(&step); split && !split->lengths.empty()) {
        split->lengths.back() = split->lengths.back() == 4 ? 2 : 4;
        break;
      }
    const auto made = schedule::Schedule::replay(task.dag, other.steps);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    other = of(*made, "sketch 0");
    const auto walk = api::candidate_walk(task, candidates[0], other);
    QVERIFY2(walk.has_value(), walk ? "" : walk.error().text().c_str());
    QCOMPARE(walk->changes.size(), size_t{1});
    QVERIFY2(walk->changes[0].name.starts_with("split("), walk->changes[0].name.c_str());
    QVERIFY2(walk->changes[0].first.starts_with("factors=") && walk->changes[0].second.starts_with("factors="), walk->changes[0].first.c_str());
  }

  void whatCannotBeWalkedIsStillToldApart() {
    const records::Task task = product();
    const auto candidates = drawn(task, 2);
    const auto same = api::candidate_walk(task, candidates[0], candidates[0]);
    QVERIFY(!same && same.error().code == ErrorCode::invalid_argument);
    const records::Candidate without{.space = "elsewhere"};
    const auto nothing = api::candidate_walk(task, without, without);
    QVERIFY(!nothing && nothing.error().code == ErrorCode::unsupported);
    // No point between has a time: the numbers are there, and why there are no shares.
    const records::Candidate before = tune::default_candidate(task);
    const auto ends = [&](const records::Candidate& c) -> Expected<double> {
      if (c.fingerprint == candidates[0].fingerprint && !c.is_default()) return 1e-3;
      if (c.is_default()) return 2e-3;
      return Error(ErrorCode::not_found, "no trial of it is in the workspace");
    };
    size_t asked = 0, all = 0;
    const auto why = api::why_faster(task, before, candidates[0], ends, {.progress = [&](size_t done, size_t of) {
                                                                           QCOMPARE(done, asked++);
                                                                           all = of;
                                                                         },
                                                                         .count = [](const records::Candidate& c) -> Expected<measure::CounterReading> {
                                                                           return measure::CounterReading{{{measure::Event::cycles, c.is_default() ? 2e6 : 1e6}}, "others are not counted"};
                                                                         }});
    QVERIFY2(why.has_value(), why ? "" : why.error().text().c_str());
    QCOMPARE(why->first_s / why->second_s, 2.0);
    if (why->undivided.empty())
      QCOMPARE(why->choices.size(), size_t{1});  // all of it is one change
    else
      QVERIFY2(why->undivided.find("no trial of it is in the workspace") != std::string::npos, why->undivided.c_str());
    QVERIFY(asked == all && all > 1);
    QVERIFY(!why->only_second.empty() && !why->facts.empty() && why->features.size() > 10);
    QVERIFY(std::abs(why->features[0].first - why->features[0].second) >= std::abs(why->features[1].first - why->features[1].second));
    QCOMPARE(why->counts.size(), size_t{1});
    QVERIFY(why->counts[0].first == 2e6 && why->counts[0].second == 1e6 && why->uncounted == "others are not counted");
  }
};

QTEST_APPLESS_MAIN(CandidateWalkTest)
#include "candidate_walk_test.moc"
