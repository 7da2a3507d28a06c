// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_store.h"

#include <algorithm>
#include <limits>

namespace tw::widgets {

int TrialColumns::rowOf(int64_t wanted) const {
  int low = 0, high = m_size;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (number(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m_size && number(low) == wanted ? low : -1;
}

size_t TrialColumns::bytes() const {
  size_t bytes = m_blocks.size() * sizeof(Block) + m_texts.size() * sizeof(TextBlock);
  for (uint32_t id = 0; id < m_textCount; ++id) bytes += text(id).capacity();
  return bytes;
}

uint32_t TrialStore::intern(const std::string& text) {
  const auto [it, fresh] = m_interned.emplace(text, m_textCount);
  if (!fresh) return it->second;
  if (m_textCount % kTextBlock == 0) m_texts.push_back(std::make_shared<TextBlock>());
  (*m_texts.back())[m_textCount % kTextBlock] = text;
  return m_textCount++;
}

void TrialStore::append(const db::TrialOutcome& trial) {
  const int row = m_size;
  const double spent = (row > 0 ? spentSeconds(row - 1) : 0) + trial.build_s + trial.run_s;
  if (in(row) == 0) m_blocks.push_back(std::shared_ptr<Block>(new Block));  // not zeroed: every field is written below
  Block& b = *m_blocks.back();
  const size_t i = in(row);
  b.number[i] = trial.number;
  b.index[i] = trial.index;
  b.status[i] = trial.status;
  b.seconds[i] = trial.seconds;
  b.when[i] = trial.timestamp_s;
  b.spent[i] = spent;
  b.build[i] = static_cast<float>(trial.build_s);
  b.run[i] = static_cast<float>(trial.run_s);
  b.flags[i] = static_cast<uint8_t>((trial.censored ? 1 : 0) | (trial.verified ? 2 : 0));
  b.predicted[i] = trial.prediction ? static_cast<float>(trial.prediction->score) : std::numeric_limits<float>::quiet_NaN();
  b.predictedAfter[i] = trial.prediction ? static_cast<int32_t>(trial.prediction->samples) : -1;
  b.message[i] = intern(trial.message);
  b.space[i] = intern(trial.space);
  ++m_size;
  if (trial.status != records::Status::ok) {
    ++m_failures[trial.status];
  } else if (!trial.censored && (m_improvements.empty() || trial.seconds < m_improvements.back().seconds)) {
    m_improvements.push_back({row, trial.seconds});
  }
}

}  // namespace tw::widgets
