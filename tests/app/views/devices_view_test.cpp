// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/devices_view.h"

#include <QComboBox>
#include <QInputDialog>
#include <QLabel>
#include <QToolButton>
#include <QTreeView>

#include "app/services/farm_service.h"
#include "engine/farm/names.h"
#include "tests/app/fake_bench.h"
#include "widgets/common/banner.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/records/device_model.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

farm::Presence device(const char* name, const char* phase, int64_t measured) {
  farm::Presence p;
  p.device = name, p.kind = "rpi4", p.boot = "b1", p.phase = phase, p.target = "llvm -mcpu=cortex-a72", p.measured = measured;
  p.references = {6e9, 3e9};
  return p;
}

bool says(const QWidget& state, const QString& text) {
  const auto labels = state.findChildren<QLabel*>();
  return std::any_of(labels.begin(), labels.end(), [&](const QLabel* l) { return l->text().contains(text); });
}

}  // namespace

/// What the farm's own functions say (engine/farm/survey.h), as a table, and devices as a choice beside the target.
class DevicesViewTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() {
    QLocale::setDefault(QLocale::c());
    ownHome(QStringLiteral("devices"), m_dir.path());
  }

  void whoHasNoFarmIsToldOfThem() {
    auto b = openFake(m_dir.filePath(QStringLiteral("none.twdb")));
    showDock(*b->window, "dock.devices");
    auto* state = b->window->findChild<DevicesView*>()->findChild<widgets::EmptyState*>();
    QVERIFY(state->isEmpty() && says(*state, QStringLiteral("tw farm up")));
    QVERIFY(!named<QComboBox>(*b->window, "combo.run.device")->isVisible());
    QCOMPARE(b->engine.surveys, 0);
  }

  void devicesQueuesAndTheirHistory() {
    auto b = openFake(m_dir.filePath(QStringLiteral("farm.twdb")));
    farm::Survey survey;
    survey.devices = {device("pi-1", "measuring", 10), device("pi-2", "quarantined", 4)};
    survey.devices[0].trial = "t42", survey.devices[1].reason = "its canary is 30 % slow", survey.devices[1].failures = {{"run_timeout", 3}, {"crashed", 1}};
    survey.queues = {{"rpi4", farm::priority_queue(1), {12, 2, 1}}};
    survey.results = 5;
    b->engine.farmSurvey = survey;
    b->engine.knownFarms = {{.farm = "default", .folder = "/f", .port = 4000, .kinds = {{"rpi4", ""}}}, {.farm = "lab", .folder = "/l", .address = "10.0.0.2", .port = 4001, .fingerprint = "ab", .kinds = {{"host", ""}}}};
    FarmService& farms = b->window->farms();
    // Nobody is asked while nobody looks.
    farms.refresh();
    QCOMPARE(b->engine.surveys, 0);
    showDock(*b->window, "dock.devices");
    auto* view = b->window->findChild<DevicesView*>();
    auto* table = named<QTreeView>(*view, "table.devices")->model();
    QTRY_COMPARE(table->rowCount(), 2);
    const auto shown = [&](int row, int column) { return table->index(row, column).data().toString(); };
    QCOMPARE(shown(0, widgets::DeviceModel::Trial), QStringLiteral("t42"));
    QVERIFY(shown(1, widgets::DeviceModel::State).contains(QStringLiteral("30 % slow")));
    QCOMPARE(shown(1, widgets::DeviceModel::Failures), QStringLiteral("1 crashed, 3 run_timeout"));
    QVERIFY2(named<widgets::ElidedLabel>(*view, "label.devices.summary")->text().contains(QStringLiteral("12 jobs wait, 2 are handed out; 5 results")),
             qPrintable(named<widgets::ElidedLabel>(*view, "label.devices.summary")->text()));
    auto* queues = named<QTreeView>(*view, "table.devices.queues")->model();
    QCOMPARE(queues->rowCount(), 1);
    QCOMPARE(queues->index(0, 1).data().toString(), QStringLiteral("usual"));
    QCOMPARE(queues->index(0, 2).data().toString(), QStringLiteral("12"));
    // The next answers make rates and curves; an agent that began anew counts from there.
    QTRY_VERIFY_WITH_TIMEOUT(b->engine.surveys >= 2 && farms.moments("pi-1").size() >= 2, 3 * FarmService::kAskMillis);
    QCOMPARE(farms.rate("pi-1"), 0.0);
    QVERIFY(table->index(0, widgets::DeviceModel::Arithmetic).data(widgets::DeviceModel::SeriesRole).value<QList<double>>().size() >= 2);
    view->grab();
    // Another farm is another table; without anybody who looks nothing more is asked.
    auto* choice = named<QComboBox>(*view, "combo.devices.farm");
    QCOMPARE(choice->count(), 2);
    QVERIFY(choice->toolTip().contains(QStringLiteral("127.0.0.1:4000, not encrypted")));
    choice->setCurrentIndex(1);
    Q_EMIT choice->activated(1);
    QCOMPARE(farms.farm()->farm, std::string("lab"));
    QVERIFY2(choice->toolTip().contains(QStringLiteral("10.0.0.2:4001, encrypted")), qPrintable(choice->toolTip()));
    QVERIFY(farms.moments("pi-1").empty());
    QTRY_VERIFY(farms.survey().has_value());
    named<QDockWidget>(*b->window, "dock.devices")->hide();
    const int asked = b->engine.surveys;
    QTest::qWait(FarmService::kAskMillis + 500);
    QCOMPARE(b->engine.surveys, asked);
  }

  /// The device in focus is told what `tw farm` tells devices, as far as it fits what it does.
  void devicesAreToldWhatToDo() {
    auto b = openFake(m_dir.filePath(QStringLiteral("told.twdb")));
    farm::Survey survey;
    survey.devices = {device("pi-1", "idle", 10), device("pi-2", "idle", 4)};
    b->engine.farmSurvey = survey;
    b->engine.knownFarms = {{.farm = "default", .folder = "/f", .port = 4000, .kinds = {{"rpi4", ""}}}};
    FarmService& farms = b->window->farms();
    farms.refresh();
    showDock(*b->window, "dock.devices");
    auto* view = b->window->findChild<DevicesView*>();
    auto* table = named<QTreeView>(*view, "table.devices");
    QTRY_COMPARE(table->model()->rowCount(), 2);
    auto* tell = named<QToolButton>(*view, "button.devices.tell");
    const auto action = [&](const char* name) { return view->findChild<QAction*>(QStringLiteral("action.devices.") + QLatin1String(name)); };
    const auto phase = [&](size_t i) { return farms.survey() ? farms.survey()->devices[i].phase : std::string(); };
    QVERIFY(!tell->isEnabled() && !action("drain")->isEnabled());  // nobody is in focus
    table->setCurrentIndex(table->model()->index(1, 0));
    QVERIFY(tell->isEnabled() && action("drain")->isEnabled() && !action("resume")->isEnabled() && !action("release")->isEnabled());
    action("drain")->trigger();
    QTRY_COMPARE(phase(1), std::string("drained"));
    QCOMPARE(phase(0), std::string("idle"));
    QVERIFY(action("resume")->isEnabled() && !action("drain")->isEnabled());
    action("resume")->trigger();
    QTRY_COMPARE(phase(1), std::string("idle"));
    action("quarantine")->trigger();
    auto* dialog = b->window->findChild<QInputDialog*>(QStringLiteral("dialog.devices.quarantine"));
    QVERIFY(dialog && dialog->isVisible());
    dialog->setTextValue(QStringLiteral("its fan is dead"));
    dialog->accept();
    QTRY_COMPARE(phase(1), std::string("quarantined"));
    QVERIFY(table->model()->index(1, widgets::DeviceModel::State).data().toString().contains(QStringLiteral("its fan is dead")));
    QVERIFY(action("release")->isEnabled());
    // One that is gone meanwhile says so.
    b->engine.farmSurvey = Error(ErrorCode::infrastructure, "Nothing listens");
    action("release")->trigger();
    auto* banner = named<widgets::Banner>(*b->window, "banner");
    QTRY_VERIFY2(banner->isVisible() && banner->text().contains(QStringLiteral("pi-2")), qPrintable(banner->text()));
  }

  /// A farm that comes or goes while another is being asked ends that question, and not the asking.
  void aFarmThatIsMadeMeanwhileIsNoEnd() {
    FakeEngine engine;
    JobRunner jobs;
    engine.knownFarms = {{.farm = "default", .folder = "/f", .port = 4000, .kinds = {{"rpi4", ""}}}};
    FarmService farms(engine, jobs);
    engine.holdSurvey = true;
    farms.setWatched(true);
    QTRY_COMPARE(engine.surveys, 1);
    engine.knownFarms.push_back({.farm = "lab", .folder = "/l", .address = "10.0.0.2", .port = 4001, .fingerprint = "ab", .kinds = {{"host", ""}}});
    QSignalSpy changed(&farms, &FarmService::farmsChanged);
    farms.refresh();
    QCOMPARE(changed.count(), 1);
    engine.holdSurvey = false;
    QTRY_VERIFY_WITH_TIMEOUT(farms.survey().has_value(), 3 * FarmService::kAskMillis);
    QCOMPARE(engine.surveys, 2);  // the answer to the first was of a list that is gone
  }

  void aFarmThatDoesNotAnswerSaysWhy() {
    auto b = openFake(m_dir.filePath(QStringLiteral("silent.twdb")));
    b->engine.farmSurvey = Error(ErrorCode::infrastructure, "Nothing listens at port 4000");
    b->engine.knownFarms = {{.farm = "default", .folder = "/f", .port = 4000, .kinds = {{"rpi4", ""}}}};
    b->window->farms().refresh();
    showDock(*b->window, "dock.devices");
    auto* state = b->window->findChild<DevicesView*>()->findChild<widgets::EmptyState*>();
    QTRY_VERIFY(says(*state, QStringLiteral("Nothing listens at port 4000")));
    QVERIFY(state->isEmpty());
  }

  /// The session asks the farm, whose absence is said in a sentence; nothing is measured here instead.
  void sessionsAskTheChosenDevices() {
    const QByteArray before = qgetenv("TW_FARMS");
    qputenv("TW_FARMS", m_dir.filePath(QStringLiteral("farms")).toUtf8());
    auto b = openFake(m_dir.filePath(QStringLiteral("session.twdb")));
    b->engine.knownFarms = {{.farm = "lab", .folder = "/f", .port = 4000, .kinds = {{"rpi4", ""}, {"host", ""}}}};
    b->window->farms().refresh();
    auto* devices = named<QComboBox>(*b->window, "combo.run.device");
    QVERIFY(devices->isVisible());
    QCOMPARE(devices->count(), 3);
    QCOMPARE(devices->itemData(1).toString(), QStringLiteral("farm:rpi4@lab"));
    devices->setCurrentIndex(1);
    QSignalSpy failed(&b->window->tuning(), &TuneService::failed);
    b->window->startTuning();
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY2(failed[0][0].toString().contains(QStringLiteral("lab")), qPrintable(failed[0][0].toString()));
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QCOMPARE(b->window->tuning().trialsDone(), 0);
    // A choice that is gone falls back to this machine.
    b->engine.knownFarms.clear();
    b->window->farms().refresh();
    QVERIFY(!devices->isVisible() && devices->currentData().toString().isEmpty());
    qputenv("TW_FARMS", before);
  }
};

QTEST_MAIN(DevicesViewTest)
#include "devices_view_test.moc"
