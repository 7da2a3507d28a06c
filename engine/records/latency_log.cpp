// SPDX-License-Identifier: Apache-2.0
#include "engine/records/latency_log.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace tw::records {
namespace {

class LatencyLog : public RecordSink {
 public:
  explicit LatencyLog(const std::string& path) : path_(path), file_(path, std::ios::app) {}

  Expected<void> store(const Task&, const std::vector<Record>&) override { return {}; }
  Expected<void> store(const Task&, const std::vector<Record>&, const Round& round) override {
    file_ << total_latency_line(round) << std::endl;
    if (!file_) return system_error("Appending", path_);
    return {};
  }

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace

const FileKind kLatencyLog{"a log of latencies", [](std::string_view beginning) { return beginning.starts_with("ElapsedTime(s)\t"); }};

std::string total_latency_line(const Round& r) {
  const std::string latency = std::isfinite(r.network_s) ? fmt::format("{:.3f}", r.network_s * 1e3) : "N/A";
  return fmt::format("ElapsedTime(s)\t{:.0f}\tEstimatedLatency(ms)\t{}\tTrials\t{}", r.elapsed_s, latency, r.session_trials);
}

Expected<std::unique_ptr<RecordSink>> latency_log_sink(const std::string& path, const std::vector<Round>& earlier) {
  std::string lines;
  for (const Round& round : earlier) lines += total_latency_line(round) + "\n";
  TW_CHECK(write_file(path, kLatencyLog, lines));
  return std::unique_ptr<RecordSink>(std::make_unique<LatencyLog>(path));
}

}  // namespace tw::records
