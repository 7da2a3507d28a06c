// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_query.h"

#include <QRegularExpression>
#include <cmath>

#include "engine/base/json.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {

constexpr const char* kFields[] = {"number", "time", "gflops", "ratio", "build", "run", "config", "predicted", "status", "space", "message"};

/// Seconds of one unit, 0 if it is none.
double unitSeconds(const QString& unit) {
  if (unit == QLatin1String("s")) return 1;
  if (unit == QLatin1String("ms")) return 1e-3;
  if (unit == QLatin1String("us") || unit == QString(QChar(0xB5)) + QLatin1Char('s')) return 1e-6;
  if (unit == QLatin1String("ns")) return 1e-9;
  return 0;
}

}  // namespace

class TrialQueryParser {
 public:
  TrialQueryParser(const QString& text, const SpaceMap& spaces, const std::set<std::string>& seen) : m_text(text), m_spaces(spaces), m_seen(seen) { next(); }

  std::optional<TrialQuery> run(QString* problem) {
    m_query.m_spaces = m_spaces;
    if (!m_token.isEmpty()) {
      const int root = either();
      if (m_problem.isEmpty() && !m_token.isEmpty()) fail(TrialQuery::tr("the end or '&'"));
      if (m_problem.isEmpty() && root + 1 != static_cast<int>(m_query.m_nodes.size())) m_query.m_nodes.push_back(m_query.m_nodes[static_cast<size_t>(root)]);
    }
    if (m_problem.isEmpty()) return m_query;
    if (problem) *problem = m_problem;
    return std::nullopt;
  }

 private:
  using Node = TrialQuery::Node;
  using Kind = TrialQuery::Kind;
  using Op = TrialQuery::Op;

