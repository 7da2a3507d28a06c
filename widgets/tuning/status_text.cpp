// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/status_text.h"

#include <QCoreApplication>

#include "widgets/common/format.h"
#include "widgets/tuning/trial_store.h"

namespace tw::widgets {
namespace {
struct StatusTexts {
  Q_DECLARE_TR_FUNCTIONS(TrialStatus)
};
}  // namespace

QString statusText(records::Status status) {
  using records::Status;
  switch (status) {
    case Status::ok:
      return StatusTexts::tr("ok");
    case Status::lower_fail:
      return StatusTexts::tr("illegal schedule");
    case Status::build_fail:
      return StatusTexts::tr("build failed");
    case Status::build_timeout:
      return StatusTexts::tr("build timeout");
    case Status::build_crash:
      return StatusTexts::tr("build crash");
    case Status::load_fail:
      return StatusTexts::tr("load failed");
    case Status::run_timeout:
      return StatusTexts::tr("run timeout");
    case Status::run_crash:
      return StatusTexts::tr("run crash");
    case Status::out_of_memory:
      return StatusTexts::tr("out of memory");
    case Status::wrong_output:
      return StatusTexts::tr("wrong output");
    case Status::bad_timing:
      return StatusTexts::tr("bad timing");
    case Status::infra:
      return StatusTexts::tr("infrastructure");
    case Status::cancelled:
      return StatusTexts::tr("cancelled");
    case Status::not_recorded:
      return StatusTexts::tr("not recorded");
  }
  return {};
}

QString statusGlyph(records::Status status) {
  if (status == records::Status::ok) return QString(QChar(0x2713));
  if (status == records::Status::wrong_output) return QString(QChar(0x2260));
  if (status == records::Status::cancelled || status == records::Status::not_recorded) return QString(QChar(0x2013));
  return QString(QChar(0x00D7));
}

QString trialText(const TrialColumns& t, int row) {
  const QString number = countText(t.numberInSession(row));
  return t.isOfSessions() ? QCoreApplication::translate("Trial", "%1 of session %2").arg(number).arg(t.session(row).value) : number;
}

}  // namespace tw::widgets
