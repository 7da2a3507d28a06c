// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/knob_text.h"

#include <QStringList>

#include "engine/base/json.h"
#include "widgets/tuning/knob_values.h"

namespace tw::widgets {

QString knobValueText(const space::Knob& knob, const space::KnobValue& value) {
  const auto list = [](const auto& items, auto one) {
    QStringList parts;
    for (const auto& item : items) parts << one(item);
    return QLatin1Char('[') + parts.join(QStringLiteral(", ")) + QLatin1Char(']');
  };
  switch (knob.kind) {
    case space::KnobKind::split:
      return list(value.split, [](int64_t v) { return v < 0 ? QStringLiteral("*") : QString::number(v); });
    case space::KnobKind::reorder:
      return list(value.reorder, [&](int v) { return static_cast<size_t>(v) < knob.axes.size() ? QString::fromStdString(knob.axes[static_cast<size_t>(v)]) : QString::number(v); });
    case space::KnobKind::annotate:
      if (knob.axes.size() == value.annotate.size() && !knob.axes.empty()) {
        QStringList marks;
        for (size_t i = 0; i < knob.axes.size(); ++i)
          if (value.annotate[i] != "none") marks << QString::fromStdString(value.annotate[i] + " " + knob.axes[i]);
        return marks.isEmpty() ? QStringLiteral("none") : marks.join(QStringLiteral(", "));
      }
      return list(value.annotate, [](const std::string& v) { return QString::fromStdString(v); });
    case space::KnobKind::other:
      break;
  }
  return QString::fromStdString(dump_json(value.other));
}

QString knobsText(const std::vector<std::pair<QString, QString>>& knobs) {
  QStringList parts;
  for (const auto& [name, value] : knobs) parts << name + QLatin1Char(' ') + value;
  return parts.join(QStringLiteral("  "));
}

namespace {

std::vector<std::pair<QString, QString>> knobsAt(const space::ConfigSpace& space, const std::vector<int>& positions) {
  std::vector<std::pair<QString, QString>> knobs;
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = space.knobs()[k];
    knobs.emplace_back(QString::fromStdString(knob.name), knobValueText(knob, knob.candidates[static_cast<size_t>(positions[k])]));
  }
  return knobs;
}

}  // namespace

QString pointText(const space::ConfigSpace& space, int64_t index) {
  return index < 0 || index >= space.size() ? QString() : knobsText(knobsAt(space, space.knob_positions(index)));
}

std::vector<std::string> axesOf(const SpaceMap& spaces, const std::string& space, std::string_view knob) {
  const auto known = spaces.find(space);
  if (known == spaces.end()) return {};
  for (const space::Knob& k : known->second->knobs())
    if (k.name == knob) return k.axes;
  return {};
}

std::vector<std::pair<QString, QString>> knobsOf(const records::Candidate& candidate, const SpaceMap& spaces) {
  std::vector<std::pair<QString, QString>> knobs;
  NamedValueReader reader(candidate.config);
  for (auto entry = reader.next(); entry; entry = reader.next()) {
    const auto kind = knobKindOf(entry->kind);
    const auto value = kind ? knobValueOf(*kind, entry->value) : std::nullopt;
    space::Knob knob;
    if (kind) knob.kind = *kind;
    knob.axes = axesOf(spaces, candidate.space, entry->name);
    knobs.emplace_back(QString::fromUtf8(entry->name.data(), static_cast<qsizetype>(entry->name.size())),
                       value ? knobValueText(knob, *value) : QString::fromUtf8(entry->value.data(), static_cast<qsizetype>(entry->value.size())));
  }
  if (!knobs.empty()) return knobs;
  const auto space = spaces.find(candidate.space);
  if (space == spaces.end() || candidate.index < 0 || candidate.index >= space->second->size()) return {};
  return knobsAt(*space->second, space->second->knob_positions(candidate.index));
}

std::optional<std::vector<int>> positionsOf(const records::Candidate& candidate, const space::ConfigSpace& space) {
  if (!candidate.config.empty()) {
    const auto entity = space.from_json(candidate.config);
    return entity ? std::optional(space.knob_positions(entity->index())) : std::nullopt;
  }
  if (candidate.index < 0 || candidate.index >= space.size()) return std::nullopt;
  return space.knob_positions(candidate.index);
}

std::optional<double> valueNumber(space::KnobKind kind, const space::KnobValue& value) {
  if (kind == space::KnobKind::split && !value.split.empty()) return static_cast<double>(value.split.back());
  if (kind == space::KnobKind::other && value.other.is_number()) return value.other.get<double>();
  if (kind == space::KnobKind::other && value.other.is_boolean()) return value.other.get<bool>() ? 1 : 0;
  return std::nullopt;
}

double knobNumber(const space::Knob& knob, int position) {
  return valueNumber(knob.kind, knob.candidates[static_cast<size_t>(position)]).value_or(position);
}

}  // namespace tw::widgets
