// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/records/record.h"

namespace tw::widgets {

/// Trials of one task in one session, one vector per column, append-only. Times in seconds.
class TrialStore {
 public:
  struct Best {
    int row = 0;
    double seconds = 0;
  };

  explicit TrialStore(double flops = 0) : m_flops(flops) {}
  void append(int64_t number, const records::Record& record);
  int size() const { return static_cast<int>(m_number.size()); }
  double flops() const { return m_flops; }

  int64_t number(int row) const { return m_number[static_cast<size_t>(row)]; }
  int64_t configIndex(int row) const { return m_index[static_cast<size_t>(row)]; }
  records::Status status(int row) const { return m_status[static_cast<size_t>(row)]; }
  bool ok(int row) const { return status(row) == records::Status::ok; }
  double seconds(int row) const { return m_seconds[static_cast<size_t>(row)]; }  ///< infinity for failures
  bool censored(int row) const { return m_flags[static_cast<size_t>(row)] & 1; }
  bool verified(int row) const { return m_flags[static_cast<size_t>(row)] & 2; }
  double buildSeconds(int row) const { return static_cast<double>(m_build[static_cast<size_t>(row)]); }
  double runSeconds(int row) const { return static_cast<double>(m_run[static_cast<size_t>(row)]); }
  double timestamp(int row) const { return m_when[static_cast<size_t>(row)]; }
  const std::string& message(int row) const { return m_strings[m_message[static_cast<size_t>(row)]]; }
  const std::string& space(int row) const { return m_strings[m_space[static_cast<size_t>(row)]]; }
  /// Row of a trial number, -1 if it is not here.
  int rowOf(int64_t number) const;
  /// Rows where the best time improved, in order: the best-so-far curve.
  const std::vector<Best>& improvements() const { return m_improvements; }
  const std::map<records::Status, int>& failures() const { return m_failures; }

 private:
  uint32_t intern(const std::string& text);
  double m_flops;
  std::vector<int64_t> m_number, m_index;
  std::vector<records::Status> m_status;
  std::vector<double> m_seconds, m_when;
  std::vector<float> m_build, m_run;
  std::vector<uint8_t> m_flags;
  std::vector<uint32_t> m_message, m_space;
  std::vector<std::string> m_strings;
  std::map<std::string, uint32_t> m_interned;
  std::vector<Best> m_improvements;
  std::map<records::Status, int> m_failures;
};
using TrialStorePtr = std::shared_ptr<TrialStore>;

}  // namespace tw::widgets
