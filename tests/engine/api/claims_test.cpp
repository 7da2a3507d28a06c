// SPDX-License-Identifier: Apache-2.0
#include "engine/api/claims.h"

#include <QtTest>
#include <cmath>
#include <limits>

#include "engine/space/template.h"

using namespace tw;
using namespace tw::api;
using records::Status;

namespace {

records::Task dense_task() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {64, 256}, kFloat32), w = b.placeholder("w", {128, 256}, kFloat32, te::Role::constant);
  const te::Tensor d = b.reduce(
      "dense", {64, 128}, {256}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return records::make_task("dense", std::move(b).finish({d}), parse_target("llvm -mcpu=znver4 -num-cores=2").value());
}

records::Task copy_task(int64_t elements) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {elements}, kFloat32);
  return records::make_task("copy", std::move(b).finish({b.compute("y", {elements}, [&](const te::Indices& i) { return x.at(i); })}),
                            parse_target("llvm -mcpu=znver4 -num-cores=2").value());
}

records::MeasureResult timed(std::vector<double> samples) {
  records::MeasureResult r;
  r.status = Status::ok;
  r.samples_s = std::move(samples);
  r.sample_flags.assign(r.samples_s.size(), false);
  r.verified = true;
  return r;
}

double least_s(const records::Task& task) { return least_seconds(*task.dag, task.target); }

records::Candidate point(const records::Task& task, int64_t index) {
  const space::Template* t = space::find_template(*task.dag, task.target);
  const auto e = t->space(*task.dag, task.target).get(index).value();
  return {t->name, index, e.json_text(), t->apply(task.dag, task.target, e).value().steps()};
}

}  // namespace

class ClaimsTest : public QObject {
  Q_OBJECT
  const records::Task task_ = dense_task();
  ClaimChecker claims_;

 private Q_SLOTS:
  void possible_times_are_kept_and_never_verified() {
    const records::MeasureResult r = claims_.as_claim(task_, timed({1e-4, 2e-4}));
    QVERIFY(r.ok() && !r.verified);
    QCOMPARE(r.seconds(), 1e-4);
    QVERIFY(as_claim(timed({1e-9})).ok() && !as_claim(timed({1e-9})).verified);
  }
  void impossible_times_are_failures() {
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const double s : {-1.0, 0.0, 1e-300, 1e-12, 0.9 * least_s(task_), 1e9, nan, infinity}) {
      for (const records::MeasureResult& r : {claims_.as_claim(task_, timed({1e-4, s})), claims_.as_claim(task_, timed({s}))}) {
        QVERIFY2(r.status == Status::bad_timing, qPrintable(QString::number(s)));
        QVERIFY(!r.verified && !r.message.empty() && std::isinf(r.decided_s()));
      }
    }
    for (const double s : {-1.0, 0.0, 1e-12, nan}) QVERIFY(as_claim(timed({s})).status == Status::bad_timing);
    QVERIFY(claims_.as_claim(task_, timed({})).status == Status::bad_timing);
    records::MeasureResult final = timed({1e-4});
    final.verdict = records::Verdict{1e-12, 1, 1};
    QVERIFY(claims_.as_claim(task_, final).status == Status::bad_timing);
    final.verdict->seconds = infinity;  // it failed there
    QVERIFY(claims_.as_claim(task_, final).ok());
  }
  /// A server's log on a machine with two cores.
  void logs_of_larger_machines_are_possible() {
    const double fast = least_s(task_) / 100;
    QVERIFY(claims_.as_claim(task_, timed({fast})).status == Status::bad_timing);
    const records::MeasureResult r = claims_.as_foreign_claim(task_, timed({fast}));
    QVERIFY(r.ok() && !r.verified);
    QVERIFY(claims_.as_foreign_claim(task_, timed({fast / 10})).status == Status::bad_timing);
    records::Task gpu = task_;
    gpu.target = parse_target("cuda:a100").value();
    QVERIFY(ClaimChecker().as_foreign_claim(gpu, timed({0.5 * least_s(gpu)})).status == Status::bad_timing);
  }
  void failures_stay_what_they_are() {
    records::MeasureResult r;
    r.status = Status::build_fail;
    r.message = "no";
    QVERIFY(claims_.as_claim(task_, r).status == Status::build_fail);
    QCOMPARE(claims_.as_claim(task_, r).message, std::string("no"));
  }
  /// 2 * 64 * 128 * 256 operations in less than a microsecond are more than two cores do; so are 64 MiB stored in 100 us.
  void the_least_time_is_between_the_absurd_and_the_fast() {
    QVERIFY(least_s(task_) > 1e-6);
    QVERIFY(least_s(task_) < 1e-5);
    QVERIFY(least_s(copy_task(16 << 20)) > 1e-5);
    QVERIFY(least_s(copy_task(16 << 20)) < 1e-3);
    QCOMPARE(least_s(copy_task(1)), records::kLeastTime);
  }
  void steps_are_those_of_the_point() {
    const records::Candidate good = point(task_, 3);
    QVERIFY(claims_.check_steps(task_, good));
    records::Candidate other = good;
    other.steps = point(task_, 4).steps;
    QCOMPARE(claims_.check_steps(task_, other).error().code, ErrorCode::corrupt);
    other = good;
    other.steps.clear();
    QCOMPARE(claims_.check_steps(task_, other).error().code, ErrorCode::corrupt);
    other = good;
    other.config = point(task_, 4).config;
    QCOMPARE(claims_.check_steps(task_, other).error().code, ErrorCode::corrupt);
    other = good;
    other.index = int64_t{1} << 60;
    QCOMPARE(claims_.check_steps(task_, other).error().code, ErrorCode::invalid_argument);
    other = good;
    other.space = "no_such_space";
    QCOMPARE(claims_.check_steps(task_, other).error().code, ErrorCode::unsupported);
  }
  void the_default_schedule_is_the_rules() {
    records::Candidate rule{"default", -1, "", space::default_schedule(task_.dag, task_.target).steps()};
    QVERIFY(claims_.check_steps(task_, rule));
    rule.steps.clear();  // plain loops, which can be replayed, are not the default
    QCOMPARE(claims_.check_steps(task_, rule).error().code, ErrorCode::corrupt);
    rule.space = "elsewhere";
    QVERIFY(claims_.check_steps(task_, rule));
    rule.steps = {schedule::SplitStep{99, 0, 4, {2}}};
    QVERIFY(!claims_.check_steps(task_, rule));
  }
};

QTEST_APPLESS_MAIN(ClaimsTest)
#include "claims_test.moc"
