// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of the window and of every view, to be looked at: empty, loading, before anything was tuned, full, after an error and of a log without computations;
// light and dark; every perspective at the sizes that people have, at QT_SCALE_FACTOR=1.25 as on a screen of 1920x1080. What can be told without eyes is said
// on standard output: labels, buttons, column heads and legends whose text is cut off, pictures of one colour; the exit status is 1 if there are any. Arguments:
// FOLDER [--state NAME] [--view NAME] [--size WxH] [--frames] [--manual] With --frames there are the perspectives alone. With --manual the folder gets what the
// manual's page of views shows, with few colours: each view of a full window by itself, of the other states all on a sheet; a step of each lesson.
// The header of QCustomPlot uses the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>
#include <QTextStream>
#include <QTimer>
#include <QTreeView>
#include <map>
#include <set>
#include <thread>

#include "app/logs/campaign_plan.h"
#include "app/perspectives.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/formula_engine.h"
#include "tests/app/lesson_pictures.h"
#include "tests/app/measured_passes.h"
#include "tests/app/sample_farm.h"
#include "tests/app/sample_log.h"
#include "tests/app/shown_problems.h"
#include "widgets/common/elided_label.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/knob_panel.h"

namespace tw::app {
namespace {

using fixture::named;

QTextStream& out() {
  static QTextStream stream(stdout);
  return stream;
}

/// Pictures are the same everywhere if their letters are.
void pinFonts() {
  QFont font(QStringLiteral("DejaVu Sans"));
  font.setPointSizeF(9);
  QApplication::setFont(font);
}

void spin(int millis) {
  QEventLoop loop;
  QTimer::singleShot(millis, &loop, &QEventLoop::quit);
  loop.exec();
}

template <class F>
bool until(F&& f, int millis = 60'000) {
  QElapsedTimer timer;
  timer.start();
  while (!f() && timer.elapsed() < millis) spin(20);
  return f();
}

/// With 256 colours at most, for a third of the bytes: those that are met most often, and for the rest one of each kind.
QImage withFewColours(const QImage& image) {
  constexpr qsizetype kExact = 200, kAll = 256;
  const QImage full = image.convertToFormat(QImage::Format_RGB32);
  std::map<QRgb, int> met;
  for (int y = 0; y < full.height(); ++y) {
    const auto* line = reinterpret_cast<const QRgb*>(full.constScanLine(y));
    for (int x = 0; x < full.width(); ++x) ++met[line[x] | 0xff000000];
  }
  std::vector<std::pair<int, QRgb>> often;
  for (const auto& [colour, count] : met) often.emplace_back(count, colour);
  std::sort(often.rbegin(), often.rend());
  QList<QRgb> table;
  std::set<QRgb> kinds;
  for (const auto& [count, colour] : often) {
    const bool fresh = kinds.insert(colour & 0xe0e0e0).second;
    if (table.size() < kExact || (fresh && table.size() < kAll)) table << colour;
  }
  return full.convertToFormat(QImage::Format_Indexed8, table, Qt::AvoidDither);
}

/// Pictures in rows, the high ones first, each under its name.
QImage sheetOf(std::vector<std::pair<QString, QPixmap>> pictures) {
  std::stable_sort(pictures.begin(), pictures.end(), [](const auto& a, const auto& b) { return a.second.height() > b.second.height(); });
  constexpr int kWidth = 1480, kGap = 12, kTitle = 20;
  std::vector<QPoint> at;
  int x = kGap, y = kGap, row = 0;
  for (const auto& [name, picture] : pictures) {
    if (x > kGap && x + picture.width() + kGap > kWidth) x = kGap, y += std::exchange(row, 0) + kTitle + kGap;
    at.emplace_back(x, y);
    x += picture.width() + kGap;
    row = std::max(row, picture.height());
  }
  QImage sheet(kWidth, y + row + kTitle + kGap, QImage::Format_RGB32);
  sheet.fill(QColor(128, 128, 128));
  QPainter p(&sheet);
  for (size_t i = 0; i < pictures.size(); ++i) {
    p.drawText(QRect(at[i], QSize(pictures[i].second.width(), kTitle)), Qt::AlignLeft | Qt::AlignVCenter, pictures[i].first);
    p.drawPixmap(at[i] + QPoint(0, kTitle), pictures[i].second);
  }
  return sheet;
}

class Photographer {
 public:
  Photographer(MainWindow& window, QString folder, QString onlyView, bool manual)
      : m_window(window), m_folder(std::move(folder)), m_only(std::move(onlyView)), m_manual(manual) {
    // At 125 % a screen of 1920x1080 holds a window of so many points.
    const bool enlarged = qFuzzyCompare(window.devicePixelRatioF(), 1.25);
    m_sizes = enlarged ? QList<QSize>{QSize(1536, 864)} : QList<QSize>{QSize(1366, 768), QSize(1600, 1000), QSize(2560, 1440)};
  }
  int problems() const { return m_problems; }

