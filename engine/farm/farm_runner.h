// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json.h"
#include "engine/farm/queue.h"
#include "engine/measure/judging_runner.h"

namespace tw::farm {

/// Has candidates measured by the devices of a kind, all of a batch at once.
///
/// Times of different devices are never mixed as they are. The device that is heard of first is the session's home, in whose seconds results are told. The first
/// kernel of each task that ran well is the task's anchor: a device's times count once the anchor ran there too, and are multiplied by the ratio of the two;
/// until then they wait. The ratio is taken again when the device's own references say that it has become faster or slower. An anchor whose outputs are wrong on a
/// device quarantines it. Candidates that run against each other in the end run on one device.
class FarmRunner final : public measure::JudgingRunner {
 public:
  /// Errors: those of Queue::open.
  static Expected<std::unique_ptr<measure::Runner>> open(Queue::Options options, const measure::WorkerOptions& workers);
  ~FarmRunner() override;

  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& options,
                                          StopToken stop) override;
  /// Of the home device, not long ago; nothing is known before the first result.
  Expected<measure::References> references(StopToken stop) override;

 private:
  struct Slot;
  struct Batch;
  struct Relation {
    double ratio = 1;  ///< its seconds times this are the home's
    measure::References then;
  };
  struct Anchor {
    measure::MeasureJob job;
    std::shared_ptr<const measure::Reference> reference;
    std::shared_ptr<const std::vector<std::byte>> object;  ///< null: nothing of the task ran well yet
    Json gpu;                                              ///< of a GPU's kernel: how it is launched
    std::map<std::string, Relation> relations;             ///< by device
    std::map<std::string, double> seconds;                 ///< of the anchor, by device
  };

  FarmRunner(Queue::Options options, const measure::WorkerOptions& workers);
  void put(Batch& batch, Slot& slot, StopToken stop);
  void take(Batch& batch, const Result& result, StopToken stop);
  void take_anchor(Batch& batch, const std::string& device, const Result& result, StopToken stop);
  /// Tells a result in the home's seconds. False if the device is not related to it yet; what has to run first is put in.
  bool relate(Batch& batch, const std::string& device, records::MeasureResult& result, StopToken stop);
  void put_anchor(Batch& batch, const std::string& device, StopToken stop);
  void end(Batch& batch, Slot& slot, const std::string& device, records::MeasureResult result, StopToken stop);
  void look_after(Batch& batch, StopToken stop);
  records::MeasureResult judged(const records::Task& task, const Result& result, measure::MeasureJob job, const measure::Reference* reference, double wall_s);
  std::string trial_name(const records::Task& task, const measure::MeasureJob& job, const std::string& sha, const std::string& also);
  void quarantine(const std::string& device, const std::string& reason);

  Queue queue_;
  Queue::Options options_;
  std::string nonce_;  ///< of this run of the program
  std::string home_;
  std::map<std::string, Anchor> anchors_;             ///< by task
  std::map<std::string, measure::References> heard_;  ///< by device, with its last result
  std::map<std::string, double> peaks_;               ///< by device: the highest rate of one core that it told
  std::map<std::string, int> named_;                  ///< how often a measurement of the same description was asked for
};

}  // namespace tw::farm
