// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_editor.h"

#include <QtTest>

using namespace tw::widgets;

class CodeEditorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void problemsAreUnderlinedByPlace() {
    CodeEditor editor(QStringLiteral("Text"));
    editor.setText(QStringLiteral("# größe\nab = split(C.y, 0)\n"));
    editor.setProblem(2, 12, QStringLiteral("what is wrong"));
    QCOMPARE(editor.problemText(), QStringLiteral("C.y"));
    QCOMPARE(editor.problemLine(), 1);
    // Columns are bytes: letters of two bytes before do not move it.
    editor.setProblem(1, 3, QStringLiteral("again"));
    QCOMPARE(editor.problemText(), QStringLiteral("gr"));
    editor.setProblem(2, 18, QStringLiteral("a sign"));
    QCOMPARE(editor.problemText(), QStringLiteral(")"));
    editor.setProblem(2, 99, QStringLiteral("behind the line"));
    QCOMPARE(editor.problemText(), QStringLiteral("ab = split(C.y, 0)"));
    editor.setProblem(99, 1, QStringLiteral("behind the text"));
    QCOMPARE(editor.problemLine(), 2);
    editor.setProblem(2, 6, QStringLiteral("a word"));
    editor.goToProblem();
    QTest::keyClicks(editor.input(), QStringLiteral("z"));
    QVERIFY2(editor.text().contains(QStringLiteral("ab = zsplit")), qPrintable(editor.text()));
    editor.clearProblem();
    QVERIFY(!editor.hasProblem() && editor.problemText().isEmpty());
  }
  void editsAreTold() {
    CodeEditor editor(QStringLiteral("Text"));
    QSignalSpy edits(&editor, &CodeEditor::textEdited);
    editor.setText(QStringLiteral("a\nb"));
    QVERIFY(!editor.isModified());
    const auto before = edits.count();
    QTest::keyClicks(editor.input(), QStringLiteral("x"));
    QVERIFY(edits.count() > before);
    QVERIFY(editor.isModified());
    QCOMPARE(editor.table().rows.size(), size_t{2});
    QCOMPARE(editor.table().rows[1][1], QStringLiteral("b"));
  }
};

QTEST_MAIN(CodeEditorTest)
#include "code_editor_test.moc"