  /// The window and each of its views as they are now.
  void take(const QString& state, int settle) {
    for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
      m_window.setTheme(theme);
      const QString name = state + (theme == widgets::ThemeChoice::dark ? QStringLiteral("-dark") : QStringLiteral("-light"));
      spin(settle);
      save(m_window, QStringLiteral("window"), name);
      if (!m_window.hub().model()) {  // the start page stands for all
        if (m_manual) write(m_window.grab().toImage(), name);
        continue;
      }
      for (auto* dock : m_window.findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        const QString view = dock->objectName().mid(5);
        if (!m_only.isEmpty() && view != m_only) continue;
        dock->show();
        dock->raise();
        spin(settle);
        // Loops are shown on their way.
        if (auto* bar = dock->findChild<QSlider*>(QStringLiteral("slider.loops"))) bar->setValue(bar->maximum() * 3 / 4);
        save(*dock->widget(), view, name);
        auto* tabs = dock->widget()->findChild<QTabWidget*>();
        for (int tab = 1; tabs && tabs->isVisible() && tab < tabs->count(); ++tab) {
          if (!tabs->isTabEnabled(tab)) continue;
          tabs->setCurrentIndex(tab);
          spin(settle);
          save(*dock->widget(), QStringLiteral("%1.%2").arg(view).arg(tab + 1), name);
        }
        if (tabs) tabs->setCurrentIndex(0);
        // The pages of the curve and of the rounds are in a list instead.
        QComboBox* pages = nullptr;
        for (const char* list : {"combo.curve.page", "combo.rounds.terms"})
          if (auto* found = dock->widget()->findChild<QComboBox*>(QLatin1String(list))) pages = found;
        for (int page = 1; pages && pages->isVisible() && page < pages->count(); ++page) {
          pages->setCurrentIndex(page);
          spin(settle);
          save(*dock->widget(), QStringLiteral("%1.%2").arg(view).arg(page + 1), name);
        }
        if (pages) pages->setCurrentIndex(0);
      }
      if (!m_sheet.empty()) write(sheetOf(std::exchange(m_sheet, {})), name);
    }
    m_window.resetLayout();
  }
  /// Every perspective at the sizes that people have, and with large letters: `frame.<perspective>-<size>-<theme>`.
  void takeFrames(int settle) {
    const QSize before = m_window.size();
    const QString last = m_window.perspective();
    for (const bool big : {false, true}) {
      m_window.setBigType(big);
      for (const QSize size : m_sizes) {
        if (big && size != m_sizes[m_sizes.size() / 2]) continue;
        m_window.resize(size);
        for (const PerspectiveDef& def : perspectives()) {
          m_window.setPerspective(QString::fromLatin1(def.id));
          m_window.resetLayout();
          for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
            m_window.setTheme(theme);
            spin(settle);
            const QString name = QStringLiteral("%1x%2%3-%4").arg(size.width()).arg(size.height()).arg(big ? QStringLiteral("-big") : QString(), theme == widgets::ThemeChoice::dark ? QStringLiteral("dark") : QStringLiteral("light"));
            save(m_window, QStringLiteral("frame.") + QLatin1String(def.id), name);
            checkTexts(m_window, QStringLiteral("frame.%1 %2").arg(QLatin1String(def.id), name));
          }
        }
      }
    }
    m_window.setBigType(false);
    m_window.resize(before);
    m_window.setPerspective(last);
    m_window.resetLayout();
  }
  /// The knobs of every template of the task, in the panel that Explore has for them. In a window of 1600 by 1000 none needs to be scrolled to, in no window is
  /// one wider than its panel.
  void takeKnobs(const QString& state, int settle) {
    const QSize before = m_window.size();
    const QString last = m_window.perspective();
    m_window.setPerspective(QStringLiteral("explore"));
    for (const QSize size : {QSize(1366, 768), QSize(1600, 1000)}) {
      m_window.resize(size);
      m_window.resetLayout();
      auto* list = named<QComboBox>(m_window, "combo.space.template");
      const auto* scroll = m_window.findChild<widgets::KnobPanel*>()->findChild<QScrollArea*>();
      for (int i = 0; i < list->count(); ++i) {
        list->setCurrentIndex(i);
        Q_EMIT list->activated(i);
        spin(settle);
        const QString name = QStringLiteral("%1-%2-%3x%4").arg(state).arg(i + 1).arg(size.width()).arg(size.height());
        save(m_window, QStringLiteral("knobs"), name);
        const int below = scroll->verticalScrollBar()->maximum(), beside = scroll->horizontalScrollBar()->maximum();
        if (below > 0 && size.height() >= 1000) problem(QStringLiteral("knobs ") + name, QStringLiteral("the knobs of %1 need %2 pixels more").arg(list->currentText()).arg(below));
        if (beside > 0) problem(QStringLiteral("knobs ") + name, QStringLiteral("the knobs of %1 are %2 pixels wider than their panel").arg(list->currentText()).arg(beside));
      }
    }
    m_window.resize(before);
    m_window.setPerspective(last);
    m_window.resetLayout();
  }
  /// A dialog that `open` shows, which is rejected then.
  void takeDialog(const QString& dialog, const QString& state, int settle, const std::function<void()>& open) {
    if (!m_only.isEmpty() && m_only != QLatin1String("dialog")) return;
    for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
      m_window.setTheme(theme);
      bool taken = false;
      QTimer::singleShot(settle, &m_window, [&] {
        QWidget* shown = QApplication::activeModalWidget();
        if (shown == nullptr) return;
        taken = true;
        save(*shown, QStringLiteral("dialog.") + dialog, state + (theme == widgets::ThemeChoice::dark ? QStringLiteral("-dark") : QStringLiteral("-light")));
        shown->close();
      });
      open();
      if (!until([&] { return taken; }, 10 * settle + 1000)) qFatal("The dialog %s does not come", qPrintable(dialog));
      spin(20);
    }
  }
  void save(QWidget& widget, const QString& view, const QString& name) {
    if (!m_only.isEmpty() && view.section(QLatin1Char('.'), 0, 0) != m_only) return;
    if (!widget.isVisible()) return;
    settle(widget);
    const QPixmap picture = widget.grab();
    const QString scale = qFuzzyCompare(picture.devicePixelRatio(), 1.0) ? QString() : QStringLiteral("@%1x").arg(picture.devicePixelRatio());
    const QString place = QStringLiteral("%1-%2%3").arg(view, name, scale);
    const QString full = QStringLiteral("full-");
    if (!m_manual)
      write(picture.toImage(), place);
    else if (name.startsWith(QLatin1String("gpu-"))) {
      // Of a GPU the manual shows what differs.
      if (view == QLatin1String("why")) write(picture.toImage(), QStringLiteral("gpu-") + view + name.mid(3));
    } else if (name.startsWith(QLatin1String("passes-"))) {
      write(picture.toImage(), QStringLiteral("network-") + view + name.mid(6));
    } else if (name.startsWith(QLatin1String("farm-"))) {
      if (view == QLatin1String("devices")) write(picture.toImage(), view + name.mid(4));
    } else if (name.startsWith(QLatin1String("campaign-"))) {
      if (view.section(QLatin1Char('.'), 0, 0) == QLatin1String("campaign")) write(picture.toImage(), view + name.mid(8));
    } else if (name.startsWith(full))
      write(picture.toImage(), view + QLatin1Char('-') + name.mid(full.size()));
    else if (&widget != &m_window)
      m_sheet.emplace_back(view, picture);
    check(picture.toImage(), QStringLiteral("%1 %2%3").arg(view, name, scale));
    if (&widget != &m_window) checkTexts(widget, QStringLiteral("%1 %2%3").arg(view, name, scale));
  }

 private:
  void write(const QImage& picture, const QString& name) {
    if (!(m_manual ? withFewColours(picture) : picture).save(QStringLiteral("%1/%2.png").arg(m_folder, name))) qFatal("A picture cannot be written");
  }
  void problem(const QString& where, const QString& what) {
    if (!m_told.insert(where.section(QLatin1Char('-'), 0, 0) + what).second) return;
    ++m_problems;
    out() << where << ": " << what << '\n';
    out().flush();
  }
  /// What came in the last moment has its place too: layouts and replots wait for the next turn of the event loop otherwise.
  static void settle(const QWidget& widget) {
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    for (auto* plot : widget.findChildren<QCustomPlot*>())
      if (plot->isVisible() && !plot->visibleRegion().isEmpty()) plot->replot(QCustomPlot::rpImmediateRefresh);
  }
  void check(const QImage& image, const QString& where) {
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); y += 3) {
      for (int x = 0; x < image.width() && colours.size() < 3; x += 3) colours.insert(image.pixel(x, y));
    }
    if (colours.size() < 3) problem(where, QStringLiteral("the picture is blank"));
  }
  /// Of what is seen: views behind another tab have the size of no place.
  void checkTexts(const QWidget& view, const QString& where) {
    for (const auto* label : view.findChildren<QLabel*>()) {
      if (label->visibleRegion().isEmpty() || label->text().isEmpty() || qobject_cast<const widgets::ElidedLabel*>(label)) continue;
      const int needed = label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().width();
      const int given = label->wordWrap() ? label->height() : label->width();
      if (needed > given + 1) problem(where, QStringLiteral("the label '%1' is cut: %2 of %3 pixels").arg(label->text()).arg(given).arg(needed));
    }
    for (const auto* button : view.findChildren<QAbstractButton*>()) {
      if (button->visibleRegion().isEmpty() || button->text().isEmpty() || button->objectName().startsWith(QLatin1String("qt_"))) continue;
      if (button->sizeHint().width() > button->width() + 1)
        problem(where, QStringLiteral("the button '%1' is cut: %2 of %3 pixels").arg(button->text()).arg(button->width()).arg(button->sizeHint().width()));
    }
    for (const auto* header : view.findChildren<QHeaderView*>())
      if (header->orientation() == Qt::Horizontal && header->model() && !header->visibleRegion().isEmpty()) checkHeads(*header, where);
    for (const auto* plot : view.findChildren<QCustomPlot*>())
      if (plot->legend && plot->legend->visible() && !plot->visibleRegion().isEmpty()) checkLegend(*plot, where);
  }
  /// Of columns that begin where they are seen: the rest is scrolled to.
  void checkHeads(const QHeaderView& header, const QString& where) {
    const int margins = 2 * header.style()->pixelMetric(QStyle::PM_HeaderMargin, nullptr, &header);
    for (int c = 0; c < header.count(); ++c) {
      const QString text = header.model()->headerData(c, Qt::Horizontal).toString();
      const int given = header.sectionSize(c), at = header.sectionViewportPosition(c);
      if (header.isSectionHidden(c) || text.isEmpty() || at < 0 || at >= header.viewport()->width()) continue;
      const int needed = header.fontMetrics().horizontalAdvance(text) + margins;
      if (needed > given + 1) problem(where, QStringLiteral("the head '%1' of %2 is cut: %3 of %4 pixels").arg(text, header.parentWidget()->objectName()).arg(given).arg(needed));
    }
  }
  void checkLegend(const QCustomPlot& plot, const QString& where) {
    for (int i = 0; i < plot.legend->itemCount(); ++i) {
      const QCPAbstractLegendItem* item = plot.legend->item(i);
      if (!item || !item->visible()) continue;
      const QRect place = item->outerRect();
      const int needed = item->minimumOuterSizeHint().width(), given = std::min(place.right(), plot.viewport().right()) - place.left() + 1;
      const auto* named = qobject_cast<const QCPPlottableLegendItem*>(item);
      const int high = item->minimumOuterSizeHint().height(), room = std::min(place.bottom(), plot.viewport().bottom()) - place.top() + 1;
      if (high > room || QFontMetrics(item->font()).height() >= room)
        problem(where, QStringLiteral("the legend '%1' is %2 pixels high and needs %3").arg(named ? const_cast<QCPPlottableLegendItem*>(named)->plottable()->name() : QString()).arg(room).arg(high));
      if (needed > given + 1) problem(where, QStringLiteral("the legend '%1' is cut: %2 of %3 pixels").arg(named ? const_cast<QCPPlottableLegendItem*>(named)->plottable()->name() : QString()).arg(given).arg(needed));
    }
  }
  MainWindow& m_window;
  QString m_folder, m_only;
  bool m_manual;
  QList<QSize> m_sizes;  ///< of the window, for takeFrames()
  std::vector<std::pair<QString, QPixmap>> m_sheet;  ///< those of one state and theme
  std::set<QString> m_told;
  int m_problems = 0;
};

