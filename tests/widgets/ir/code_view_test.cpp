// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/ir/code_view.h"

// The headers of QScintilla use the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#include <Qsci/qscilexercustom.h>
#include <Qsci/qsciscintilla.h>
#undef signals
#undef slots

#include <QApplication>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QLabel>
#include <QToolButton>
#include <QToolTip>
#include <QtTest>

#include "engine/schedule/primitive.h"
#include "widgets/ir/code_lexer.h"
#include "widgets/ir/code_pane.h"
#include "widgets/theme/theme.h"

using namespace tw::widgets;

namespace {

CodeListing listing() {
  CodeListing l;
  l.title = QStringLiteral("Point 3");
  l.steps = QStringLiteral("split C axis i by 4");
  l.loops = QStringLiteral("for i.o in parallel(8)\n  for j in 8\n");
  l.tir = QStringLiteral("def main(A: Buffer):\n    for i in range(8):\n        C[i] = A[i] * 2.0  # store\n");
  l.llvm = QStringLiteral("; module\ndefine void @main(ptr %0) {\n  %1 = load float, ptr %0, align 4\n  ret void\n}\n");
  l.assembly = QStringLiteral("main:\n\tvmovups zmm0, [rdi]\n\tret\n");
  // The LLVM IR's lines 1 and 2 are of the TIR's 0 and 2, as are the assembly's 0 and 1; its line 2 was merged.
  l.related = [](const CodePlace& from, CodeLanguage to) -> std::vector<int> {
    const std::vector<std::array<int, 3>> chains = {{0, 1, 0}, {2, 2, 1}};  // TIR, LLVM IR, assembly
    const auto column = [](CodeLanguage form) { return static_cast<int>(form) - static_cast<int>(CodeLanguage::tir); };
    if (column(from.form) < 0 || column(to) < 0) return {};
    for (const auto& chain : chains) {
      if (chain[static_cast<size_t>(column(from.form))] == from.line) return {chain[static_cast<size_t>(column(to))]};
    }
    return {};
  };
  l.merged[CodeView::Assembly] = {2};
  return l;
}

bool marked(CodePane* pane, int line) { return (pane->editor()->markersAtLine(line) & (1u << 3)) != 0; }

}  // namespace

class CodeViewTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void showsAllListings() {
    CodeView view;
    view.showListing(listing());
    QCOMPARE(view.pane(CodeView::Tir)->text(), listing().tir);
    QCOMPARE(view.pane(CodeView::Assembly)->text(), listing().assembly);
    QVERIFY(view.pane(CodeView::Tir)->editor()->isReadOnly());
  }

  /// What is known sooner of the next candidate is shown; its machine code follows with the listing.
  void outlinesComeFirst() {
    CodeView view;
    view.showListing(listing());
    CodeListing next = listing();
    next.title = QStringLiteral("Point 4");
    next.steps = QStringLiteral("split C axis i by 8");
    next.loops = QStringLiteral("for i.o in parallel(4)\n  for j in 8\n");
    next.tir = QStringLiteral("def main(A: Buffer):\n    pass\n");
    next.llvm.clear(), next.assembly.clear();
    next.related = [](const CodePlace& from, CodeLanguage to) -> std::vector<int> {
      return from.form == CodeLanguage::loops && to == CodeLanguage::tir ? std::vector<int>{1} : std::vector<int>();
    };
    view.showOutline(next);
    QCOMPARE(view.pane(CodeView::Steps)->text(), next.steps);
    QCOMPARE(view.pane(CodeView::Loops)->text(), next.loops);
    QCOMPARE(view.pane(CodeView::Tir)->text(), next.tir);
    QCOMPARE(view.pane(CodeView::Assembly)->text(), listing().assembly);
    QCOMPARE(view.listing().title, QStringLiteral("Point 3"));
    view.showPlace({CodeLanguage::loops, 0});
    QVERIFY(marked(view.pane(CodeView::Tir), 1));
    // Differences are of whole listings, and another kind of target has other columns.
    auto diff = std::make_shared<CodeDiff>();
    diff->against = QStringLiteral("the default");
    view.showDiff(diff);
    CodeListing later = listing();
    later.loops = QStringLiteral("for k in 8\n");
    view.showOutline(later);
    QCOMPARE(view.listing().loops, next.loops);
    view.showDiff(nullptr);
    later.forGpu = true;
    view.showOutline(later);
    QCOMPARE(view.listing().loops, next.loops);
  }

  void linesLinkBothWays() {
    CodeView view;
    view.showListing(listing());
    view.showPlace({CodeLanguage::assembly, 1});
    QVERIFY(marked(view.pane(CodeView::Tir), 2));
    QVERIFY(marked(view.pane(CodeView::Llvm), 2));
    QVERIFY(marked(view.pane(CodeView::Assembly), 1));
    QVERIFY(!marked(view.pane(CodeView::Llvm), 1));
    view.showPlace({CodeLanguage::tir, 0});
    QVERIFY(marked(view.pane(CodeView::Llvm), 1));
    QVERIFY(marked(view.pane(CodeView::Assembly), 0));
    QVERIFY(!marked(view.pane(CodeView::Assembly), 1));
    view.showPlace({CodeLanguage::llvm, 4});  // no relative anywhere
    QVERIFY(!marked(view.pane(CodeView::Tir), 0));
    view.showPlace({});
    for (int c = 0; c < CodeView::ColumnCount; ++c) QVERIFY(view.pane(static_cast<CodeView::Column>(c))->linkedLines().empty());
  }

  void mergedLinesAreCountedAndSaid() {
    CodeView view;
    view.showListing(listing());
    const auto says = [&](const QString& text) {
      const auto labels = view.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* l) { return l->text().contains(text); });
    };
    QVERIFY(says(QStringLiteral("merged: 1")));
    QVERIFY(!says(QStringLiteral("belongs to no one line")));
    view.showPlace({CodeLanguage::assembly, 2});
    QVERIFY(says(QStringLiteral("belongs to no one line")));
    QVERIFY(view.pane(CodeView::Tir)->linkedLines().empty());
    view.showPlace({CodeLanguage::assembly, 1});
    QVERIFY(!says(QStringLiteral("belongs to no one line")));
    QVERIFY(says(QStringLiteral("linked: 1")));
  }

  /// Machine code begins with tables of constants: where most of the time goes is seen first, until the user goes elsewhere.
  void machineCodeOpensWhereTheTimeGoes() {
    CodeView view;
    view.resize(900, 500);
    view.setColumnVisible(CodeView::Assembly, true);
    view.show();
    const auto kernel = [](int lines, int hottest) {
      CodeListing l = listing();
      l.assembly = QStringLiteral(".LCPI0_0:\n") + QStringLiteral("  .long 0\n").repeated(lines);
      l.shares[CodeView::Assembly].assign(static_cast<size_t>(lines), -1);
      l.shares[CodeView::Assembly][static_cast<size_t>(hottest)] = 0.6;
      return l;
    };
    QsciScintilla* editor = view.pane(CodeView::Assembly)->editor();
    const auto sees = [&](int row) {
      const int first = editor->firstVisibleLine();
      return first <= row && row < first + static_cast<int>(editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
    };
    view.showListing(kernel(1000, 300));
    QVERIFY(sees(300) && !sees(0));
    view.showListing(kernel(1000, 700));
    QVERIFY(sees(700) && !sees(300));
    editor->setFirstVisibleLine(40);
    view.showListing(kernel(1000, 500));
    QCOMPARE(editor->firstVisibleLine(), 40);
    CodeListing other = kernel(1000, 300);
    other.kernel = QStringLiteral("another task");
    view.showListing(other);
    QVERIFY(sees(300));
    other = kernel(20, 2);  // too short for that row
    view.showListing(other);
    QVERIFY(sees(0));
  }

  /// The part of the time beside lines of which it is known, in listings and in their differences; who says so stands at the title.
  void partsOfTheTimeStandBesideLines() {
    CodeView view;
    CodeListing l = listing();
    l.shares[CodeView::Tir] = {-1, 0.97, 0.9634};
    l.shares[CodeView::Assembly] = {0.97, 0.0004, -1};
    l.sharesSource = QStringLiteral("Model: of the test");
    view.showListing(l);
    CodePane *tir = view.pane(CodeView::Tir), *assembly = view.pane(CodeView::Assembly), *llvm = view.pane(CodeView::Llvm);
    const auto margin = [](CodePane* pane, int row) {
      QByteArray text(64, '\0');
      text.resize(static_cast<qsizetype>(pane->editor()->SendScintilla(QsciScintilla::SCI_MARGINGETTEXT, static_cast<unsigned long>(row), text.data())));
      return QString::fromUtf8(text);
    };
    QCOMPARE(tir->shareOf(0), QString());
    QCOMPARE(tir->shareOf(2), QStringLiteral("96 %"));
    QCOMPARE(margin(tir, 2), QStringLiteral("96 %"));
    QCOMPARE(margin(tir, 0), QString());
    QVERIFY(tir->editor()->marginWidth(1) > tir->editor()->fontMetrics().horizontalAdvance(QLatin1Char('9')));
    QCOMPARE(margin(assembly, 1), QStringLiteral("<0.1 %"));
    QCOMPARE(margin(assembly, 2), QString());
    QCOMPARE(llvm->editor()->marginWidth(1), 0);
    const auto head = [](CodePane* pane) { return pane->findChild<QLabel*>(); };
    QVERIFY(head(tir)->text().contains(QStringLiteral("% of time")) && head(tir)->toolTip().contains(l.sharesSource));
    QVERIFY(!head(llvm)->text().contains(QStringLiteral("% of time")));
    QCOMPARE(tir->table().rows[2].last(), QStringLiteral("96 %"));
    QCOMPARE(llvm->table().columns.size(), 2);
    // A removed line has none; the others keep theirs where they stand now.
    CodeListing before = listing();
    before.tir = QStringLiteral("def main(A: Buffer):\n    X = alloc\n    for i in range(8):\n        C[i] = A[i] * 2.0  # store\n");
    auto diff = std::make_shared<CodeDiff>();
    diff->forms[CodeView::Tir] = diffLines(before.tir.toStdString(), l.tir.toStdString());
    view.showDiff(diff);
    QVERIFY(margin(tir, 3).endsWith(QStringLiteral("96 %")) && margin(tir, 1).contains(QLatin1Char('-')) && !margin(tir, 1).contains(QLatin1Char('%')));
    QCOMPARE(tir->editor()->marginWidth(1), 0);
    view.showDiff(nullptr);
    QCOMPARE(margin(tir, 2), QStringLiteral("96 %"));
    view.showListing(listing());
    QCOMPARE(tir->editor()->marginWidth(1), 0);
    QVERIFY(head(tir)->toolTip().isEmpty());
  }

  /// Steps are explained at the mouse and, of the selected one, under the row of columns.
  /// Numbers and parts are whole in large letters too.
  void marginsAreAsWideAsTheirLetters() {
    CodePane pane(CodeLanguage::tir, QStringLiteral("TIR"));
    QString text;
    for (int i = 0; i < 1200; ++i) text += QStringLiteral("a line\n");
    pane.setText(text);
    pane.setShares(std::vector<double>(1200, 0.0001), QStringLiteral("A model"));
    const auto fits = [&] {
      const QFontMetrics letters(codeFont());
      return pane.editor()->marginWidth(0) >= letters.horizontalAdvance(QStringLiteral("1200")) &&
             pane.editor()->marginWidth(1) >= letters.horizontalAdvance(pane.shareOf(0)) && !pane.shareOf(0).isEmpty();
    };
    QVERIFY(fits());
    setBigType(true);
    QEvent changed(QEvent::FontChange);
    QApplication::sendEvent(&pane, &changed);
    const bool big = fits();
    setBigType(false);
    QApplication::sendEvent(&pane, &changed);
    QVERIFY(big && fits());
  }

  void stepsAreExplained() {
    CodeView view;
    view.setColumnVisible(CodeView::Steps, true);
    CodeListing l = listing();
    l.steps = QStringLiteral("  0  split(C, i, factors=[4])\n  1  parallel(C, i_0)\n");
    l.stepHelp = {QStringLiteral("split: cuts"), QStringLiteral("parallel: spreads <it>")};
    view.resize(900, 300);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.showListing(l);
    auto* label = view.findChild<QLabel*>(QStringLiteral("label.code.step"));
    QVERIFY(label && label->isHidden());
    view.showPlace({CodeLanguage::steps, 1});
    QVERIFY(label->isVisible());
    QCOMPARE(label->text(), l.stepHelp[1]);
    view.showPlace({CodeLanguage::tir, 1});
    QVERIFY(label->isHidden());
    QsciScintilla* editor = view.pane(CodeView::Steps)->editor();
    const int height = static_cast<int>(editor->SendScintilla(QsciScintilla::SCI_TEXTHEIGHT, 0));
    const auto tipAt = [&](int line) {
      const QPoint at(editor->viewport()->width() / 2, line * height + height / 2);
      QHelpEvent event(QEvent::ToolTip, at, editor->viewport()->mapToGlobal(at));
      QApplication::sendEvent(editor->viewport(), &event);
      return QToolTip::text();
    };
    QCOMPARE(tipAt(0), QStringLiteral("<p>split: cuts</p>"));
    QCOMPARE(tipAt(1), QStringLiteral("<p>parallel: spreads &lt;it&gt;</p>"));
    tipAt(5);
    QTRY_VERIFY(!QToolTip::isVisible());
    tipAt(0);
    QVERIFY(QToolTip::isVisible());
    view.showListing(listing());
    tipAt(0);
    QTRY_VERIFY(!QToolTip::isVisible());
  }

  void theUserGoesToALineAndAPlaceIsReported() {
    CodeView view;
    view.resize(900, 300);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QSignalSpy activated(&view, &CodeView::placeActivated);
    view.showListing(listing());
    view.showPlace({CodeLanguage::tir, 2});
    int line = 0, column = 0;
    view.pane(CodeView::Tir)->editor()->getCursorPosition(&line, &column);
    QCOMPARE(line, 2);
    QTest::keyClick(view.pane(CodeView::Assembly)->editor(), Qt::Key_Down);
    QTRY_VERIFY(!activated.isEmpty());
    // The first report, and the only one: the line above was told, not chosen.
    QCOMPARE(activated[0][0].value<CodePlace>(), (CodePlace{CodeLanguage::assembly, 1}));
    QCOMPARE(activated.count(), 1);
    // A click on the line where the cursor is already is a choice too.
    QTest::mouseClick(view.pane(CodeView::Tir)->editor()->viewport(), Qt::LeftButton, {}, QPoint(60, 5));
    QTRY_COMPARE(activated.back()[0].value<CodePlace>(), (CodePlace{CodeLanguage::tir, 0}));
  }

  void differencesTakeThePlaceOfListings() {
    CodeView view;
    view.resize(900, 300);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.showListing(listing());
    auto diff = std::make_shared<CodeDiff>();
    diff->against = QStringLiteral("Point 9");
    // One line of the TIR is another one, one of the assembly is new.
    diff->forms[CodeView::Tir] = diffLines("def main(A: Buffer):\n    for i in range(4):\n        C[i] = A[i] * 2.0  # store\n", listing().tir.toStdString());
    diff->forms[CodeView::Assembly] = diffLines("main:\n\tret\n", listing().assembly.toStdString());
    diff->forms[CodeView::Llvm] = diffLines(listing().llvm.toStdString(), listing().llvm.toStdString());
    view.showDiff(diff);
    CodePane *tir = view.pane(CodeView::Tir), *assembly = view.pane(CodeView::Assembly);
    QCOMPARE(tir->text().split(QLatin1Char('\n'))[1], QStringLiteral("    for i in range(4):"));
    QCOMPARE(tir->changeCount(), 1);
    const auto band = [](CodePane* pane, int row, int marker) { return (pane->editor()->markersAtLine(row) & (1u << marker)) != 0; };
    QVERIFY(band(tir, 1, 5) && band(tir, 2, 4) && !band(tir, 0, 4) && !band(tir, 3, 4));
    // Places still count lines of the listing: the store is its line 2, in row 3.
    view.showPlace({CodeLanguage::assembly, 1});
    QVERIFY(marked(tir, 3) && !marked(tir, 2));
    QVERIFY(marked(assembly, 1));
    QSignalSpy activated(&view, &CodeView::placeActivated);
    int row = 0, column = 0;
    tir->editor()->getCursorPosition(&row, &column);
    tir->editor()->setFocus();
    QVERIFY(tir->stepChange(true));
    tir->editor()->getCursorPosition(&row, &column);
    QCOMPARE(row, 1);
    QVERIFY(!tir->stepChange(true));
    QTest::keyClick(tir->editor(), Qt::Key_Down);
    QTRY_COMPARE(activated.count(), 1);
    QCOMPARE(activated[0][0].value<CodePlace>(), (CodePlace{CodeLanguage::tir, 1}));
    QTest::keyClick(tir->editor(), Qt::Key_Up);  // a removed line is no place
    tir->editor()->viewport()->repaint();
    QTest::keyClick(tir->editor(), Qt::Key_Down);
    QTRY_COMPARE(activated.count(), 2);
    QCOMPARE(activated[1][0].value<CodePlace>(), (CodePlace{CodeLanguage::tir, 1}));
    view.showDiff(nullptr);
    QCOMPARE(tir->text(), listing().tir);
    QVERIFY(!band(tir, 1, 5) && tir->changeCount() == 0);
  }

  void aFirstLineThatChangedIsTheFirstChange() {
    CodePane pane(CodeLanguage::tir, QStringLiteral("TIR"));
    pane.setDiff(diffLines("x\nb\nc\n", "a\nb\nd\n"));
    int row = -1, column = 0;
    for (const int expected : {0, 3}) {
      QVERIFY(pane.stepChange(true));
      pane.editor()->getCursorPosition(&row, &column);
      QCOMPARE(row, expected);
    }
    QVERIFY(!pane.stepChange(true));
    const Table table = pane.table();
    QCOMPARE(table.rows.size(), size_t{5});
    QCOMPARE(table.rows[0], (QStringList{"-", "1", "", "x"}));
    QCOMPARE(table.rows[1], (QStringList{"+", "", "1", "a"}));
    QCOMPARE(table.rows[2], (QStringList{"", "2", "2", "b"}));
    QVERIFY(pane.stepChange(false));
    pane.editor()->getCursorPosition(&row, &column);
    QCOMPARE(row, 0);
  }

  void errorsSayWhyListingsAreMissing() {
    CodeView view;
    CodeListing l;
    l.tir = QStringLiteral("def main():\n");
    l.error = QStringLiteral("The body is too large");
    view.showListing(l);
    const auto* label = view.findChild<QLabel*>(QStringLiteral("label.code.error"));
    QVERIFY(label && !label->isHidden());
    QCOMPARE(label->text(), l.error);
    QCOMPARE(label->textFormat(), Qt::PlainText);
  }

  void oneColumnAlwaysStays() {
    CodeView view;
    for (int c = 0; c < CodeView::ColumnCount; ++c) view.setColumnVisible(static_cast<CodeView::Column>(c), false);
    int visible = 0;
    for (int c = 0; c < CodeView::ColumnCount; ++c) visible += view.isColumnVisible(static_cast<CodeView::Column>(c)) ? 1 : 0;
    QCOMPARE(visible, 1);
  }

  void columnsAreRemembered() {
    CodeView a, b;
    a.setColumnVisible(CodeView::Steps, true);
    a.setColumnVisible(CodeView::Tir, false);
    b.restoreState(a.saveState());
    for (int c = 0; c < CodeView::ColumnCount; ++c)
      QCOMPARE(b.isColumnVisible(static_cast<CodeView::Column>(c)), a.isColumnVisible(static_cast<CodeView::Column>(c)));
    b.restoreState(QByteArray("x"));  // rubbish changes nothing badly
  }

  void lexerTokens_data() {
    QTest::addColumn<int>("language");
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("style");
    const int tir = static_cast<int>(CodeLanguage::tir), llvm = static_cast<int>(CodeLanguage::llvm), assembly = static_cast<int>(CodeLanguage::assembly);
    QTest::newRow("keyword") << tir << QByteArray("for i in range(8):") << 0 << 3 << int(CodeLexer::Keyword);
    QTest::newRow("number") << tir << QByteArray("x = 12.5e3") << 4 << 6 << int(CodeLexer::Number);
    QTest::newRow("comment") << tir << QByteArray("x  # why") << 3 << 5 << int(CodeLexer::Comment);
    QTest::newRow("string") << tir << QByteArray("a(\"q\\\"r\") b") << 2 << 6 << int(CodeLexer::String);
    QTest::newRow("open string") << tir << QByteArray("\"abc") << 0 << 4 << int(CodeLexer::String);
    QTest::newRow("register") << llvm << QByteArray("%12 = load") << 0 << 3 << int(CodeLexer::Name);
    QTest::newRow("type") << llvm << QByteArray("i64 4") << 0 << 3 << int(CodeLexer::Type);
    QTest::newRow("llvm comment") << llvm << QByteArray("; x") << 0 << 3 << int(CodeLexer::Comment);
    QTest::newRow("label") << assembly << QByteArray("main:") << 0 << 4 << int(CodeLexer::Label);
    QTest::newRow("mnemonic") << assembly << QByteArray("\tvmovups zmm0") << 1 << 7 << int(CodeLexer::Keyword);
    for (const tw::schedule::Primitive* p : tw::schedule::primitives())
      for (const tw::schedule::StepWord& w : p->words)
        QTest::newRow(w.word) << static_cast<int>(CodeLanguage::steps) << QByteArray(w.word) + "(C, i)" << 0 << static_cast<int>(std::strlen(w.word))
                              << int(CodeLexer::Keyword);
    QTest::newRow("operand") << assembly << QByteArray("\tvmovups zmm0") << 9 << 4 << int(CodeLexer::Name);
  }

  void lexerTokens() {
    QFETCH(int, language);
    QFETCH(QByteArray, line);
    QFETCH(int, at);
    QFETCH(int, length);
    QFETCH(int, style);
    CodeLexer lexer(static_cast<CodeLanguage>(language), this);
    const auto token = lexer.next(line, at);
    QCOMPARE(token.length, length);
    QCOMPARE(int(token.style), style);
  }

  void lexerOfGpuCode() {
    CodeLexer cuda(CodeLanguage::llvm, this), ptx(CodeLanguage::assembly, this), sass(CodeLanguage::sass, this);
    const QByteArrayView instruction("  /*0010*/              @P0  LDG.E R7, [R2.64+0x4] ;");
    QCOMPARE(sass.next(instruction, 2).style, int(CodeLexer::Comment));
    QCOMPARE(sass.next(instruction, 2).length, 8);
    QCOMPARE(sass.next(instruction, 24).style, int(CodeLexer::Name));
    QCOMPARE(sass.next(instruction, 29).style, int(CodeLexer::Keyword));
    QCOMPARE(sass.next(instruction, 35).style, int(CodeLexer::Name));
    cuda.setForGpu(true);
    ptx.setForGpu(true);
    const auto style = [](const CodeLexer& lexer, const char* line, int at) { return static_cast<int>(lexer.next(QByteArrayView(line), at).style); };
    QCOMPARE(style(cuda, "// stage C", 0), int(CodeLexer::Comment));
    QCOMPARE(style(cuda, "a[0] = 1; b = 2;", 8), int(CodeLexer::Plain));
    QCOMPARE(style(cuda, "extern \"C\" __global__ void", 11), int(CodeLexer::Keyword));
    QCOMPARE(style(cuda, "const float* A", 6), int(CodeLexer::Type));
    QCOMPARE(style(ptx, "// x", 0), int(CodeLexer::Comment));
    QCOMPARE(style(ptx, "\tld.global.f32 %f1, [%rd2];", 1), int(CodeLexer::Keyword));
    QCOMPARE(style(ptx, "\tld.global.f32 %f1, [%rd2];", 16), int(CodeLexer::Name));
  }

  void emptyColumnsSayWhatIsAwaited() {
    CodeView view;
    view.showListing(CodeListing());
    view.setBusy(QStringLiteral("Lowering…"));
    const auto* label = view.pane(CodeView::Tir)->findChild<QLabel*>(QStringLiteral("label.code.placeholder"));
    QVERIFY(label && label->text() == QStringLiteral("Lowering…") && view.pane(CodeView::Tir)->showsPlaceholder());
    view.showListing(listing());
    QVERIFY(!view.pane(CodeView::Tir)->showsPlaceholder());
    view.setBusy(QStringLiteral("Lowering…"));
    QCOMPARE(view.pane(CodeView::Tir)->text(), listing().tir);  // what was there stays until it is replaced
  }

  void columnsOfGpuCodeAreCalledSo() {
    CodeView view;
    CodeListing gpu = listing();
    gpu.forGpu = true;
    view.showListing(gpu);
    const auto text = [&](const char* id) { return view.findChild<QToolButton*>(QLatin1String("button.code.") + QLatin1String(id))->text(); };
    QCOMPARE(text("llvm"), QStringLiteral("CUDA C++"));
    QCOMPARE(text("assembly"), QStringLiteral("PTX"));
    QCOMPARE(view.pane(CodeView::Assembly)->table().columns.last(), QStringLiteral("PTX"));
    view.setColumnVisible(CodeView::Sass, true);
    QVERIFY(view.isColumnVisible(CodeView::Sass));
    // A processor has no such column; what was wanted is back with the next GPU.
    view.showListing(listing());
    QCOMPARE(text("assembly"), QStringLiteral("Assembly"));
    QVERIFY(!view.isColumnVisible(CodeView::Sass) && view.isColumnVisible(CodeView::Tir));
    QVERIFY(view.findChild<QToolButton*>(QStringLiteral("button.code.sass"))->isHidden());
    view.showListing(gpu);
    QVERIFY(view.isColumnVisible(CodeView::Sass));
  }

  void lexerNeverPassesTheEndOfALine() {
    // Any bytes at all: every token has a length and stays inside.
    for (const bool forGpu : {false, true})
      for (const auto language : {CodeLanguage::steps, CodeLanguage::loops, CodeLanguage::tir, CodeLanguage::llvm, CodeLanguage::assembly,
                                  CodeLanguage::sass}) {
        CodeLexer lexer(language, this);
        lexer.setForGpu(forGpu);
        unsigned state = 1;
        for (int round = 0; round < 300; ++round) {
          QByteArray line;
          for (int i = 0; i < 40; ++i) state = state * 1664525u + 1013904223u, line.append(static_cast<char>(32 + (state >> 16) % 95));
          for (int at = 0; at < line.size();) {
            const int length = lexer.next(line, at).length;
            QVERIFY(length > 0 && at + length <= line.size());
            at += length;
          }
        }
      }
  }

  void findMovesThroughTheText() {
    CodePane pane(CodeLanguage::tir, QStringLiteral("TIR"));
    pane.setText(QStringLiteral("one\ntwo\none\n"));
    QVERIFY(pane.find(QStringLiteral("one"), true));
    QVERIFY(pane.find(QStringLiteral("one"), true));
    int line = 0, column = 0;
    pane.editor()->getCursorPosition(&line, &column);
    QCOMPARE(line, 2);
    QVERIFY(!pane.find(QStringLiteral("three"), true));
  }
};

QTEST_MAIN(CodeViewTest)
#include "code_view_test.moc"
