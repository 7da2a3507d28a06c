// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/status_text.h"

#include <QCoreApplication>

namespace tw::widgets {
namespace {
QString tr(const char* text) { return QCoreApplication::translate("TrialStatus", text); }
}  // namespace

QString statusText(records::Status status) {
  using records::Status;
  switch (status) {
    case Status::ok:
      return tr("ok");
    case Status::lower_fail:
      return tr("illegal schedule");
    case Status::build_fail:
      return tr("build failed");
    case Status::build_timeout:
      return tr("build timeout");
    case Status::build_crash:
      return tr("build crash");
    case Status::load_fail:
      return tr("load failed");
    case Status::run_timeout:
      return tr("run timeout");
    case Status::run_crash:
      return tr("run crash");
    case Status::out_of_memory:
      return tr("out of memory");
    case Status::wrong_output:
      return tr("wrong output");
    case Status::bad_timing:
      return tr("bad timing");
    case Status::infra:
      return tr("infrastructure");
    case Status::cancelled:
      return tr("cancelled");
  }
  return {};
}

QString statusGlyph(records::Status status) {
  if (status == records::Status::ok) return QString(QChar(0x2713));
  if (status == records::Status::wrong_output) return QString(QChar(0x2260));
  if (status == records::Status::cancelled) return QString(QChar(0x2013));
  return QString(QChar(0x00D7));
}

}  // namespace tw::widgets
