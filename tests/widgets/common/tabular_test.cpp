// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/tabular.h"

#include <QComboBox>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>
#include <QtTest>

using namespace tw::widgets;

namespace {

class Painted : public QWidget, public Tabular {
 public:
  using QWidget::QWidget;
  Table table() const override { return {{QStringLiteral("x")}, {{QStringLiteral("1")}}}; }
};

}  // namespace

class TabularTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void quotesWhatNeedsIt() {
    Table t;
    t.columns = {QStringLiteral("name"), QStringLiteral("time [ms]")};
    t.rows = {{QStringLiteral("plain"), QStringLiteral("1.5")},
              {QStringLiteral("a, \"b\""), QStringLiteral("two\nlines")},
              {QStringLiteral("  indented"), QString()}};
    QCOMPARE(csvOf(t), QByteArray("name,time [ms]\r\nplain,1.5\r\n\"a, \"\"b\"\"\",\"two\nlines\"\r\n\"  indented\",\r\n"));
  }

  void treesAreIndented() {
    QStandardItemModel model;
    model.setHorizontalHeaderLabels({QStringLiteral("a"), QStringLiteral("b")});
    auto* parent = new QStandardItem(QStringLiteral("parent"));
    parent->appendRow({new QStandardItem(QStringLiteral("child")), new QStandardItem(QStringLiteral("2"))});
    model.appendRow({parent, new QStandardItem(QStringLiteral("1"))});
    const Table t = tableOf(model);
    QCOMPARE(t.columns, (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(t.rows.size(), size_t{2});
    QCOMPARE(t.rows[1], (QStringList{QStringLiteral("  child"), QStringLiteral("2")}));
  }

  void findsWhatAViewShows() {
    QWidget view;
    auto* box = new QVBoxLayout(&view);
    auto* combo = new QComboBox(&view);
    combo->addItem(QStringLiteral("not this"));
    combo->view();  // makes the list behind it
    box->addWidget(combo);
    QVERIFY(tableOf(&view).columns.isEmpty());
    QStandardItemModel model(3, 2);
    auto* tree = new QTreeView(&view);
    tree->setModel(&model);
    box->addWidget(tree);
    QCOMPARE(tableOf(&view).rows.size(), size_t{3});
    tree->hide();
    box->addWidget(new Painted(&view));
    QCOMPARE(tableOf(&view).columns, QStringList{QStringLiteral("x")});
  }
};

QTEST_MAIN(TabularTest)
#include "tabular_test.moc"
