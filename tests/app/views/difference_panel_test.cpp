// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/difference_panel.h"

#include <QLabel>
#include <QToolButton>
#include <QTreeWidget>

#include "app/services/explain_service.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "tests/app/formula_engine.h"
#include "widgets/common/format.h"
#include "widgets/tuning/trial_store.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

/// Times follow from the point's number.
class NumberedEngine : public FormulaEngine {
 public:
  Expected<records::MeasureResult> measure(const records::Task&, const records::Candidate& candidate, StopToken) override {
    records::MeasureResult r;
    r.status = records::Status::ok;
    r.samples_s = {1e-3 * static_cast<double>(1 + candidate.index % 11)};
    r.sample_flags = {false};
    return r;
  }
};

class DifferencePanelTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("difference-panel-test"), m_dir.path()); }

  void whatEachChoiceExplains() {
    NumberedEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("why.twdb")));
    w->setPerspective(QStringLiteral("explore"));
    w->openZoo(QStringLiteral("resnet18"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->id, 30'000);
    tune::SessionOptions options = w->tuneView().options();
    options.tuner = "random", options.seed = 1, options.trials = 40;
    w->tuneView().setOptions(options);
    w->tuneView().setOnlySelectedTask(true);
    w->startTuning();
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    showDock(*w, "dock.why");
    auto* text = named<QLabel>(*w, "label.why.difference");
    auto* table = named<QTreeWidget>(*w, "table.why.difference");
    QTRY_VERIFY(text->text().contains(QStringLiteral("under Difference")));
    QVERIFY(!named<QToolButton>(*w, "button.why.difference")->isEnabled());

    // Two points of one space that ran.
    const TaskId task = w->hub().model()->taskIds.at(static_cast<size_t>(w->hub().task()));
    const auto rows = w->workspace().reader()->trials(std::nullopt, task, {}, -1, true).value();
    std::vector<const db::TrialRow*> ran;
    for (const db::TrialRow& row : rows)
      if (row.record.result.ok() && !row.record.result.censored && row.record.candidate.index >= 0 && (ran.empty() || row.record.candidate.space == ran[0]->record.candidate.space))
        ran.push_back(&row);
    QVERIFY(ran.size() >= 2);
    const db::TrialRow &there = *ran[0], &here = *ran[1];
    w->hub().setTrial({here.session, w->hub().task(), here.number});
    QTRY_COMPARE_WITH_TIMEOUT(w->explaining().candidate().index, here.record.candidate.index, 30'000);
    w->hub().setCodeBase({CodeBase::Kind::trial, {there.session, w->hub().task(), there.number}});
    QTRY_VERIFY_WITH_TIMEOUT(w->explaining().base(), 30'000);
    QTRY_VERIFY_WITH_TIMEOUT(text->text().contains(QStringLiteral("Against")), 30'000);
    // Measured, every point between has its time or a reason, and the window says what the engine does.
    QTRY_VERIFY(named<QToolButton>(*w, "button.why.difference")->isEnabled());
    named<QToolButton>(*w, "button.why.difference")->click();
    QTRY_VERIFY2_WITH_TIMEOUT(text->text().contains(QStringLiteral("measured now")), qPrintable(text->text()), 20'000);
    const auto asked = [&](const records::Candidate& c) -> Expected<double> {
      TW_TRY(const records::MeasureResult r, engine.measure(*w->hub().taskValue(), c, {}));
      if (!r.ok()) return Error(ErrorCode::illegal_schedule, r.message);
      return r.seconds();
    };
    const auto expected = api::why_faster(*w->hub().taskValue(), there.record.candidate, here.record.candidate, asked, {.count = [&](const records::Candidate& c) { return engine.count(*w->hub().taskValue(), c, {}); }});
    QVERIFY2(expected.has_value(), expected ? "" : expected.error().text().c_str());
    QVERIFY(table->isVisibleTo(w.get()));
    QCOMPARE(table->topLevelItemCount(), static_cast<int>(expected->choices.size() + expected->facts.size() + expected->counts.size() + std::min(expected->features.size(), api::kShownFeatures)));
    for (size_t k = 0; k < expected->choices.size(); ++k) {
      const auto* item = table->topLevelItem(static_cast<int>(k));
      QCOMPARE(item->text(0), QString::fromStdString(expected->choices[k].name));
      QCOMPARE(item->text(3), widgets::numberText(expected->choices[k].share.factor, 3) + QChar(0x00D7));
    }
    // Without the other there is nothing to explain.
    w->hub().setCodeBase({});
    QTRY_VERIFY(text->text().contains(QStringLiteral("under Difference")));
  }

  /// A workspace that can only be read may not know the network: it has no trials of it.
  void aNetworkThatTheWorkspaceDoesNotKnow() {
    FakeEngine engine;
    const QString path = m_dir.filePath(QStringLiteral("read.twdb"));
    const auto writer = db::Database::open(path.toStdString());
    QVERIFY(writer);
    const auto w = openWindow(engine, path);
    QVERIFY(w->workspace().reader() && !w->workspace().isWritable());
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->explaining().spacesKnown());
    QVERIFY(w->hub().model()->taskIds.empty());
    showDock(*w, "dock.why");
    w->hub().setConfigIndex(35);
    QTRY_VERIFY(w->explaining().explanation() && !w->explaining().isPending());
    w->hub().setCodeBase({CodeBase::Kind::defaultSchedule, {}});
    const auto* text = named<QLabel>(*w, "label.why.difference");
    QTRY_VERIFY2(w->explaining().base() && text->text().startsWith(QStringLiteral("Against")), qPrintable(text->text()));
  }
};

QTEST_MAIN(DifferencePanelTest)
#include "difference_panel_test.moc"
