// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tw::cli {

/// Progress of one piece of work on standard error: a bar with the time left on a terminal, else plain lines a few seconds apart.
class Progress {
 public:
  /// `total` 0: no end known, only a count is shown.
  Progress(std::string what, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void set_total(int64_t total) { total_ = total; }
  /// Work that was already there when this began does not count for the estimate.
  void start_at(int64_t done) { start_ = done_ = done; }
  /// Cheap: draws at most ten times a second.
  void update(int64_t done, const std::string& detail = {});
  /// A line above the bar that stays.
  void line(const std::string& text);
  /// Ends the bar's line; called by the destructor too.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& detail);
  std::string estimate() const;

  std::string what_;
  int64_t total_ = 0, done_ = 0, start_ = 0;
  bool terminal_ = false, finished_ = false, drawn_ = false;
  int64_t drawn_done_ = -1;
  std::string detail_;
  Clock::time_point began_, last_;
};

}  // namespace tw::cli
