// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QSettings>
#include <QTemporaryDir>
#include <QTextStream>
#include <csignal>
#include <string_view>

#include "app/main_window.h"
#include "app/scripted_run.h"
#include "app/services/local_engine.h"
#include "engine/frontends/size_texts.h"
#include "engine/measure/device.h"
#include "widgets/common/english_plurals.h"
#include "widgets/theme/theme.h"

namespace {

using tw::app::ScriptedRun;

struct Options {
  QString file, zoo, database, theme, lesson, step, lessons;
  tw::Target target;
  std::map<std::string, int64_t> sizes;
  bool tiny = false, scripted = false;
  ScriptedRun::Plan plan;
};

/// Reads the command line; exits with 2 on wrong usage.
Options parse(const QApplication& app) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QApplication::translate("main", "Workbench for tuning tensor programs"));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("file"), QApplication::translate("main", "What to open: a model (ONNX, exported by PyTorch, or TorchScript), a computation of one's own, a workspace or a bundle"),
                               QStringLiteral("[FILE.onnx | FILE.pt2 | FILE.pt | FILE.te | FILE.twdb | FILE.twz]"));
  const auto option = [&](const char* name, const QString& help, const char* value) {
    parser.addOption(*value ? QCommandLineOption(QLatin1String(name), help, QLatin1String(value)) : QCommandLineOption(QLatin1String(name), help));
  };
  option("db", QApplication::translate("main", "Workspace file that keeps sessions"), "PATH");
  option("model", QApplication::translate("main", "Bundled network to open"), "NAME");
  option("tiny", QApplication::translate("main", "Its small variant"), "");
  option("dim", QApplication::translate("main", "A size that the model's file leaves open, as name=value; may be repeated. Without it the window asks"), "NAME=VALUE");
  option("target",
         QApplication::translate(
             "main", "What models are opened for: llvm (this machine), cuda (its GPU), or cuda:NAME, a GPU whose times are simulated where it is not here"),
         "NAME");
  option("theme", QApplication::translate("main", "Colours: light, dark or system"), "NAME");
  option("lesson", QApplication::translate("main", "Start a lesson, by its name"), "NAME");
  option("step", QApplication::translate("main", "Start it at this step: its number from 1, or its name"), "STEP");
  option("lessons", QApplication::translate("main", "Folder whose lessons are shown beside those of the program"), "FOLDER");
  option("tune", QApplication::translate("main", "Start a session of N trials, then quit after the picture"), "N");
  option("tuner", QApplication::translate("main", "Tuner of that session"), "NAME");
  option("seed", QApplication::translate("main", "Seed of that session"), "S");
  option("task", QApplication::translate("main", "Task to select, counted from 1"), "K");
  option("only-task", QApplication::translate("main", "Tune only that task"), "");
  option("trial", QApplication::translate("main", "Trial to select before the picture"), "N");
  option("panel", QApplication::translate("main", "Panels to bring to the front before the picture, such as landscape,why"), "NAMES");
  option("compare", QApplication::translate("main", "Put the newest N sessions side by side before the picture"), "N");
  option("play", QApplication::translate("main", "Play those sessions, or the one that is shown, up to this part of their time before the picture"), "SHARE");
  option("against", QApplication::translate("main", "Compare the code with that of: default, best"), "NAME");
  option("choose", QApplication::translate("main", "Entries to choose before the picture, such as combo.graph.overlay=1"), "BOX=N,...");
  option("screenshot", QApplication::translate("main", "Write a picture of the window and quit"), "OUT.png");
  option("after", QApplication::translate("main", "Seconds to wait before the picture"), "SECONDS");
  parser.process(app);
  Options o;
  if (parser.positionalArguments().size() > 1) parser.showHelp(2);
  o.file = parser.positionalArguments().value(0);
  o.zoo = parser.value(QStringLiteral("model"));
  o.database = parser.value(QStringLiteral("db"));
  o.theme = parser.value(QStringLiteral("theme"));
  o.lesson = parser.value(QStringLiteral("lesson"));
  o.step = parser.value(QStringLiteral("step"));
  o.lessons = parser.value(QStringLiteral("lessons"));
  o.tiny = parser.isSet(QStringLiteral("tiny"));
  o.scripted = parser.isSet(QStringLiteral("screenshot")) || parser.isSet(QStringLiteral("tune"));
  bool ok = true;
  std::vector<std::string> sizes;
  for (const QString& text : parser.values(QStringLiteral("dim"))) sizes.push_back(text.toStdString());
  if (const auto read = tw::frontends::sizes_from_texts(sizes)) {
    o.sizes = *read;
  } else {
    QTextStream(stderr) << QString::fromStdString(read.error().text()) << '\n';
    ok = false;
  }
  const auto target = tw::measure::target_named(parser.isSet(QStringLiteral("target")) ? parser.value(QStringLiteral("target")).toStdString() : "llvm");
  if (target) {
    o.target = *target;
  } else {
    QTextStream(stderr) << QString::fromStdString(target.error().text()) << '\n';
    ok = false;
  }
  const auto number = [&](const char* name, double fallback) {
    if (!parser.isSet(QLatin1String(name))) return fallback;
    bool good = false;
    const double value = parser.value(QLatin1String(name)).toDouble(&good);
    if (!good || value < 0) {
      QTextStream(stderr) << QApplication::translate("main", "--%1 needs a number of at least 0").arg(QLatin1String(name)) << '\n';
      ok = false;
    }
    return value;
  };
  if (!o.step.isEmpty() && o.lesson.isEmpty()) {
    QTextStream(stderr) << QApplication::translate("main", "--step needs --lesson") << '\n';
    ok = false;
  }
  o.plan.trials = static_cast<qint64>(number("tune", 0));
  o.plan.seed = static_cast<quint64>(number("seed", 1));
  o.plan.task = static_cast<int>(number("task", 0)) - 1;
  o.plan.trial = static_cast<qint64>(number("trial", -1));
  o.plan.panels = parser.value(QStringLiteral("panel")).split(QLatin1Char(','), Qt::SkipEmptyParts);
  o.plan.choices = parser.value(QStringLiteral("choose")).split(QLatin1Char(','), Qt::SkipEmptyParts);
  o.plan.against = parser.value(QStringLiteral("against"));
  if (!o.plan.against.isEmpty() && o.plan.against != QLatin1String("default") && o.plan.against != QLatin1String("best")) {
    QTextStream(stderr) << QApplication::translate("main", "--against needs default or best") << '\n';
    ok = false;
  }
  o.plan.compared = static_cast<int>(number("compare", 0));
  o.plan.playedTo = number("play", -1);
  o.plan.afterSeconds = number("after", 3);
  o.plan.tuner = parser.value(QStringLiteral("tuner"));
  o.plan.onlyTask = parser.isSet(QStringLiteral("only-task"));
  o.plan.picture = parser.value(QStringLiteral("screenshot"));
  o.plan.waitForModel = (!o.file.isEmpty() && !tw::app::MainWindow::isWorkspace(o.file)) || !o.zoo.isEmpty();
  if (!o.theme.isEmpty() && o.theme != QLatin1String("light") && o.theme != QLatin1String("dark") && o.theme != QLatin1String("system")) {
    QTextStream(stderr) << QApplication::translate("main", "--theme is light, dark or system, not '%1'").arg(o.theme) << '\n';
    ok = false;
  }
  if (!ok) std::exit(2);
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing says what is wrong
  std::signal(SIGXFSZ, SIG_IGN);
  // What is only printed needs no display.
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    const bool prints = argument == "--help" || argument == "-h" || argument == "--help-all" || argument == "--version" || argument == "-v";
    if (prints && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tilewright"));
  QApplication::setApplicationName(QStringLiteral("tilewright"));
  QApplication::setApplicationVersion(QStringLiteral(TW_VERSION));
  tw::widgets::EnglishPlurals plurals;
  QApplication::installTranslator(&plurals);
  const Options options = parse(app);
  // A run without a user leaves the user's settings as they are.
  const QTemporaryDir scratch;
  if (options.scripted) QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, scratch.path());
  QSettings settings;
  const QString theme = options.theme.isEmpty() ? settings.value(QStringLiteral("theme")).toString() : options.theme;
  tw::widgets::applyTheme(tw::widgets::themeChoiceFromName(theme));

  tw::widgets::setBigType(settings.value(QStringLiteral("bigType")).toBool());

  tw::app::LocalEngine engine(options.target);
  tw::app::MainWindow window(engine);
  if (!options.theme.isEmpty()) window.setTheme(tw::widgets::themeChoiceFromName(theme));
  if (!options.lessons.isEmpty()) window.lessons().setFolder(QDir(options.lessons).absolutePath());
  QString database = options.database;
  if (database.isEmpty()) database = settings.value(QStringLiteral("workspace")).toString();
  if (database.isEmpty()) database = tw::app::Workspace::defaultPath();
  // The model comes after the workspace, so that it is entered there.
  const auto openModel = [&] {
    if (!options.file.isEmpty() && !options.sizes.empty())
      window.models().openSized(options.file, options.sizes);
    else if (!options.file.isEmpty())
      window.openAny(options.file);
    else if (!options.zoo.isEmpty())
      window.openZoo(options.zoo, options.tiny);
    if (!options.lesson.isEmpty()) window.startLesson(options.lesson, options.step);
  };
  QObject::connect(&window.workspace(), &tw::app::Workspace::opened, &window, openModel, Qt::SingleShotConnection);
  QObject::connect(
      &window.workspace(), &tw::app::Workspace::failed, &window,
      [&](const QString&, bool readOnly) {
        if (!readOnly) openModel();
      },
      Qt::SingleShotConnection);
  window.openWorkspace(database);
  window.show();
  ScriptedRun script(window, options.plan);
  if (options.scripted) script.start();
  return QApplication::exec();
}
