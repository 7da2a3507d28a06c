// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/knob_text.h"

#include <QStringList>

#include "engine/base/json.h"

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
      return list(value.reorder, [](int v) { return QString::number(v); });
    case space::KnobKind::annotate:
      return list(value.annotate, [](const std::string& v) { return QString::fromStdString(v); });
    case space::KnobKind::other:
      break;
  }
  return QString::fromStdString(dump_json(value.other));
}

QString pointText(const space::ConfigSpace& space, int64_t index) {
  if (index < 0 || index >= space.size()) return {};
  const std::vector<int> positions = space.knob_positions(index);
  QStringList parts;
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = space.knobs()[k];
    parts << QString::fromStdString(knob.name) + QLatin1Char(' ') + knobValueText(knob, knob.candidates[static_cast<size_t>(positions[k])]);
  }
  return parts.join(QStringLiteral("  "));
}

double knobNumber(const space::Knob& knob, int position) {
  const space::KnobValue& value = knob.candidates[static_cast<size_t>(position)];
  if (knob.kind == space::KnobKind::split && !value.split.empty()) return static_cast<double>(value.split.back());
  if (knob.kind == space::KnobKind::other && value.other.is_number()) return value.other.get<double>();
  if (knob.kind == space::KnobKind::other && value.other.is_boolean()) return value.other.get<bool>() ? 1 : 0;
  return position;
}

}  // namespace tw::widgets
