// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/network_run.h"

#include <sys/prctl.h>

#include <QProcess>
#include <csignal>
#include <limits>

#include "engine/base/json.h"
#include "engine/measure/device.h"
#include "engine/process/find_program.h"
#include "engine/process/temporary_folder.h"

namespace tw::app {
namespace {
constexpr int kPollMillis = 50;

double numberOr(const Json& value, double otherwise) { return value.is_number() ? value.get<double>() : otherwise; }
}  // namespace

Expected<NetworkRun> networkRunOf(const Json& document) {
  try {
    const Json& latency = document.at("latency");
    const Json& check = document.at("check");
    NetworkRun run{.runs = latency.at("runs").get<int>(),
                   .least_s = latency.at("min_s").get<double>(),
                   .median_s = latency.at("median_s").get<double>(),
                   .most_s = latency.at("max_s").get<double>(),
                   .simulated = document.at("simulated").get<bool>(),
                   .passed = check.at("passed").get<bool>(),
                   .error = numberOr(check.at("max_rel_error"), std::numeric_limits<double>::infinity()),
                   .allowed = numberOr(check.at("tolerance"), 0)};
    for (const Json& call : document.at("profile")) run.calls_s.push_back(call.at("median_s").get<double>());
    return run;
  } catch (const Json::exception& e) {
    return Error(ErrorCode::parse_error, std::string("Expected what a run printed, found something else: ") + e.what());
  }
}

Expected<NetworkRun> runNetwork(const runtime::Executable& executable, const std::string& device, int repeat, StopToken stop) {
  TW_TRY(const std::string program, process::find_program("tw", "which runs built networks"));
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  const std::string file = folder.path() + "/network.twx";
  TW_CHECK(runtime::save(executable, file));
  QStringList arguments{QStringLiteral("run"),    QString::fromStdString(file),        QStringLiteral("--trust"),  QStringLiteral("--random-input"),
                        QStringLiteral("--check"), QStringLiteral("--profile"),        QStringLiteral("--repeat"), QString::number(repeat),
                        QStringLiteral("--json")};
  if (device != measure::kLocalDevice) arguments << QStringLiteral("--device") << QString::fromStdString(device);
  QProcess tw;
  tw.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });
  tw.start(QString::fromStdString(program), arguments, QIODevice::ReadOnly);
  while (!tw.waitForFinished(kPollMillis) && tw.state() != QProcess::NotRunning) {
    if (!stop.stop_requested()) continue;
    tw.kill();
    tw.waitForFinished();
    return Error(ErrorCode::cancelled, "The run was cancelled");
  }
  const std::string said = QString::fromUtf8(tw.readAllStandardError()).trimmed().section(QLatin1Char('\n'), -1).toStdString();
  if (tw.error() == QProcess::FailedToStart) return Error(ErrorCode::infrastructure, "The program cannot be started: " + tw.errorString().toStdString());
  if (tw.exitStatus() != QProcess::NormalExit) return Error(ErrorCode::infrastructure, "The network ended its program with a crash");
  const auto document = parse_json(tw.readAllStandardOutput().toStdString());
  if (!document) return Error(ErrorCode::infrastructure, said.empty() ? "The run ended without a word" : said);
  return networkRunOf(*document);
}

}  // namespace tw::app
