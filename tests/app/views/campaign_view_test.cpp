// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/campaign_view.h"

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QProgressBar>
#include <QTabWidget>
#include <QTreeView>

#include "app/logs/campaign_text.h"
#include "app/services/local_engine.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "widgets/charts/importance_view.h"
#include "widgets/charts/resource_chart.h"
#include "widgets/common/tabular.h"

using namespace tw;
using namespace tw::app;
using fixture::named;

/// Campaigns on GPUs that are formulas, run and looked at in the window.
class CampaignViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_home;
  std::unique_ptr<FakeEngine> m_engine;
  LocalEngine m_local;  ///< where a trial's computation is opened
  std::unique_ptr<MainWindow> m_window;

  QString write(const QString& name, const QByteArray& text) {
    QFile file(m_home.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) qFatal("A file cannot be written");
    file.write(text);
    return file.fileName();
  }
  /// Three GPUs, two sizes.
  QString plan(const QString& name) {
    QFile source(QStringLiteral(TW_TESTS_DIR "/../resources/campaigns/matmul_gpu.te"));
    if (!source.open(QIODevice::ReadOnly)) qFatal("The operator is not there");
    write(QStringLiteral("matmul_gpu.te"), source.readAll());
    QByteArray text = "points = 40\n[[operators]]\nfile = \"matmul_gpu.te\"\nshapes = [[64, 64, 64], [128, 128, 128]]\n";
    for (const char* gpu : {"k80", "t4", "a100"}) text += QByteArray("[[targets]]\ntarget = \"cuda:") + gpu + "\"\ndevice = \"sim:" + gpu + "\"\n";
    return write(name + QStringLiteral(".toml"), text);
  }
  /// Runs it to its end and waits for what its trials tell.
  bool runAll(const QString& name) {
    QSignalSpy opened(&m_window->workspace(), &Workspace::opened);
    m_window->openCampaign(plan(name));
    if (opened.isEmpty() && !opened.wait(10'000)) return false;
    m_window->campaigns().run();
    return QTest::qWaitFor([this] { return m_window->campaigns().campaign() != nullptr; }, 120'000);
  }

 private Q_SLOTS:
  void initTestCase() { fixture::ownHome(QStringLiteral("campaign-view"), m_home.path()); }
  void init() {
    QSettings().clear();
    m_engine = std::make_unique<FakeEngine>();
    m_window = fixture::openWindow(*m_engine, m_home.filePath(QStringLiteral("start.twdb")));
  }
  void cleanup() {
    m_engine->holdCampaign = false;
    m_window.reset();
  }

  void saysWhatIsMissing() {
    m_window->openCampaign(write(QStringLiteral("wrong.toml"), "points = -1\n"));
    QTRY_VERIFY(named<QLabel>(*m_window, "label.banner.text") || !m_window->campaigns().plan());
    QVERIFY(!m_window->campaigns().plan());
    QCOMPARE(m_window->campaigns().obstacle(), QStringLiteral("open a campaign file first"));
    QVERIFY(!m_window->actions().get(QStringLiteral("campaign.run"))->isEnabled());
    QVERIFY(!m_window->actions().get(QStringLiteral("file.exportCampaign"))->isEnabled());
  }

  void runsStopsAndGoesOn() {
    QSignalSpy opened(&m_window->workspace(), &Workspace::opened);
    m_window->openCampaign(plan(QStringLiteral("stopped")));
    QVERIFY(!opened.isEmpty() || opened.wait(10'000));
    QVERIFY(m_window->workspace().path().endsWith(QStringLiteral("stopped.twdb")));
    QCOMPARE(m_window->perspective(), QStringLiteral("compare"));
    QTRY_VERIFY(named<QWidget>(*m_window, "view.campaign.importance") != nullptr);
    CampaignService& campaigns = m_window->campaigns();
    QVERIFY(!campaigns.isBegun());
    m_engine->holdCampaign = true;
    auto* button = named<QWidget>(*m_window, "button.campaign.run");
    QTRY_VERIFY2(button->isVisible(), "it is not seen");
    QTRY_VERIFY2(button->isEnabled(), qPrintable(campaigns.obstacle()));
    QVERIFY(fixture::click(*m_window, "button.campaign.run"));
    QVERIFY(campaigns.isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(campaigns.progress().planned > 0, 30'000);
    QCOMPARE(campaigns.progress().cells, 6);
    QCOMPARE(campaigns.progress().cell, 1);
    QTRY_VERIFY(named<QLabel>(*m_window, "label.campaign.progress")->text().startsWith(QStringLiteral("Cell 1 of 6: matmul_gpu, 64 x 64 x 64")));
    QCOMPARE(m_window->jobBoard().running(), 1);
    QVERIFY(fixture::click(*m_window, "button.campaign.stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!campaigns.isRunning(), 30'000);
    QTRY_VERIFY(campaigns.isBegun());
    m_engine->holdCampaign = false;
    // What is there is told; the rest goes on.
    QTRY_VERIFY_WITH_TIMEOUT(campaigns.obstacle().isEmpty(), 30'000);
    campaigns.run();
    QTRY_VERIFY_WITH_TIMEOUT(campaigns.campaign() != nullptr && !campaigns.isRunning(), 120'000);
    QCOMPARE(campaigns.campaign()->series.size(), size_t{3});
    for (const logs::CampaignSeries& s : campaigns.campaign()->series)
      QCOMPARE(s.trials, int64_t{78});  // 40 of each size, of which one is the default schedule
    QCOMPARE(m_window->workspace().sessions().size(), size_t{6});
  }

  void showsWhatTheTrialsTell() {
    QVERIFY(runAll(QStringLiteral("whole")));
    const logs::Campaign& told = *m_window->campaigns().campaign();
    QCOMPARE(named<QLabel>(*m_window, "label.campaign.answer")->text(), QString::fromStdString(logs::campaign_answer(told)));
    QCOMPARE(named<QComboBox>(*m_window, "combo.campaign.device")->count(), 3);
    QVERIFY(named<QComboBox>(*m_window, "combo.campaign.device")->itemText(0).contains(QStringLiteral("simulated")));
    // A chart for each resource, with the numbers of the report.
    const logs::CampaignSeries& series = told.series.front();
    auto* page = named<QWidget>(*m_window, "page.campaign.curves");
    const auto charts = page->findChildren<widgets::ResourceChart*>();
    QCOMPARE(static_cast<size_t>(charts.size()), series.table.resources.size());
    const auto* chart = page->findChild<widgets::ResourceChart*>(QStringLiteral("view.campaign.chart1"));
    QCOMPARE(chart->curves().resource, QString::fromStdString(series.table.resources[1].name));
    QCOMPARE(chart->curves().lines.size(), size_t{4});
    QCOMPARE(chart->curves().lines[0].middle, series.effects.effects[1].partial.middle);
    QCOMPARE(chart->curves().lines[0].low, series.effects.effects[1].partial.low);
    QCOMPARE(chart->curves().lines[3].middle, series.effects.effects[1].best.middle);
    QCOMPARE(widgets::tableOf(named<QWidget>(*m_window, "view.campaign.importance")).rows.size(), series.table.resources.size());
    QCOMPARE(static_cast<size_t>(named<QTreeView>(*m_window, "table.campaign.importance")->model()->rowCount()) + 1, logs::importance_cells(series).size());
    // All devices over each other, and the other device.
    const auto compared = named<QWidget>(*m_window, "page.campaign.devices")->findChildren<widgets::ResourceChart*>();
    QVERIFY(!compared.isEmpty());
    for (const auto* c : compared) QCOMPARE(c->curves().lines.size(), size_t{3});
    named<QComboBox>(*m_window, "combo.campaign.device")->setCurrentIndex(2);
    QCOMPARE(chart->curves().lines[0].middle, told.series[2].effects.effects[1].partial.middle);
    // What a cost model should be told.
    QCOMPARE(told.studies.size(), size_t{1});
    QCOMPARE(named<QLabel>(*m_window, "label.campaign.study")->text(), QString::fromStdString(logs::study_sentence(told.studies[0])));
    const auto worths = widgets::tableOf(named<QWidget>(*m_window, "table.campaign.worths"));
    QCOMPARE(worths.rows.size() + 1, logs::worth_cells(told.studies[0]).size());
    QCOMPARE(named<QTreeView>(*m_window, "table.campaign.left_out")->model()->rowCount(), 3);
  }

  void aPointLeadsToItsTrial() {
    m_window.reset();
    m_window = fixture::openWindow(m_local, m_home.filePath(QStringLiteral("start.twdb")));
    QVERIFY(runAll(QStringLiteral("points")));
    const logs::Campaign& told = *m_window->campaigns().campaign();
    auto* chart = named<QWidget>(*m_window, "page.campaign.curves")->findChild<widgets::ResourceChart*>(QStringLiteral("view.campaign.chart1"));
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_Right);
    // The first of its lines that lead to trials is of those on the slice.
    const auto& rows = told.series[0].effects.effects[1].measured_row;
    const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.has_value(); });
    QVERIFY(row != rows.end());
    const logs::TrialPlace& place = told.series[0].places[**row];
    QTRY_COMPARE_WITH_TIMEOUT(m_window->hub().trialRef().number, static_cast<qint64>(place.number), 30'000);
    QCOMPARE(m_window->hub().trialRef().session, place.session);
    QCOMPARE(m_window->hub().model()->id, place.model);
    QCOMPARE(m_window->hub().taskValue()->target.gpu->name, std::string("k80"));
  }

  void writesItsPage() {
    QVERIFY(runAll(QStringLiteral("page")));
    const QString path = m_home.filePath(QStringLiteral("page.html"));
    m_window->exportCampaign(path);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(path), 10'000);
    QFile page(path);
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray text = page.readAll();
    QVERIFY(text.contains("Campaign: page") && text.contains("what a cost model should be told"));
  }

  /// One of those that come along, with its results.
  void aBundleIsTold() {
    const auto files = logs::shipped_campaigns();
    QVERIFY(files.size() >= 2);
    m_window->openCampaign(QString::fromStdString(files.front()));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->campaigns().campaign() != nullptr, 60'000);
    QCOMPARE(m_window->campaigns().name(), QStringLiteral("matmul-cpu"));
    QVERIFY(m_window->campaigns().campaign()->studies.empty());
    QVERIFY(named<QLabel>(*m_window, "label.campaign.answer")->text().contains(QStringLiteral("tile_x matters most")));
    QVERIFY(!m_window->actions().get(QStringLiteral("campaign.run"))->isEnabled());
  }

  /// Kernels of a GPU have no code on a processor: the window goes to where a bundle comes from.
  void aBundleOfGpusIsSeenOnOne() {
    const auto files = logs::shipped_campaigns();
    const auto gpus = std::find_if(files.begin(), files.end(), [](const std::string& f) { return f.ends_with("matmul-gpus.twz"); });
    QVERIFY(gpus != files.end());
    LocalEngine engine;
    QVERIFY(!engine.target().gpu);
    const auto window = fixture::openWindow(engine, m_home.filePath(QStringLiteral("processor.twdb")));
    window->openCampaign(QString::fromStdString(*gpus));
    QTRY_VERIFY_WITH_TIMEOUT(window->hub().model() && window->hub().model()->isWhole, 60'000);
    QVERIFY(window->hub().model()->target.gpu.has_value());
    QTRY_VERIFY_WITH_TIMEOUT(window->explaining().explanation(), 60'000);
    QVERIFY(!window->explaining().explanation()->error);
  }
};

QTEST_MAIN(CampaignViewTest)
#include "campaign_view_test.moc"