  void next() {
    static const QRegularExpression pattern(QStringLiteral(R"(\G\s*("[^"]*"|<=|>=|!=|==|&&|\|\||[=<>~!&|()\[\]]|[^\s"=<>~!&|()\[\]]+|"))"));
    const auto match = pattern.match(m_text, m_at);
    m_token = match.captured(1);
    m_at = match.hasMatch() ? static_cast<int>(match.capturedEnd()) : static_cast<int>(m_text.size());
  }
  bool take(std::initializer_list<const char*> words) {
    for (const char* word : words) {
      if (m_token.compare(QLatin1String(word), Qt::CaseInsensitive) != 0) continue;
      next();
      return true;
    }
    return false;
  }
  int fail(const QString& expected) {
    if (m_problem.isEmpty()) {
      m_problem = m_token.isEmpty() ? TrialQuery::tr("Expected %1, found the end of the filter").arg(expected)
                                    : TrialQuery::tr("Expected %1, found '%2'").arg(expected, m_token);
    }
    return -1;
  }
  int add(Node node) {
    m_query.m_nodes.push_back(std::move(node));
    return static_cast<int>(m_query.m_nodes.size()) - 1;
  }
  int pair(Kind kind, int left, int right) {
    if (left < 0 || right < 0) return -1;
    Node node;
    node.kind = kind, node.left = left, node.right = right;
    return add(node);
  }

  int either() {
    int left = both();
    while (left >= 0 && take({"|", "||", "or"})) left = pair(Kind::either, left, both());
    return left;
  }
  int both() {
    int left = factor();
    while (left >= 0 && !m_token.isEmpty() && m_token != QLatin1String(")") && m_token[0] != QLatin1Char('|') &&
           m_token.compare(QLatin1String("or"), Qt::CaseInsensitive) != 0) {
      take({"&", "&&", "and"});
      left = pair(Kind::both, left, factor());
    }
    return left;
  }
  int factor() {
    if (++m_depth > 64) return fail(TrialQuery::tr("fewer brackets"));
    const int node = take({"!", "not"}) ? negation() : take({"("}) ? bracket() : comparison();
    --m_depth;
    return node;
  }
  int negation() {
    const int inner = factor();
    if (inner < 0) return -1;
    Node node;
    node.kind = Kind::negated, node.left = inner;
    return add(node);
  }
  int bracket() {
    const int inner = either();
    if (inner < 0) return -1;
    if (m_token != QLatin1String(")")) return fail(TrialQuery::tr("')'"));
    next();
    return inner;
  }

  int comparison() {
    if (m_token.isEmpty() || QStringLiteral("=<>~&|)[]!").contains(m_token[0]) || m_token == QLatin1String("\"")) {
      return fail(TrialQuery::tr("a name such as gflops, status or a knob"));
    }
    const QString name = m_token;
    next();
    Node node;
    if (m_token == QLatin1String("[") && !readFactor(node)) return -1;
    const std::optional<Op> op = readOp();
    if (!op) return word(name, node.factor >= 0);
    node.op = *op;
    if (!readName(name, node)) return -1;
    return readValue(name, node) ? add(node) : -1;
  }

  int word(const QString& text, bool indexed) {
    if (indexed) return fail(TrialQuery::tr("a comparison such as '=' after the factor"));
    Node node;
    node.text = text;
    if (node.text.startsWith(QLatin1Char('"'))) node.text = node.text.mid(1, node.text.size() - 2);
    node.value = node.text.toDouble(&node.isNumber);
    return add(node);
  }

  bool readFactor(Node& node) {
    next();
    bool good = false;
    node.factor = m_token.toInt(&good);
    if (!good || node.factor < 0) return fail(TrialQuery::tr("the number of a factor, 0 for the outermost")) >= 0;
    next();
    if (m_token != QLatin1String("]")) return fail(TrialQuery::tr("']'")) >= 0;
    next();
    return true;
  }
  std::optional<Op> readOp() {
    if (take({"=", "=="})) return Op::equal;
    if (take({"!="})) return Op::unequal;
    if (take({"<"})) return Op::less;
    if (take({"<="})) return Op::atMost;
    if (take({">"})) return Op::more;
    if (take({">="})) return Op::atLeast;
    if (take({"~"})) return Op::contains;
    return std::nullopt;
  }
  bool readName(const QString& name, Node& node) {
    for (size_t f = 0; f < std::size(kFields); ++f) {
      if (node.factor >= 0 || name.compare(QLatin1String(kFields[f]), Qt::CaseInsensitive) != 0) continue;
      node.field = static_cast<TrialQuery::Field>(f);
      node.kind = node.field >= TrialQuery::Field::status ? Kind::text : Kind::number;
      return true;
    }
    for (const auto& [space, config] : m_spaces) {
      for (const space::Knob& knob : config->knobs()) {
        if (name != QString::fromStdString(knob.name)) continue;
        node.kind = Kind::knob;
        node.knob = knob.name;
        return true;
      }
    }
    if (const std::string plain = name.toStdString(); m_seen.contains(plain)) {
      node.kind = Kind::knob;
      node.knob = plain;
      return true;
    }
    QStringList names = TrialQuery::names(m_spaces, m_seen);
    if (names.size() > 14) names = names.mid(0, 14) << QString(QChar(0x2026));
    m_problem = TrialQuery::tr("Expected one of %1, found '%2'").arg(names.join(QStringLiteral(", ")), name);
    return false;
  }
  bool readValue(const QString& name, Node& node) {
    if (m_token.isEmpty() || QStringLiteral("=<>~&|()[]!").contains(m_token[0]) || m_token == QLatin1String("\"")) {
      return fail(TrialQuery::tr("a value to compare '%1' with").arg(name)) >= 0;
    }
    node.text = m_token.startsWith(QLatin1Char('"')) ? m_token.mid(1, m_token.size() - 2) : m_token;
    static const QRegularExpression number(QStringLiteral(R"(^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(.*)$)"));
    const auto match = number.match(node.text);
    if (match.hasMatch()) node.value = match.captured(1).toDouble(&node.isNumber);
    const QString unit = match.captured(2);
    const bool isTime =
        node.kind == Kind::number && (node.field == TrialQuery::Field::time || node.field == TrialQuery::Field::build || node.field == TrialQuery::Field::run);
    if (isTime && node.isNumber) {
      const double seconds = unit.isEmpty() ? 1e-3 : unitSeconds(unit);
      if (seconds == 0) return fail(TrialQuery::tr("a time with ns, us, ms or s")) >= 0;
      node.value *= seconds;
    } else if (!unit.isEmpty()) {
      node.isNumber = false;
    }
    if (node.kind == Kind::number && (!node.isNumber || node.op == Op::contains)) return fail(TrialQuery::tr("a number to compare '%1' with").arg(name)) >= 0;
    const bool ordered = node.op != Op::equal && node.op != Op::unequal && node.op != Op::contains;
    if (node.kind == Kind::text && ordered) {
      m_problem = TrialQuery::tr("Expected '=', '!=' or '~' after '%1', which is a text").arg(name);
      return false;
    }
    if (node.kind == Kind::knob && ordered && !node.isNumber) return fail(TrialQuery::tr("a number to compare '%1' with").arg(name)) >= 0;
    next();
    return true;
  }

  QString m_text, m_token, m_problem;
  const SpaceMap& m_spaces;
  const std::set<std::string>& m_seen;
  int m_at = 0, m_depth = 0;
  TrialQuery m_query;
};

std::optional<TrialQuery> TrialQuery::parse(const QString& text, const SpaceMap& spaces, QString* problem, const std::set<std::string>& seen) {
  return TrialQueryParser(text, spaces, seen).run(problem);
}

QStringList TrialQuery::names(const SpaceMap& spaces, const std::set<std::string>& seen) {
  QStringList names;
  for (const char* field : kFields) names << QLatin1String(field);
  for (const auto& [name, config] : spaces) {
    for (const space::Knob& knob : config->knobs()) {
      if (const QString text = QString::fromStdString(knob.name); !names.contains(text)) names << text;
    }
  }
  for (const std::string& knob : seen) {
    if (const QString text = QString::fromStdString(knob); !names.contains(text)) names << text;
  }
  return names;
}

bool TrialQuery::usesBest() const {
  return std::any_of(m_nodes.begin(), m_nodes.end(), [](const Node& n) { return n.kind == Kind::number && n.field == Field::ratio; });
}

namespace {

template <class Op>
bool compare(Op op, double a, double b) {
  switch (op) {
    case Op::equal:
      return a == b || std::abs(a - b) <= 1e-9 * std::abs(b);
    case Op::unequal:
      return !(a == b || std::abs(a - b) <= 1e-9 * std::abs(b));
    case Op::less:
      return a < b;
    case Op::atMost:
      return a <= b;
    case Op::more:
      return a > b;
    case Op::atLeast:
      return a >= b;
    case Op::contains:
      break;
  }
  return false;
}

template <class Op>
bool compareText(Op op, const QString& text, const QString& value) {
  if (op == Op::contains) return text.contains(value, Qt::CaseInsensitive);
  if (op != Op::equal && op != Op::unequal) return false;
  return (text.compare(value, Qt::CaseInsensitive) == 0) == (op == Op::equal);
}

/// A time as the columns of build and run times hold it.
double inColumn(double seconds) { return static_cast<double>(static_cast<float>(seconds)); }

/// Outcomes answer to their stable name, to their words, and to `failed`.
template <class Op>
bool compareStatus(Op op, records::Status status, const QString& value) {
  const QString name = QLatin1String(records::status_name(status)), words = statusText(status);
  if (op == Op::contains) return name.contains(value, Qt::CaseInsensitive) || words.contains(value, Qt::CaseInsensitive);
  const bool same = name.compare(value, Qt::CaseInsensitive) == 0 || words.compare(value, Qt::CaseInsensitive) == 0 ||
                    (value.compare(QLatin1String("failed"), Qt::CaseInsensitive) == 0 && status != records::Status::ok);
  return same == (op == Op::equal);
}

}  // namespace

bool TrialMatcher::holds(int index, const TrialColumns& t, int row) {
  using Kind = TrialQuery::Kind;
  using Field = TrialQuery::Field;
  const TrialQuery::Node& node = m_query.m_nodes[static_cast<size_t>(index)];
  switch (node.kind) {
    case Kind::both:
      return holds(node.left, t, row) && holds(node.right, t, row);
    case Kind::either:
      return holds(node.left, t, row) || holds(node.right, t, row);
    case Kind::negated:
      return !holds(node.left, t, row);
    case Kind::knob:
      return knobHolds(index, t, row);
    case Kind::word:
      if (node.isNumber && (static_cast<double>(t.number(row)) == node.value || static_cast<double>(t.configIndex(row)) == node.value)) return true;
      return statusHolds(index, t.status(row)) || textHolds(index, t, t.spaceId(row)) || textHolds(index, t, t.messageId(row));
    case Kind::text:
      if (node.field == Field::status) return statusHolds(index, t.status(row));
      return textHolds(index, t, node.field == Field::space ? t.spaceId(row) : t.messageId(row));
    case Kind::number:
      break;
  }
  const double seconds = t.seconds(row);
  switch (node.field) {
    case Field::number:
      return compare(node.op, static_cast<double>(t.number(row)), node.value);
    case Field::config:
      return compare(node.op, static_cast<double>(t.configIndex(row)), node.value);
    case Field::predicted:
      return std::isnan(t.predicted(row)) ? node.op == TrialQuery::Op::unequal : compare(node.op, static_cast<double>(t.predicted(row)), node.value);
    case Field::build:
      return compare(node.op, t.buildSeconds(row), inColumn(node.value));
    case Field::run:
      return compare(node.op, t.runSeconds(row), inColumn(node.value));
    default:
      break;
  }
  if (!std::isfinite(seconds) || seconds <= 0) return node.op == TrialQuery::Op::unequal;
  return compare(node.op, node.field == Field::time ? seconds : node.field == Field::gflops ? t.flops() / seconds / 1e9 : seconds / m_best, node.value);
}

bool TrialMatcher::statusHolds(int index, records::Status status) {
  Memo& memo = m_memo[static_cast<size_t>(index)];
  const uint32_t bit = uint32_t{1} << static_cast<int>(status);
  if ((memo.asked & bit) == 0) {
    const TrialQuery::Node& node = m_query.m_nodes[static_cast<size_t>(index)];
    memo.asked |= bit;
    if (compareStatus(node.kind == TrialQuery::Kind::word ? TrialQuery::Op::contains : node.op, status, node.text)) memo.holds |= bit;
  }
  return (memo.holds & bit) != 0;
}

bool TrialMatcher::textHolds(int index, const TrialColumns& t, uint32_t id) {
  std::vector<signed char>& known = m_memo[static_cast<size_t>(index)].texts;
  if (known.size() < t.textCount()) known.resize(t.textCount(), -1);
  if (known[id] < 0) {
    const TrialQuery::Node& node = m_query.m_nodes[static_cast<size_t>(index)];
    const auto op = node.kind == TrialQuery::Kind::word ? TrialQuery::Op::contains : node.op;
    known[id] = compareText(op, QString::fromStdString(t.text(id)), node.text) ? 1 : 0;
  }
  return known[id] == 1;
}

namespace {

/// Factor of a split as a number; not a number if it has none of that place. What is left of the axis is known with the axis' extent alone.
double splitFactor(const space::Knob& knob, const std::vector<int64_t>& split, int place) {
  const size_t factor = place >= 0 ? static_cast<size_t>(place) : split.size() - 1;
  if (factor >= split.size()) return std::nan("");
  if (split[factor] >= 0) return static_cast<double>(split[factor]);
  if (knob.extent <= 0) return std::nan("");
  int64_t rest = 1;
  for (const int64_t f : split) rest *= f > 0 ? f : 1;
  return std::ceil(static_cast<double>(knob.extent) / static_cast<double>(rest));
}

}  // namespace

bool TrialMatcher::accepts(const TrialQuery::Node& node, const space::Knob& knob, const space::KnobValue& value) {
  if (knob.kind == space::KnobKind::split) {
    const double number = splitFactor(knob, value.split, node.factor);
    return node.isNumber ? !std::isnan(number) && compare(node.op, number, node.value) : compareText(node.op, knobValueText(knob, value), node.text);
  }
  const auto number = valueNumber(knob.kind, value);
  if (node.isNumber && number) return compare(node.op, *number, node.value);
  if (knob.kind == space::KnobKind::annotate && node.op == TrialQuery::Op::equal)
    return std::find(value.annotate.begin(), value.annotate.end(), node.text.toStdString()) != value.annotate.end();
  const bool isText = knob.kind == space::KnobKind::other && value.other.is_string();
  return compareText(node.op, isText ? QString::fromStdString(value.other.get<std::string>()) : knobValueText(knob, value), node.text);
}

void TrialMatcher::learnKnob(const TrialQuery::Node& node, const std::string& space, KnobMemo& memo) const {
  memo.known = true;
  const auto found = m_query.m_spaces.find(space);
  if (found == m_query.m_spaces.end()) return;
  int64_t stride = 1;
  for (const space::Knob& knob : found->second->knobs()) {
    const auto count = static_cast<int64_t>(knob.candidates.size());
    if (knob.name == node.knob) {
      memo.present = true;
      memo.stride = stride, memo.count = count;
      for (const space::KnobValue& value : knob.candidates) memo.accepted.push_back(accepts(node, knob, value) ? 1 : 0);
      return;
    }
    stride *= count;
  }
}

void TrialMatcher::learnLayout(const TrialQuery::Node& node, const TrialColumns& t, const TrialColumns::KnobLayout& layout, LayoutMemo& memo) const {
  memo.known = true;
  const auto at = std::find(layout.names.begin(), layout.names.end(), node.knob);
  if (at == layout.names.end()) return;
  memo.entry = static_cast<int>(at - layout.names.begin());
  memo.knob.kind = layout.kinds[static_cast<size_t>(memo.entry)];
  const auto found = m_query.m_spaces.find(t.text(layout.space));
  if (found == m_query.m_spaces.end()) return;
  for (const space::Knob& knob : found->second->knobs())
    if (knob.name == node.knob && knob.kind == memo.knob.kind) memo.knob.extent = knob.extent;
}

bool TrialMatcher::namedKnobHolds(int index, const TrialColumns& t, int row) {
  const TrialQuery::Node& node = m_query.m_nodes[static_cast<size_t>(index)];
  std::vector<LayoutMemo>& layouts = m_memo[static_cast<size_t>(index)].layouts;
  const uint32_t id = t.layoutId(row);
  if (layouts.size() <= id) layouts.resize(id + 1);
  LayoutMemo& memo = layouts[id];
  if (!memo.known) learnLayout(node, t, t.layout(id), memo);
  if (memo.entry < 0) return node.op == TrialQuery::Op::unequal;
  const uint32_t value = t.knobValueId(row, static_cast<size_t>(memo.entry));
  if (memo.accepted.size() <= value) memo.accepted.resize(t.textCount(), -1);
  if (memo.accepted[value] < 0) {
    const auto choice = knobValueOf(memo.knob.kind, t.text(value));
    memo.accepted[value] = choice && accepts(node, memo.knob, *choice) ? 1 : 0;
  }
  return memo.accepted[value] == 1;
}

bool TrialMatcher::knobHolds(int index, const TrialColumns& t, int row) {
  if (t.layoutId(row) != TrialColumns::kNoLayout) return namedKnobHolds(index, t, row);
  const int64_t point = t.configIndex(row);
  const bool without = m_query.m_nodes[static_cast<size_t>(index)].op == TrialQuery::Op::unequal;
  if (point < 0) return without;
  std::vector<KnobMemo>& known = m_memo[static_cast<size_t>(index)].knobs;
  const uint32_t space = t.spaceId(row);
  if (known.size() <= space) known.resize(space + 1);
  KnobMemo& memo = known[space];
  if (!memo.known) learnKnob(m_query.m_nodes[static_cast<size_t>(index)], t.space(row), memo);
  return !memo.present ? without : memo.accepted[static_cast<size_t>(point / memo.stride % memo.count)] != 0;
}

}  // namespace tw::widgets
