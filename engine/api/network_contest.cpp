// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_contest.h"

#include <filesystem>

#include "engine/base/text.h"
#include "engine/measure/worker.h"

namespace tw::api {

namespace {
constexpr double kLeastLimit = 60, kSlack = 20;
}

CompiledContest::CompiledContest(const Setting& setting, measure::NetworkRunner& runner, std::string folder)
    : setting_(setting), runner_(runner), folder_(std::move(folder)) {
  expect_runs_of(0);
  if (setting.target->gpu) job_.device = setting.device;
}

void CompiledContest::expect_runs_of(double seconds) { run_limit_s_ = kLeastLimit + kSlack * (seconds + job_.block_s) * 2 * job_.rounds; }

Expected<std::vector<VariantRuns>> CompiledContest::launch(const std::vector<Variant>& variants, uint64_t seed) {
  measure::NetworkJob job = job_;
  job.seed = seed;
  job.run_limit_s = run_limit_s_;
  std::vector<CompiledFile*> files;
  for (const Variant& v : variants) {
    TW_TRY(CompiledFile * file, compiled(v));
    files.push_back(file);
    job.files.push_back(file->path);
    job.outputs |= !file->checked;
  }
  auto ran = run(job);
  if (!ran && ran.error().code != ErrorCode::cancelled && variants.size() > 1) return blame(job, ran.error());
  if (!ran) return ran.error();
  measure::NetworkTimes& times = *ran;
  std::vector<VariantRuns> runs;
  for (size_t v = 0; v < variants.size(); ++v) {
    measure::VariantTimes& t = times.variants[v];
    if (t.calls_s.size() != files[v]->facts.calls.size()) return Error(ErrorCode::infrastructure, "The worker ran another network than it was given");
    runs.push_back({setting_.target->gpu ? PartTimes{t.runs_s} : t.calls_s, kernel_times(files[v]->facts, t), {}});
    if (job.outputs) {
      TW_TRY(runs.back().wrong, difference(times.variants[0].outputs, t.outputs));
      files[v]->checked = runs.back().wrong.empty();
    }
  }
  for (size_t v = 0; v < variants.size(); ++v) {
    times.variants[v].outputs.clear();
    profiles_[variants[v]].push_back(std::move(times.variants[v]));
  }
  return runs;
}

Expected<std::vector<CallInPlace>> CompiledContest::profile(const Variant& variant) {
  const auto ran = profiles_.find(variant);
  if (ran == profiles_.end()) return std::vector<CallInPlace>();
  TW_TRY(const CompiledFile* file, compiled(variant));
  std::vector<double> seconds;
  std::vector<bool> woke;
  for (size_t c = 0; c < file->facts.calls.size(); ++c) {
    std::vector<double> medians;
    size_t wakes = 0;
    for (const measure::VariantTimes& t : ran->second) {
      medians.push_back(median_of(t.calls_s[c]));
      wakes += t.woke[c];
    }
    seconds.push_back(median_of(std::move(medians)));
    woke.push_back(2 * wakes > ran->second.size());
  }
  return calls_in_place(file->facts, seconds, woke);
}

/// What fails is tried again, as it need not be the network's fault.
Expected<measure::NetworkTimes> CompiledContest::run(const measure::NetworkJob& job) {
  for (int attempt = 1;; ++attempt) {
    auto times = runner_.run(job, setting_.stop);
    if (times || times.error().code == ErrorCode::cancelled || attempt == measure::kInfraAttempts) return times;
  }
}

/// Who of them fails by itself has wrong results; the first, which the others are compared with, must not.
Expected<std::vector<VariantRuns>> CompiledContest::blame(const measure::NetworkJob& job, const Error& why) {
  std::vector<VariantRuns> runs(job.files.size());
  bool blamed = false;
  for (size_t v = 0; v < job.files.size(); ++v) {
    measure::NetworkJob alone = job;
    alone.files = {job.files[v]};
    const auto ran = run(alone);
    if (ran) continue;
    if (v == 0 || ran.error().code == ErrorCode::cancelled) return ran.error();
    runs[v].wrong = ran.error().text();
    blamed = true;
  }
  return blamed ? Expected<std::vector<VariantRuns>>(std::move(runs)) : why;
}

Expected<CompiledFile*> CompiledContest::compiled(const Variant& variant) {
  if (const auto known = variants_.find(variant); known != variants_.end()) return &known->second;
  TW_TRY(runtime::Executable e, compile_variant(variant));
  e.graph_text.clear();
  e.graph_constants.clear();
  CompiledFile c{fmt::format("{}/{}.twx", folder_, made_++), {}, e.artifact.object.size(), false};
  for (const runtime::GpuFunction& f : e.artifact.gpu)
    for (const auto& [capability, image] : f.images) c.code_bytes += image.size();
  TW_CHECK(runtime::save(e, c.path));
  e.artifact.object.clear();
  e.artifact.gpu.clear();
  for (runtime::Slot& slot : e.slots) slot.data = nullptr;
  c.facts = std::move(e);
  return &variants_.emplace(variant, std::move(c)).first->second;
}

void CompiledContest::discard(const Variant& variant) {
  const auto known = variants_.find(variant);
  if (known == variants_.end()) return;
  std::error_code ignored;  // the folder goes in the end
  std::filesystem::remove(known->second.path, ignored);
  variants_.erase(known);
}

/// Both may be off by what the operators allow.
Expected<std::string> CompiledContest::difference(const std::vector<HostArray>& want, const std::vector<HostArray>& got) {
  if (tolerances_.empty()) {
    TW_TRY(tolerances_, output_tolerances(setting_.network->imported, setting_.target->allows_tf32()));
  }
  if (want.size() != got.size() || want.size() > tolerances_.size())
    return Error(ErrorCode::infrastructure, "The worker sent other outputs than the network's");
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i].shape != got[i].shape || want[i].dtype != got[i].dtype)
      return Error(ErrorCode::infrastructure, "The worker sent other outputs than the network's");
    const double off = compare(got[i], want[i]).max_rel;
    if (!(off <= 2 * tolerances_[i]))
      return fmt::format("output {} differs by {:.3g} from the first network's, where {:.3g} is allowed", i, off, 2 * tolerances_[i]);
  }
  return std::string();
}

}  // namespace tw::api
