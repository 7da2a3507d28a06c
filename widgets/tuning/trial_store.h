// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/database.h"
#include "widgets/tuning/knob_values.h"

namespace tw::widgets {

/// The columns of trials, in blocks that never move: a copy is a snapshot that another thread may read while the original grows. Times in seconds.
class TrialColumns {
 public:
  int size() const { return m_size; }
  double flops() const { return m_flops; }

  /// What tells the trial from the others here and ascends: its number in its session; where several sessions are together, its place among all.
  int64_t number(int row) const { return m_ofSessions ? row + 1 : at(row).number[in(row)]; }
  /// Whether several sessions may be together.
  bool isOfSessions() const { return m_ofSessions; }
  SessionId session(int row) const { return SessionId{at(row).session[in(row)]}; }
  int64_t numberInSession(int row) const { return at(row).number[in(row)]; }
  int64_t configIndex(int row) const { return at(row).index[in(row)]; }
  records::Status status(int row) const { return at(row).status[in(row)]; }
  bool ok(int row) const { return status(row) == records::Status::ok; }
  /// What it is ranked by, after finals; infinity for failures, and for what failed in the finals.
  double seconds(int row) const { return at(row).seconds[in(row)]; }
  bool timed(int row) const { return ok(row) && std::isfinite(seconds(row)); }
  bool censored(int row) const { return at(row).flags[in(row)] & 1; }
  bool verified(int row) const { return at(row).flags[in(row)] & 2; }
  double buildSeconds(int row) const { return static_cast<double>(at(row).build[in(row)]); }
  double runSeconds(int row) const { return static_cast<double>(at(row).run[in(row)]); }
  double timestamp(int row) const { return at(row).when[in(row)]; }
  /// What the cost model said before the trial, and how many trials it had learned from; NaN and -1 if no model was asked.
  float predicted(int row) const { return at(row).predicted[in(row)]; }
  int predictedAfter(int row) const { return at(row).predictedAfter[in(row)]; }
  /// Seconds of its session's work since the first trial; sessions follow each other without the time between them.
  double elapsedSeconds(int row) const { return static_cast<double>(at(row).elapsed[in(row)]); }
  /// Build and run times of all trials up to and with this one.
  double spentSeconds(int row) const { return at(row).spent[in(row)]; }
  /// What the trial chose, entry by entry of its record: a number for all trials of one space that name the same knobs in the same order, below layoutCount();
  /// kNoLayout if its record does not say.
  uint32_t layoutId(int row) const { return at(row).layout[in(row)]; }
  uint32_t layoutCount() const { return static_cast<uint32_t>(m_layouts.size()); }
  struct KnobLayout {
    uint32_t space = 0;                 ///< see spaceId()
    std::vector<std::string> names;     ///< of the knobs
    std::vector<space::KnobKind> kinds;
  };
  static constexpr uint32_t kNoLayout = UINT32_MAX;
  const KnobLayout& layout(uint32_t id) const { return *m_layouts[id]; }
  /// Of a trial with a layout: the value of its k-th knob as JSON text, as a number below textCount().
  uint32_t knobValueId(int row, size_t k) const {
    const size_t i = at(row).values[in(row)] + k;
    return (*m_values[i / kValueBlock])[i % kValueBlock];
  }
  /// Names of all knobs that trials name.
  std::set<std::string> knobNames() const;
  /// Whether a trial is of this candidate: its place in the space, else its choices by name.
  bool isOf(int row, const records::Candidate& candidate) const;
  const std::string& message(int row) const { return text(at(row).message[in(row)]); }
  const std::string& space(int row) const { return text(at(row).space[in(row)]); }
  /// The space as a number, the same for all trials of one space; below textCount().
  uint32_t spaceId(int row) const { return at(row).space[in(row)]; }
  uint32_t messageId(int row) const { return at(row).message[in(row)]; }
  const std::string& text(uint32_t id) const { return (*m_texts[id / kTextBlock])[id % kTextBlock]; }
  uint32_t textCount() const { return m_textCount; }
  /// Row of a number(), -1 if it is not here.
  int rowOf(int64_t number) const;
  /// Row of a session's trial, -1 if it is not here.
  int rowOf(SessionId session, int64_t numberInSession) const;
  /// Memory of columns and texts, in bytes.
  size_t bytes() const;

