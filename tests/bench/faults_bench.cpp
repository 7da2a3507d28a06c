// SPDX-License-Identifier: Apache-2.0
// A session on convolutions where one candidate in 20 is made to crash, to hang or to give a wrong result, in real workers. It must end normally, with every
// misbehaviour counted as what it is and none of them best. The exit code says so.
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/measure/measure.h"
#include "engine/records/memory_store.h"
#include "engine/tune/session.h"
#include "tests/bench/bench.h"

using namespace tw;
using records::Status;

namespace {

/// 3x3, `c` channels to as many, an image of `n` x `n`.
te::DagPtr conv_dag(int64_t c, int64_t n) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, c, n + 2, n + 2}, kFloat32), w = b.placeholder("w", {c, c, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "conv2d", {1, c, n, n}, {c, 3, 3}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
  return std::move(b).finish({y});
}

/// What is done to a point: ok for most of them.
Status fate(int64_t index) {
  if (index < 0) return Status::ok;
  switch (stable_hash(std::to_string(index)) % 60) {
    case 0:
      return Status::run_crash;
    case 1:
      return Status::run_timeout;
    case 2:
      return Status::wrong_output;
    default:
      return Status::ok;
  }
}

/// The candidate's code with a fault at its end.
tir::Func spoilt(const tir::Func& f, Status how) {
  const ir::Buffer& y = f.params.back();
  const std::vector<ir::Expr> first(y->shape.size(), ir::index(0));
  std::vector<ir::Expr> far = first;
  far.back() = ir::index(int64_t{1} << 40);
  tir::Stmt fault = tir::store(y, first, ir::fimm(kFloat32, 12345));
  if (how == Status::run_crash) fault = tir::store(y, far, ir::fimm(kFloat32, 0));
  if (how == Status::run_timeout) {
    fault = tir::make_for(ir::make_var("forever"), ir::index(0), ir::index(int64_t{1} << 60), tir::ForKind::serial,
                          tir::store(y, first, ir::load(y, first) + ir::fimm(kFloat32, 1)));
  }
  tir::Func out = f;
  out.body = tir::seq({f.body, fault});
  return out;
}

class SpoilingBuilder : public measure::Builder {
 public:
  explicit SpoilingBuilder(std::unique_ptr<measure::Builder> inner) : inner_(std::move(inner)) {}

  std::vector<measure::BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    std::vector<measure::BuildOutcome> outcomes = inner_->build(task, candidates, stop);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const Status how = fate(candidates[i].index);
      if (how == Status::ok || outcomes[i].status != Status::ok) continue;
      ++made[how];
      const auto schedule = bench::need(schedule::Schedule::replay(task.dag, candidates[i].steps));
      const tir::Func func = spoilt(bench::need(lower::lower_and_optimize(schedule, outcomes[i].artifact->kernels[0].name, task.target)), how);
      auto artifact = std::make_shared<runtime::Artifact>(*outcomes[i].artifact);
      artifact->object = bench::need(codegen::build_object({func}, task.target));
      outcomes[i].artifact = std::move(artifact);
    }
    return outcomes;
  }

  std::map<Status, int64_t> made;

 private:
  std::unique_ptr<measure::Builder> inner_;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Options given(argc, argv);
  std::vector<tune::SessionTask> tasks;
  for (const auto& [c, n] : {std::pair{64, 28}, {96, 30}, {48, 36}, {96, 14}})
    tasks.push_back({records::make_task("conv2d", conv_dag(c, n), host_target()), 1, {}});
  SpoilingBuilder builder(bench::need(measure::local_builder({})));
  const auto runner = bench::need(measure::local_runner({}));
  records::MemoryStore store;
  tune::SessionOptions options;
  options.trials = given.integer("trials", 1000);
  options.tuner = given.text("tuner", "random");
  const double begin = bench::now_s();
  const auto report = bench::need(tune::run_session(tasks, options, builder, *runner, store, {}, {}));

  bool right = true;
  int64_t trials = 0;
  std::map<Status, int64_t> reported;
  for (size_t i = 0; i < tasks.size(); ++i) {
    trials += report.tasks[i].trials;
    for (const auto& [status, count] : report.tasks[i].by_status) reported[status] += count;
    const auto best = bench::need(store.best(tasks[i].task.key, records::Weights::unknown));
    right &= best && fate(best->candidate.index) == Status::ok;
  }
  std::map<Status, int64_t> seen;
  for (const records::Record& r : store.records()) {
    const Status want = fate(r.candidate.index), got = r.result.status;
    ++seen[got];
    if (want == got) continue;
    right = false;
    std::printf("point %lld: expected %s, found %s: %s\n", static_cast<long long>(r.candidate.index), records::status_name(want), records::status_name(got),
                r.result.message.c_str());
  }
  for (const auto& [status, count] : seen) std::printf("%-14s %lld\n", records::status_name(status), static_cast<long long>(count));
  right &= seen == reported;
  std::printf("%lld trials in %.1f s: %s\n", static_cast<long long>(trials), bench::now_s() - begin, right ? "every fault was counted as what it is" : "WRONG");
  return right ? 0 : 1;
}