/// Does not answer while it is held, so that views can be seen that wait.
class WaitingEngine : public FormulaEngine {
 public:
  std::atomic<bool> held = false;

  std::vector<Space> spaces(const records::Task& task) override { return wait(), FormulaEngine::spaces(task); }
  api::Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                           const std::vector<int>& groups) override {
    return wait(), FormulaEngine::explain(task, steps, network, groups);
  }

 private:
  void wait() const {
    while (held) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
};

void openModel(MainWindow& window) {
  QSignalSpy laidOut(&window.graphPage(), &GraphPage::laidOut);
  window.openZoo(QStringLiteral("resnet18"), true);
  if (!until([&] { return laidOut.count() > 0; })) qFatal("The network does not open");
  window.resetLayout();
}

void tuneOnce(MainWindow& window, const char* tuner, int seed, int trials) {
  tune::SessionOptions options = window.tuneView().options();
  options.tuner = tuner;
  options.seed = static_cast<uint64_t>(seed);
  options.trials = trials;
  if (options.tuner == "ansor") options.scheduler = "gradient";
  window.tuneView().setOptions(options);
  window.tuneView().setOnlySelectedTask(true);
  window.startTuning();
  if (!until([&] { return !window.tuning().isActive(); })) qFatal("The session does not end");
}

