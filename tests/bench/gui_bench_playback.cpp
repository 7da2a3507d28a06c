// SPDX-License-Identifier: GPL-3.0-or-later
// Four stored sessions on one clock in the window: moments that reach the views in a second, and what share of a core that takes.
//   gui_bench_playback [--sessions 4] [--trials 2000]
// Ends with 1 if there are fewer than 55 moments a second.
#include <QApplication>
#include <QEventLoop>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTimer>
#include <ctime>

#include "app/main_window.h"
#include "app/playback_bar.h"
#include "app/views/tune_view.h"
#include "tests/app/fake_engine.h"
#include "tests/bench/bench.h"

using namespace tw;
using namespace tw::app;

namespace {

constexpr double kSeconds = 4, kWanted = 55;

/// Lets the event loop work and sleep for a while.
void wait_in_loop(int millis) {
  QEventLoop loop;
  QTimer::singleShot(millis, &loop, &QEventLoop::quit);
  loop.exec();
}

/// Processor time of this thread, in seconds.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int play(int sessions, int trials) {
  const QTemporaryDir dir;
  FakeEngine engine;
  engine.millisPerTrial = -1;
  engine.trialsPerBatch = 16;
  MainWindow window(engine);
  window.askQuit = [] { return MainWindow::QuitChoice::stop; };
  window.resize(1600, 900);
  window.show();
  QSignalSpy opened(&window.workspace(), &app::Workspace::opened), ready(&window.models(), &ModelService::opened);
  window.openWorkspace(dir.filePath(QStringLiteral("playback.twdb")));
  while (opened.isEmpty()) wait_in_loop(10);
  window.openZoo(QStringLiteral("fake"), false);
  while (ready.isEmpty()) wait_in_loop(10);
  for (int i = 1; i <= sessions; ++i) {
    tune::SessionOptions options = window.tuneView().options();
    options.trials = trials, options.trials_per_task = 0, options.seed = static_cast<uint64_t>(i);
    window.tuneView().setOptions(options);
    window.startTuning();
    while (window.tuning().isActive() || window.tuning().isCatchingUp()) wait_in_loop(10);
  }
  wait_in_loop(500);
  std::vector<SessionId> stored;
  for (const db::SessionRow& s : window.workspace().sessions()) stored.push_back(s.id);
  window.setPerspective(QStringLiteral("tune"));
  window.findChild<PlaybackBar*>()->play(stored);
  PlaybackClock& clock = window.hub().playback();
  while (!clock.isOpen()) wait_in_loop(10);
  wait_in_loop(500);
  int moments = 0;
  QObject::connect(&clock, &PlaybackClock::moved, &window, [&] { ++moments; });
  clock.setSpeed(std::max(PlaybackClock::kSlowest, clock.length() / kSeconds));
  clock.setRunning(true);
  const double begin = bench::now_s(), cpu = thread_seconds();
  while (clock.isRunning() && bench::now_s() - begin < 60) wait_in_loop(20);
  const double elapsed = bench::now_s() - begin, rate = moments / elapsed;
  std::printf("%zu sessions of %d trials: %.1f moments a second (wanted %.0f), %.0f %% of a core in the window\n", clock.sessions().size(), trials, rate, kWanted,
              100 * (thread_seconds() - cpu) / elapsed);
  return rate >= kWanted ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QStandardPaths::setTestModeEnabled(true);
  QApplication app(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("tilewright-test"));
  QCoreApplication::setApplicationName(QStringLiteral("playback-bench"));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  const QTemporaryDir settings;
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
  widgets::applyTheme(widgets::ThemeChoice::light);
  const bench::Options options(argc, argv);
  return play(static_cast<int>(options.integer("sessions", 4)), static_cast<int>(options.integer("trials", 2000)));
}
