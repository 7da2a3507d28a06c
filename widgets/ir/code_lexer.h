// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qscilexercustom.h>

#include "widgets/ir/code_language.h"

namespace tw::widgets {

struct Theme;

/// Colours one of our listings. One small scanner for all of them: they differ in the comment character, the keywords and how names begin.
class CodeLexer : public QsciLexerCustom {
  Q_OBJECT
 public:
  enum Style { Plain, Keyword, Type, Number, String, Comment, Name, Label };
  CodeLexer(CodeLanguage codeLanguage, QObject* parent);
  /// In place of LLVM IR there is CUDA C++, in place of assembly PTX.
  void setForGpu(bool forGpu) { m_forGpu = forGpu; }
  void setTheme(const Theme& theme, const QFont& font);

  const char* language() const override { return "tilewright"; }
  QString description(int style) const override;
  void styleText(int start, int end) override;

  struct Token {
    int length = 0;
    Style style = Plain;
  };
  /// The token at `at` of one line; never longer than the line.
  Token next(QByteArrayView line, int at) const;

 private:
  bool isKeyword(QByteArrayView word) const;
  bool isType(QByteArrayView word) const;
  CodeLanguage m_language;
  bool m_forGpu = false;
};

/// Paper, margin, caret and selection of an editor of listings, with its lexer's colours and font.
void dressEditor(QsciScintilla& editor, CodeLexer& lexer, const Theme& theme);

}  // namespace tw::widgets
