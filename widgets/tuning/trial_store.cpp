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

int TrialColumns::rowOf(SessionId session, int64_t wanted) const {
  if (!m_ofSessions) return m_size > 0 && this->session(0) == session ? rowOf(wanted) : -1;
  for (int row = 0; row < m_size; ++row)
    if (numberInSession(row) == wanted && this->session(row) == session) return row;
  return -1;
}

size_t TrialColumns::bytes() const {
  size_t bytes = m_blocks.size() * sizeof(Block) + m_texts.size() * sizeof(TextBlock) + m_values.size() * sizeof(ValueBlock);
  for (uint32_t id = 0; id < m_textCount; ++id) bytes += text(id).capacity();
  return bytes;
}

std::set<std::string> TrialColumns::knobNames() const {
  std::set<std::string> names;
  for (const auto& layout : m_layouts) names.insert(layout->names.begin(), layout->names.end());
  return names;
}

bool TrialColumns::isOf(int row, const records::Candidate& candidate) const {
  if (space(row) != candidate.space) return false;
  if (configIndex(row) >= 0 || candidate.index >= 0) return configIndex(row) == candidate.index;
  if (layoutId(row) == kNoLayout) return candidate.config.empty();
  const KnobLayout& own = layout(layoutId(row));
  NamedValueReader reader(candidate.config);
  size_t k = 0;
  for (auto entry = reader.next(); entry; entry = reader.next(), ++k)
    if (k >= own.names.size() || entry->name != own.names[k] || entry->value != text(knobValueId(row, k))) return false;
  return reader.isWhole() && k == own.names.size();
}

uint32_t TrialStore::intern(std::string_view text) {
  if (const auto known = m_interned.find(text); known != m_interned.end()) return known->second;
  m_interned.emplace(text, m_textCount);
  if (m_textCount % kTextBlock == 0) m_texts.push_back(std::make_shared<TextBlock>());
  (*m_texts.back())[m_textCount % kTextBlock] = text;
  return m_textCount++;
}

void TrialStore::appendKnobs(const std::string& config, uint32_t space, uint32_t& layout, uint32_t& values) {
  layout = kNoLayout, values = 0;
  if (config.empty()) return;
  m_entries.clear();
  NamedValueReader reader(config);
  for (auto entry = reader.next(); entry; entry = reader.next()) m_entries.push_back(*entry);
  if (!reader.isWhole() || m_entries.empty()) return;
  // Most trials name the knobs of an earlier one; few layouts are ever met.
  const auto fits = [&](const KnobLayout& l) {
    if (l.space != space || l.names.size() != m_entries.size()) return false;
    for (size_t k = 0; k < m_entries.size(); ++k)
      if (l.names[k] != m_entries[k].name || m_entries[k].kind != space::knob_kind_code(l.kinds[k])) return false;
    return true;
  };
  const auto known = std::find_if(m_layouts.begin(), m_layouts.end(), [&](const auto& l) { return fits(*l); });
  layout = static_cast<uint32_t>(known - m_layouts.begin());
  if (known == m_layouts.end()) {
    auto fresh = std::make_shared<KnobLayout>();
    fresh->space = space;
    for (const NamedValue& entry : m_entries) {
      const auto kind = knobKindOf(entry.kind);
      if (!kind) {
        layout = kNoLayout;
        return;
      }
      fresh->names.emplace_back(entry.name), fresh->kinds.push_back(*kind);
    }
    m_layouts.push_back(std::move(fresh));
  }
  values = static_cast<uint32_t>(m_valueCount);
  for (const NamedValue& entry : m_entries) {
    if (m_valueCount % kValueBlock == 0) m_values.push_back(std::make_shared<ValueBlock>());
    (*m_values.back())[m_valueCount++ % kValueBlock] = intern(entry.value);
  }
}

void TrialStore::append(const db::TrialOutcome& trial) {
  const int row = m_size;
  const double spent = (row > 0 ? spentSeconds(row - 1) : 0) + trial.build_s + trial.run_s;
  // Logs of other programs need not be in order: what they tell of later was known later.
  double& clock = m_clocks.try_emplace(trial.session.value, trial.work_clock_s()).first->second;
  m_elapsed += std::max(0.0, trial.work_clock_s() - clock);
  clock = std::max(clock, trial.work_clock_s());
  if (in(row) == 0) m_blocks.push_back(std::shared_ptr<Block>(new Block));  // not zeroed: every field is written below
  Block& b = *m_blocks.back();
  const size_t i = in(row);
  b.number[i] = trial.number;
  b.session[i] = trial.session.value;
  m_lastId = trial.id;
  b.index[i] = trial.index;
  b.status[i] = trial.status;
  b.seconds[i] = trial.seconds;
  b.when[i] = trial.timestamp_s;
  b.elapsed[i] = static_cast<float>(m_elapsed);
  b.spent[i] = spent;
  b.build[i] = static_cast<float>(trial.build_s);
  b.run[i] = static_cast<float>(trial.run_s);
  b.flags[i] = static_cast<uint8_t>((trial.censored ? 1 : 0) | (trial.verified ? 2 : 0));
  b.predicted[i] = trial.prediction ? static_cast<float>(trial.prediction->score) : std::numeric_limits<float>::quiet_NaN();
  b.predictedAfter[i] = trial.prediction ? static_cast<int32_t>(trial.prediction->samples) : -1;
  b.message[i] = intern(trial.message);
  b.space[i] = intern(trial.space);
  appendKnobs(trial.config, b.space[i], b.layout[i], b.values[i]);
  ++m_size;
  if (trial.own_s > 0 && trial.own_s != trial.seconds) m_own.emplace(row, trial.own_s);
  if (trial.status != records::Status::ok) ++m_failures[trial.status];
  noteTime(row);
}

double TrialStore::ownSeconds(int row) const {
  const auto own = m_own.find(row);
  return own == m_own.end() ? seconds(row) : own->second;
}

void TrialStore::noteTime(int row) {
  if (!timed(row) || censored(row)) return;
  if (!m_improvements.empty()) {
    const Best& best = m_improvements.back();
    if (std::pair(seconds(row), ownSeconds(row)) >= std::pair(best.seconds, ownSeconds(best.row))) return;
  }
  m_improvements.push_back({row, seconds(row)});
}

void TrialStore::settle(const records::Candidate& candidate, double seconds) {
  int row = 0;
  while (row < m_size && !isOf(row, candidate)) ++row;
  if (row == m_size || at(row).seconds[in(row)] == seconds) return;
  std::shared_ptr<Block>& block = m_blocks[static_cast<size_t>(row) / kBlock];
  m_own.try_emplace(row, at(row).seconds[in(row)]);
  block = std::make_shared<Block>(*block);  // snapshots share the other one
  block->seconds[in(row)] = seconds;
  m_improvements.clear();
  for (int r = 0; r < m_size; ++r) noteTime(r);
}

}  // namespace tw::widgets
