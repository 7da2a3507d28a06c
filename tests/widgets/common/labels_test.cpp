// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPointer>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

#include "widgets/common/banner.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/english_plurals.h"
#include "widgets/common/error_label.h"
#include "widgets/common/table_view.h"
#include "widgets/theme/theme.h"

using namespace tw::widgets;

class LabelsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() { applyTheme(ThemeChoice::light); }
  void cleanup() { applyTheme(ThemeChoice::light); }

  void countedTextsAreEnglish() {
    EnglishPlurals plurals;
    QCoreApplication::installTranslator(&plurals);
    QCOMPARE(tr("%n trial(s), none succeeded", nullptr, 1), QStringLiteral("1 trial, none succeeded"));
    QCOMPARE(tr("%n trial(s), none succeeded", nullptr, 3), QStringLiteral("3 trials, none succeeded"));
    QCOMPARE(tr("f(s)"), QStringLiteral("f(s)"));
    QCoreApplication::removeTranslator(&plurals);
  }

  void toolButtonsHaveRoomForTheArrowOfTheirMenu() {
    QToolButton plain, menu;
    for (QToolButton* b : {&plain, &menu}) b->setText(QStringLiteral("Filters"));
    menu.setPopupMode(QToolButton::InstantPopup);
    menu.setMenu(new QMenu(&menu));
    QVERIFY(menu.sizeHint().width() >= plain.sizeHint().width() + 8);
  }

  /// A view may be closed while its menu is open.
  void aMenuGoesWithItsTable() {
    auto* table = new QTreeView;
    QAction action(QStringLiteral("Do it"));
    table->addAction(&action);
    offerActions(table);
    table->show();
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(5, 5), table->viewport()->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(table->viewport(), &event);
    const QPointer<QWidget> menu = QApplication::activePopupWidget();
    QVERIFY(qobject_cast<QMenu*>(menu) && menu->actions().contains(&action));
    delete table;
    QVERIFY(!menu && !QApplication::activePopupWidget());
  }

  void messagesKeepTheirContrastWhenTheThemeChanges() {
    QWidget window;
    Banner banner(&window);
    ErrorLabel error(&window);
    window.show();
    error.showProblem(QStringLiteral("Expected a number"));
    for (const auto kind : {Banner::Kind::info, Banner::Kind::warning, Banner::Kind::error}) {
      banner.showMessage(kind, QStringLiteral("text"));
      for (const auto choice : {ThemeChoice::dark, ThemeChoice::light}) {
        applyTheme(choice);
        const Theme& theme = choice == ThemeChoice::dark ? darkTheme() : lightTheme();
        const QColor ground = banner.palette().color(QPalette::Window);
        QCOMPARE(ground.name(), (kind == Banner::Kind::error     ? theme.errorBanner
                                 : kind == Banner::Kind::warning ? theme.warningBanner
                                                                 : theme.infoBanner)
                                    .name());
        QVERIFY(contrastRatio(banner.palette().color(QPalette::WindowText), ground) >= 4.5);
        QVERIFY(contrastRatio(error.palette().color(QPalette::WindowText), window.palette().color(QPalette::Window)) >= 4.5);
      }
    }
    error.showProblem({});
    QVERIFY(error.isHidden());
  }

  void bannersOfferSeveralActions() {
    QWidget window;
    Banner banner(&window);
    QAction first(QStringLiteral("&First"), nullptr), second(QStringLiteral("Second"), nullptr);
    first.setObjectName(QStringLiteral("a")), second.setObjectName(QStringLiteral("b"));
    window.show();
    banner.showMessage(Banner::Kind::info, QStringLiteral("text"), {}, {&first, &second});
    QSignalSpy triggered(&second, &QAction::triggered);
    auto* button = banner.findChild<QToolButton*>(QStringLiteral("banner.b"));
    QCOMPARE(banner.findChild<QToolButton*>(QStringLiteral("banner.a"))->accessibleName(), QStringLiteral("First"));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(triggered.count(), 1);
    banner.showMessage(Banner::Kind::info, QStringLiteral("other"));
    QVERIFY(!button->isVisible());
    QTRY_VERIFY(!banner.findChild<QToolButton*>(QStringLiteral("banner.b")));
  }

  void longLinesAreElided() {
    ElidedLabel label;
    label.setText(QString(200, QLatin1Char('m')));
    label.resize(100, 20);
    QVERIFY(label.isElided());
    QVERIFY(label.minimumSizeHint().width() < 100);
    // The ellipsis at the end leaves the last pixels of the line almost empty; the whole text would fill them.
    const QImage image = label.grab().toImage();
    QVERIFY(!image.isNull());
    label.setText(QStringLiteral("m"));
    QVERIFY(!label.isElided());
    QVERIFY(label.grab().toImage() != image);
  }

  void anEmptyStateHasTheOneActionOfItsText() {
    QAction first(QStringLiteral("First"), nullptr), second(QStringLiteral("Second"), nullptr);
    EmptyState state(new QWidget);
    state.showEmpty(QStringLiteral("a"), {}, &first);
    state.showEmpty(QStringLiteral("b"), {}, &second);
    const auto* button = state.findChild<QToolButton*>();
    QCOMPARE(button->actions(), QList<QAction*>{&second});
    QCOMPARE(button->defaultAction(), &second);
  }
};

QTEST_MAIN(LabelsTest)
#include "labels_test.moc"
