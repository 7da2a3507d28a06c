// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/api/compile.h"
#include "engine/api/in_place.h"
#include "engine/api/network_selection.h"
#include "engine/measure/network_runner.h"

namespace tw::api {

/// A compiled variant as a file, and what of it a report needs.
struct CompiledFile {
  std::string path;           ///< of the `.twx`, which holds neither graph nor its constants
  runtime::Executable facts;  ///< calls, slots and signatures, without code and data
  size_t code_bytes = 0;
  bool checked = false;  ///< its results were compared with the first variant's
};

/// Variants of one network, compiled when they are asked for, run by turns in fresh processes, their results compared with the first one's.
class CompiledContest : public NetworkContest {
 public:
  struct Setting {
    const Network* network = nullptr;
    const Target* target = nullptr;
    std::string device;  ///< by measure::open_device's names
    StopToken stop;
  };
  /// `folder` for the files, which stay in it.
  CompiledContest(const Setting& setting, measure::NetworkRunner& runner, std::string folder);

  Expected<std::vector<VariantRuns>> launch(const std::vector<Variant>& variants, uint64_t seed) override;
  Expected<CompiledFile*> compiled(const Variant& variant);
  /// Seconds of each call of a variant: the median over its processes of their medians. Empty if it never ran.
  Expected<std::vector<CallInPlace>> profile(const Variant& variant);
  /// Removes the file of a variant that is not needed any more: weights of large networks fill disks.
  void discard(const Variant& variant);
  const runtime::Executable& facts(const Variant& variant) const { return variants_.at(variant).facts; }

 protected:
  virtual Expected<runtime::Executable> compile_variant(const Variant& variant) = 0;
  /// As VariantRuns::kernels.
  virtual std::vector<PartTimes> kernel_times(const runtime::Executable& e, const measure::VariantTimes& times) const = 0;
  /// A process may take so long as runs of so many seconds do, generously.
  void expect_runs_of(double seconds);
  /// Variants mean something else from now on.
  void forget() { variants_.clear(); }

 private:
  Expected<measure::NetworkTimes> run(const measure::NetworkJob& job);
  Expected<std::vector<VariantRuns>> blame(const measure::NetworkJob& job, const Error& why);
  Expected<std::string> difference(const std::vector<HostArray>& want, const std::vector<HostArray>& got);

  const Setting setting_;
  measure::NetworkRunner& runner_;
  const std::string folder_;
  measure::NetworkJob job_;
  double run_limit_s_ = 0;
  std::map<Variant, CompiledFile> variants_;
  std::map<Variant, std::vector<measure::VariantTimes>> profiles_;  ///< of every process that ran it
  std::vector<double> tolerances_;
  int made_ = 0;  ///< files
};

}  // namespace tw::api
