// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/no_text_drag.h"

// The headers of QScintilla use the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#include <Qsci/qsciscintilla.h>
#undef signals
#undef slots

#include <QDrag>
#include <QTimer>
#include <QtTest>

using namespace tw::widgets;

class NoTextDragTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void aPressOnSelectedTextBeginsAnotherSelection() {
    QsciScintilla editor;
    editor.setText(QStringLiteral("for i in range(64):\n  C[i] = A[i] + B[i]\n"));
    editor.resize(600, 300);
    new NoTextDrag(editor);
    editor.show();
    QVERIFY(QTest::qWaitForWindowExposed(&editor));
    editor.selectAll();
    const long all = editor.length();
    QCOMPARE(editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONEND), all);
    const auto send = [&](QEvent::Type type, const QPoint& at, Qt::MouseButton button, Qt::MouseButtons buttons) {
      QMouseEvent event(type, at, editor.viewport()->mapToGlobal(at), button, buttons, Qt::NoModifier);
      QApplication::sendEvent(editor.viewport(), &event);
    };
    const long x = editor.SendScintilla(QsciScintilla::SCI_POINTXFROMPOSITION, 0UL, 6L), y = editor.SendScintilla(QsciScintilla::SCI_POINTYFROMPOSITION, 0UL, 6L);
    const QPoint inside(static_cast<int>(x), static_cast<int>(y) + 4);
    QTimer::singleShot(500, [] { QDrag::cancel(); });  // so that a drag would end
    send(QEvent::MouseButtonPress, inside, Qt::LeftButton, Qt::LeftButton);
    for (int i = 1; i <= 6; ++i) send(QEvent::MouseMove, inside + QPoint(10 * i, 3 * i), Qt::NoButton, Qt::LeftButton);
    QVERIFY(!editor.findChild<QDrag*>());
    send(QEvent::MouseButtonRelease, inside + QPoint(60, 18), Qt::LeftButton, Qt::NoButton);
    QCOMPARE(editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART), 6L);
    QVERIFY(editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONEND) > 6 && editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONEND) < all);
  }
};

QTEST_MAIN(NoTextDragTest)
#include "no_text_drag_test.moc"