int photograph(const QString& folder, const QStringList& arguments) {
  const auto value = [&](const char* name) {
    const auto at = arguments.indexOf(QLatin1String(name));
    return at < 0 ? QString() : arguments.value(at + 1);
  };
  const QString only = value("--state");
  const auto wanted = [&](const char* state) { return only.isEmpty() || only == QLatin1String(state); };
  const bool manual = arguments.contains(QStringLiteral("--manual"));
  const QStringList size = value("--size").isEmpty() ? QStringList{QStringLiteral("1600"), QStringLiteral("1000")} : value("--size").split(QLatin1Char('x'));
  const QTemporaryDir home(QDir::tempPath() + QStringLiteral("/tilewright-XXXXXX"));
  qputenv("HOME", home.path().toUtf8());  // paths that are shown tell nothing of who took the pictures
  fixture::ownHome(QStringLiteral("pictures"), home.path());
  pinFonts();
  int problems = 0;
  using Dialogs = std::function<void(MainWindow&, const std::function<void(const char* dialog, const std::function<void()>& open)>& take)>;
  const auto stage = [&](const char* state, Engine& engine, const std::function<void(MainWindow&)>& prepare, int settle, const Dialogs& dialogs = {}) {
    if (!wanted(state)) return;
    QSettings().clear();
    const auto window = fixture::openWindow(engine, home.filePath(QLatin1String(state) + QStringLiteral(".twdb")), true);
    window->resize(size.value(0).toInt(), size.value(1).toInt());
    window->resetLayout();
    prepare(*window);
    // Of some states one view alone is of interest.
    const QString view = state == QLatin1String("passes") ? QStringLiteral("passes") : value("--view");
    if (!value("--view").isEmpty() && view != value("--view")) return;
    Photographer photographer(*window, folder, view, manual);
    const bool framesOnly = arguments.contains(QStringLiteral("--frames"));
    if (!framesOnly) photographer.take(QLatin1String(state), settle);
    if (state == QLatin1String("full") && !manual && (framesOnly || qFuzzyCompare(window->devicePixelRatioF(), 1.0))) photographer.takeFrames(settle / 2);
    if (state == QLatin1String("gpu") && !manual && !framesOnly && qFuzzyCompare(window->devicePixelRatioF(), 1.0)) photographer.takeKnobs(QLatin1String(state), settle);
    if (dialogs && !framesOnly)
      dialogs(*window, [&](const char* dialog, const std::function<void()>& open) { photographer.takeDialog(QLatin1String(dialog), QLatin1String(state), settle, open); });
    problems += photographer.problems();
    if (auto* waiting = dynamic_cast<WaitingEngine*>(&engine)) waiting->held = false;
    window->close();
    until([&] { return !window->tuning().isActive(); });
  };
  FormulaEngine engine;
  engine.machine.failure_rate = 0.08;
  engine.machine.noise = 0.1;
  stage(
      "empty", engine, [](MainWindow&) {}, 30);
  WaitingEngine waiting;
  waiting.machine = engine.machine;
  stage(
      "loading", waiting,
      [&waiting](MainWindow& w) {
        openModel(w);
        until([&] { return w.explaining().explanation() != nullptr; });
        waiting.held = true;
        w.hub().setTask(1);
      },
      50);
  stage(
      "untuned", engine,
      [](MainWindow& w) {
        openModel(w);
        until([&] { return w.explaining().explanation() != nullptr; });
      },
      150);
  stage(
      "full", engine,
      [](MainWindow& w) {
        openModel(w);
        tuneOnce(w, "random", 1, 160);
        tuneOnce(w, "genetic", 1, 160);
        tuneOnce(w, "xgb", 1, 160);
        tuneOnce(w, "ansor", 1, 160);
        std::vector<SessionId> all;
        until([&] { return w.workspace().sessions().size() == 4; });
        for (const auto& row : w.workspace().sessions()) all.push_back(row.id);
        w.hub().setComparedSessions(all);
        w.actions().get(QStringLiteral("trial.best"))->trigger();
        named<QDoubleSpinBox>(w, "spin.network.target")->setValue(0.4);
        w.build().build(w.hub().model());
        until([&] { return w.build().built() != nullptr; });
        spin(1500);
      },
      500,
      [&](MainWindow& w, const auto& take) {
        for (const auto& [dialog, action] : {std::pair("race", "tune.race"), std::pair("preferences", "edit.preferences"), std::pair("shortcuts", "help.shortcuts")})
          take(dialog, [&w, action = QLatin1String(action)] { w.actions().get(action)->trigger(); });
        const QString log = home.filePath(QStringLiteral("dialog.json"));
        fixture::writeLog(log);
        take("import", [&] {
          w.openFile(log);
          until([&] { return w.importing().state() == ImportService::State::previewed; });
        });
        tune::SessionOptions options = w.tuneView().options();
        options.trials = 1'000'000;
        w.tuneView().setOptions(options);
        w.startTuning();
        w.tuning().setPaused(true);
        take("quit", [&w] { w.close(); });
        w.tuning().cancel();
        until([&] { return !w.tuning().isActive(); });
      });
  LocalEngine gpu(parse_target("cuda:a100").value());
  stage(
      "gpu", gpu,
      [](MainWindow& w) {
        openModel(w);
        tuneOnce(w, "random", 1, 48);
        tuneOnce(w, "genetic", 1, 48);
        until([&] { return w.workspace().sessions().size() == 2; });
        std::vector<SessionId> all;
        for (const auto& row : w.workspace().sessions()) all.push_back(row.id);
        w.hub().setComparedSessions(all);
        w.actions().get(QStringLiteral("trial.best"))->trigger();
        spin(1500);
      },
      500);
  // A graph pass with its picture, and what leaving each out costs.
  stage(
      "passes", engine,
      [](MainWindow& w) {
        openModel(w);
        fixture::showMeasuredPasses(w);
        spin(800);
      },
      300);
  FormulaEngine farmer;
  farmer.machine = engine.machine;
  farmer.knownFarms = {{.farm = "default", .folder = "/farm", .port = 4222, .kinds = {{"graviton3", ""}, {"rpi4", ""}}}};
  farmer.farmSurvey = sampleFarm();
  stage(
      "farm", farmer,
      [](MainWindow& w) {
        openModel(w);
        w.setPerspective(QStringLiteral("tune"));
        fixture::showDock(w, "dock.devices");
        until([&] { return w.farms().moments("pi-1").size() >= 8; });
      },
      150);
  stage(
      "campaign", engine,
      [&](MainWindow& w) {
        for (const std::string& file : logs::shipped_campaigns())
          if (file.ends_with("matmul-gpus.twz")) w.openCampaign(QString::fromStdString(file));
        if (!until([&] { return w.campaigns().campaign() != nullptr; }, 300'000)) qFatal("The campaign is not told");
        spin(500);
      },
      150);
  stage(
      "imported", engine,
      [&](MainWindow& w) {
        const QString log = home.filePath(QStringLiteral("ansor.json"));
        fixture::writeLog(log);
        w.openFile(log);
        if (!until([&] { return w.importing().state() == ImportService::State::previewed; })) qFatal("The log is not read");
        w.importing().start();
        if (!until([&] { return w.hub().model() != nullptr; })) qFatal("The log is not imported");
        spin(500);
      },
      150);
  stage(
      "race", engine,
      [](MainWindow& w) {
        openModel(w);
        tune::SessionOptions options;
        options.trials = 60;
        w.setPerspective(QStringLiteral("compare"));
        w.race().start({w.hub().model(), {w.hub().task()}, {"random", "genetic"}, 5, options, {}});
        if (!until([&] { return !w.race().isActive(); })) qFatal("The race does not end");
        until([&] { return w.workspace().sessions().size() == 10; });
        w.marks().setMark(QStringLiteral("session:1"), {QStringLiteral("the first try"), {}});
        spin(800);
      },
      150);
  const auto showError = [](MainWindow& w) {
    openModel(w), fixture::showProblems(w);
    spin(500);
  };
  stage("error", engine, showError, 150);
  if (wanted("lessons") && qFuzzyCompare(qApp->devicePixelRatio(), 1.0)) {
    QSettings().clear();
    LocalEngine local;
    fixture::showLessons(local, home.filePath(QStringLiteral("lessons.twdb")), [&](MainWindow& w, const QString& lesson) {
      Photographer photographer(w, folder, {}, manual);
      photographer.save(w, QStringLiteral("lesson"), QStringLiteral("full-") + lesson);
      if (!manual) photographer.save(*named<QWidget>(w, "view.lessons"), QStringLiteral("lesson.panel"), QStringLiteral("full-") + lesson);
      problems += photographer.problems();
    });
  }
  return problems;
}

}  // namespace
}  // namespace tw::app

int main(int argc, char** argv) {
  // The offscreen platform says so of each window, which hides what is said here.
  static QtMessageHandler before = qInstallMessageHandler([](QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (!text.contains(QLatin1String("propagateSizeHints"))) before(type, context, text);
  });
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  QStringList arguments = QApplication::arguments().mid(1);
  if (arguments.isEmpty() || arguments.first().startsWith(QLatin1String("--"))) {
    QTextStream(stderr) << "Expected a folder for the pictures\n";
    return 2;
  }
  const QString folder = arguments.takeFirst();
  if (!QDir().mkpath(folder)) {
    QTextStream(stderr) << "The folder " << folder << " cannot be made\n";
    return 2;
  }
  return tw::app::photograph(folder, arguments) == 0 ? 0 : 1;
}
