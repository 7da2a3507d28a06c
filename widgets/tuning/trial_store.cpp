// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_store.h"

#include <algorithm>

namespace tw::widgets {

uint32_t TrialStore::intern(const std::string& text) {
  const auto [it, fresh] = m_interned.emplace(text, static_cast<uint32_t>(m_strings.size()));
  if (fresh) m_strings.push_back(text);
  return it->second;
}

void TrialStore::append(int64_t number, const records::Record& record) {
  const records::MeasureResult& r = record.result;
  const int row = size();
  m_number.push_back(number);
  m_index.push_back(record.candidate.index);
  m_status.push_back(r.status);
  m_seconds.push_back(r.seconds());
  m_when.push_back(r.timestamp_s);
  m_build.push_back(static_cast<float>(r.build_s));
  m_run.push_back(static_cast<float>(r.run_s));
  m_flags.push_back(static_cast<uint8_t>((r.censored ? 1 : 0) | (r.verified ? 2 : 0)));
  m_message.push_back(intern(r.message));
  m_space.push_back(intern(record.candidate.space));
  if (!r.ok()) {
    ++m_failures[r.status];
  } else if (!r.censored && (m_improvements.empty() || r.seconds() < m_improvements.back().seconds)) {
    m_improvements.push_back({row, r.seconds()});
  }
}

int TrialStore::rowOf(int64_t number) const {
  const auto it = std::lower_bound(m_number.begin(), m_number.end(), number);
  return it != m_number.end() && *it == number ? static_cast<int>(it - m_number.begin()) : -1;
}

}  // namespace tw::widgets
