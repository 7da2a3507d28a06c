// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/dialog.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QtTest>

using namespace tw::widgets;

class DialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// What was made last stands first; Tab and its way back follow the eye.
  void tabFollowsTheEye() {
    Dialog dialog;
    auto* right = new QPushButton(QStringLiteral("right"), &dialog);
    auto* left = new QPushButton(QStringLiteral("left"), &dialog);
    auto* above = new QLineEdit(&dialog);
    auto* box = new QVBoxLayout(&dialog);
    auto* row = new QHBoxLayout;
    box->addWidget(above);
    box->addLayout(row);
    row->addWidget(left);
    row->addWidget(right);
    dialog.show();
    QApplication::setActiveWindow(&dialog);
    above->setFocus();
    for (QWidget* next : {static_cast<QWidget*>(left), static_cast<QWidget*>(right), static_cast<QWidget*>(above)}) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
      QCOMPARE(QApplication::focusWidget(), next);
    }
    QTest::keyClick(above, Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), right);
    // What cannot be used is passed over.
    left->setEnabled(false);
    above->setFocus();
    QTest::keyClick(above, Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), right);
  }
};

QTEST_MAIN(DialogTest)
#include "dialog_test.moc"
