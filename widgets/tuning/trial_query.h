// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <optional>
#include <set>

#include "widgets/tuning/knob_text.h"
#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// A filter typed by hand, such as `gflops>50 & tile_x=8 & status=ok`. A value; may be used in any thread.
///
///     query := term { ("|" | "or") term }         term := factor { ["&" | "and"] factor }       factor := ("!" | "not") factor | "(" query ")" | comparison
///     comparison := name ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") value | word
///
/// Names: number, time (milliseconds if no unit follows), gflops, ratio (time ÷ best), build, run, config, predicted (score of the cost model), status, space, message and every knob of the
/// task's spaces and of its trials; `tile_x` of a split is its innermost factor, `tile_x[0]` the outermost. `~` means contains. A word alone is looked for in outcome, space and
/// message, a number alone is a trial's number or its place in the space. A trial without a value (a failure has no time, a random point no prediction) satisfies no comparison but `!=`.
class TrialQuery {
  Q_DECLARE_TR_FUNCTIONS(TrialQuery)
 public:
  /// Nothing if the text makes no sense; `problem` then says why in one sentence.
  /// `seen`: names of knobs that trials have beside those of the spaces, see TrialColumns::knobNames().
  static std::optional<TrialQuery> parse(const QString& text, const SpaceMap& spaces, QString* problem, const std::set<std::string>& seen = {});
  /// Names that a comparison may begin with, knobs after the fields.
  static QStringList names(const SpaceMap& spaces, const std::set<std::string>& seen = {});

  bool isEmpty() const { return m_nodes.empty(); }
  /// Whether the answer for a trial may change when a better one comes.
  bool usesBest() const;

 private:
  friend class TrialMatcher;
  friend class TrialQueryParser;
  enum class Kind { both, either, negated, number, text, knob, word };
  enum class Field { number, time, gflops, ratio, build, run, config, predicted, status, space, message };
  enum class Op { equal, unequal, less, atMost, more, atLeast, contains };
  struct Node {
    Kind kind = Kind::word;
    int left = -1, right = -1;  ///< of both, either, negated
    Field field = Field::number;
    Op op = Op::equal;
    double value = 0;
    bool isNumber = false;
    QString text;  ///< the value as typed
    std::string knob;
    int factor = -1;  ///< of a split, -1: the innermost
  };
  std::vector<Node> m_nodes;  ///< the last one is the root
  SpaceMap m_spaces;
};

/// Applies a query to the rows of a store; remembers what it found out about texts and knobs, so it belongs to one thread.
class TrialMatcher {
 public:
  TrialMatcher(const TrialQuery& query, double bestSeconds) : m_query(query), m_best(bestSeconds), m_memo(query.m_nodes.size()) {}
  bool operator()(const TrialColumns& trials, int row) { return m_query.m_nodes.empty() || holds(static_cast<int>(m_query.m_nodes.size()) - 1, trials, row); }

 private:
  struct KnobMemo {
    bool known = false, present = false;
    int64_t stride = 1, count = 1;
    std::vector<char> accepted;  ///< per candidate
  };
  struct LayoutMemo {
    bool known = false;
    int entry = -1;                     ///< of the knob; -1: the layout has none of that name
    space::Knob knob;                   ///< its kind and extent
    std::vector<signed char> accepted;  ///< per text of the store: -1 unknown
  };
  struct Memo {
    std::vector<signed char> texts;  ///< per text of the store: -1 unknown
    std::vector<KnobMemo> knobs;      ///< per space of the store, for trials that have an index alone
    std::vector<LayoutMemo> layouts;  ///< per layout of the store
    uint32_t asked = 0, holds = 0;   ///< a bit per outcome
  };
  bool holds(int node, const TrialColumns& trials, int row);
  bool statusHolds(int node, records::Status status);
  bool textHolds(int node, const TrialColumns& trials, uint32_t id);
  bool knobHolds(int node, const TrialColumns& trials, int row);
  static bool accepts(const TrialQuery::Node& node, const space::Knob& knob, const space::KnobValue& value);
  bool namedKnobHolds(int node, const TrialColumns& trials, int row);
  void learnLayout(const TrialQuery::Node& node, const TrialColumns& trials, const TrialColumns::KnobLayout& layout, LayoutMemo& memo) const;
  void learnKnob(const TrialQuery::Node& node, const std::string& space, KnobMemo& memo) const;

  TrialQuery m_query;
  double m_best;
  std::vector<Memo> m_memo;
};

}  // namespace tw::widgets
