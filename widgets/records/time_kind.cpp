// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/time_kind.h"

#include <QCoreApplication>

namespace tw::widgets {
namespace {

struct KindTexts {
  Q_DECLARE_TR_FUNCTIONS(TimeKind)
};

}  // namespace

TimeKind timeKind(const std::vector<db::SessionRow>& sessions, SessionId id) {
  for (const db::SessionRow& s : sessions)
    if (s.id == id) return s.kind;
  return TimeKind::measured;
}

QString timeKindText(TimeKind kind) {
  switch (kind) {
    case TimeKind::measured:
      return KindTexts::tr("measured");
    case TimeKind::simulated:
      return KindTexts::tr("simulated");
    case TimeKind::claimed:
      return KindTexts::tr("of a log");
    case TimeKind::replayed:
      return KindTexts::tr("replayed");
  }
  return {};
}

QString withTimeKind(const QString& title, TimeKind kind) {
  return kind == TimeKind::measured ? title : KindTexts::tr("%1, %2", "a title and what its times are").arg(title, timeKindText(kind));
}

}  // namespace tw::widgets