 protected:
  static constexpr int kBlock = 1 << 12;
  static constexpr uint32_t kTextBlock = 1 << 10;
  struct Block {
    std::array<int64_t, kBlock> number, index;
    std::array<double, kBlock> seconds, when, spent;
    std::array<float, kBlock> build, run, predicted, elapsed;
    std::array<int32_t, kBlock> predictedAfter;
    std::array<uint32_t, kBlock> message, space, layout, values;
    std::array<int64_t, kBlock> session;
    std::array<records::Status, kBlock> status;
    std::array<uint8_t, kBlock> flags;
  };
  using TextBlock = std::array<std::string, kTextBlock>;
  static constexpr size_t kValueBlock = 1 << 14;
  using ValueBlock = std::array<uint32_t, kValueBlock>;

  const Block& at(int row) const { return *m_blocks[static_cast<size_t>(row) / kBlock]; }
  static size_t in(int row) { return static_cast<size_t>(row) % kBlock; }

  double m_flops = 0;
  bool m_ofSessions = false;
  int m_size = 0;
  uint32_t m_textCount = 0;
  std::vector<std::shared_ptr<Block>> m_blocks;
  std::vector<std::shared_ptr<TextBlock>> m_texts;
  std::vector<std::shared_ptr<const KnobLayout>> m_layouts;
  std::vector<std::shared_ptr<ValueBlock>> m_values;  ///< of all trials' knobs, one after another
};

/// Trials of one task in one session or in several, append-only, ascending by number. Finals change times afterwards: a snapshot keeps what it has.
class TrialStore : public TrialColumns {
 public:
  struct Best {
    int row = 0;
    double seconds = 0;
  };

  explicit TrialStore(double flops = 0, bool ofSessions = false) { m_flops = flops, m_ofSessions = ofSessions; }
  void append(const db::TrialOutcome& trial);
  void append(int64_t number, const records::Record& record) { append(db::outcome_of(number, record)); }
  /// Finals gave a trial of this candidate another time.
  void settle(const records::Candidate& candidate, double seconds);
  /// 0 while empty.
  int64_t lastNumber() const { return size() > 0 ? number(size() - 1) : 0; }
  /// Of the last trial in the workspace, where it was read from there.
  TrialId lastId() const { return m_lastId; }
  /// Rows where the best time improved, in order: the best-so-far curve. Of those that the finals hold for equally fast the best is the one that was faster
  /// before, as everywhere (records::best_of).
  const std::vector<Best>& improvements() const { return m_improvements; }
  const std::map<records::Status, int>& failures() const { return m_failures; }

 private:
  /// So that a view is looked up without a copy.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void noteTime(int row);
  uint32_t intern(std::string_view text);
  void appendKnobs(const std::string& config, uint32_t space, uint32_t& layout, uint32_t& values);
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> m_interned;
  std::vector<NamedValue> m_entries;  ///< of the trial that is added
  size_t m_valueCount = 0;
  TrialId m_lastId;
  double m_elapsed = 0;  ///< up to the last trial
  std::unordered_map<int64_t, double> m_clocks;  ///< the latest TrialOutcome::work_clock_s() by session
  /// Time before the finals.
  double ownSeconds(int row) const;
  std::unordered_map<int, double> m_own;  ///< by row, where it is another one
  std::vector<Best> m_improvements;
  std::map<records::Status, int> m_failures;
};
using TrialStorePtr = std::shared_ptr<TrialStore>;

}  // namespace tw::widgets
