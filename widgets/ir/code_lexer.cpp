// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_lexer.h"

#include <Qsci/qsciscintilla.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "engine/schedule/primitive.h"
#include "engine/space/own/script.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

using Words = std::vector<std::string_view>;

const Words& keywordsOf(CodeLanguage language) {
  static const Words tir = {"for",    "in",   "if",    "else",     "while", "with",   "def", "return", "range", "parallel", "vectorized", "unroll", "unroll_explicit",
                            "serial", "True", "False", "allocate", "alloc", "assert", "and", "or",     "not",   "T",        "grid",       "let"};
  static const Words llvm = {"define",
                             "declare",
                             "ret",
                             "br",
                             "label",
                             "load",
                             "store",
                             "getelementptr",
                             "inbounds",
                             "phi",
                             "fadd",
                             "fsub",
                             "fmul",
                             "fdiv",
                             "add",
                             "sub",
                             "mul",
                             "sdiv",
                             "udiv",
                             "shl",
                             "lshr",
                             "ashr",
                             "and",
                             "or",
                             "xor",
                             "icmp",
                             "fcmp",
                             "select",
                             "call",
                             "tail",
                             "alloca",
                             "bitcast",
                             "zext",
                             "sext",
                             "trunc",
                             "sitofp",
                             "fptosi",
                             "fpext",
                             "fptrunc",
                             "insertelement",
                             "extractelement",
                             "shufflevector",
                             "contract",
                             "nuw",
                             "nsw",
                             "align",
                             "noalias",
                             "nocapture",
                             "attributes",
                             "target",
                             "datalayout",
                             "triple",
                             "source_filename",
                             "to",
                             "fast",
                             "poison",
                             "undef",
                             "zeroinitializer",
                             "splat",
                             "switch",
                             "unreachable",
                             "local_unnamed_addr",
                             "internal",
                             "private",
                             "constant",
                             "global"};
  static const Words steps = [] {
    Words words;
    for (const schedule::Primitive* p : schedule::primitives())
      for (const schedule::StepWord& w : p->words) words.push_back(w.word);
    return words;
  }();
  static const Words expression = [] {
    Words words = {"param", "placeholder", "activation", "constant", "compute", "sum", "prod", "max", "min", "outputs", "schedule", "select", "cast", "if", "and", "or", "not",
                   "True", "False", "require", "start", "define_split", "define_reorder", "define_annotate", "define_knob"};
    static const std::vector<space::own::Verb> verbs = space::own::verbs();
    for (const space::own::Verb& v : verbs) words.push_back(v.name);
    return words;
  }();
  static const Words none;
  switch (language) {
    case CodeLanguage::expression:
      return expression;
    case CodeLanguage::tir:
      return tir;
    case CodeLanguage::loops:
      return tir;
    case CodeLanguage::llvm:
      return llvm;
    case CodeLanguage::steps:
      return steps;
    case CodeLanguage::assembly:
    case CodeLanguage::sass:
      break;
  }
  return none;
}

bool wordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// Whether a word is the operation, by what stands before it: nothing, or the address and the predicate of an instruction of a GPU.
bool isMnemonic(QByteArrayView before) {
  const auto address = before.lastIndexOf("*/");
  const QByteArrayView rest = (address < 0 ? before : before.sliced(address + 2)).trimmed();
  return rest.isEmpty() || (rest.startsWith('@') && !rest.contains(' '));
}

}  // namespace

CodeLexer::CodeLexer(CodeLanguage codeLanguage, QObject* parent) : QsciLexerCustom(parent), m_language(codeLanguage) {}

QString CodeLexer::description(int style) const {
  static const char* const names[] = {"Plain", "Keyword", "Type", "Number", "String", "Comment", "Name", "Label"};
  return style >= 0 && style <= Label ? QString::fromLatin1(names[style]) : QString();
}

void CodeLexer::setTheme(const Theme& theme, const QFont& font) {
  const QColor colors[] = {theme.text,       theme.codeKeyword, theme.codeType, theme.codeNumber,
                           theme.codeString, theme.codeComment, theme.codeName, theme.codeLabel};
  setDefaultFont(font);
  setDefaultPaper(theme.base);
  setDefaultColor(theme.text);
  for (int style = Plain; style <= Label; ++style) {
    setColor(colors[style], style);
    setPaper(theme.base, style);
    setFont(font, style);
  }
}

bool CodeLexer::isKeyword(QByteArrayView word) const {
  static const Words cuda = {
      "extern",     "const",           "for",       "if",     "else",   "return",        "__global__", "__launch_bounds__", "__restrict__", "__shared__",
      "__device__", "__forceinline__", "__align__", "static", "struct", "__syncthreads", "threadIdx",  "blockIdx",          "unsigned",     "reinterpret_cast",
      "pragma",     "unroll"};
  const Words& words = m_forGpu && m_language == CodeLanguage::llvm ? cuda : keywordsOf(m_language);
  return std::find(words.begin(), words.end(), std::string_view(word.data(), static_cast<size_t>(word.size()))) != words.end();
}

bool CodeLexer::isType(QByteArrayView word) const {
  const std::string_view w(word.data(), static_cast<size_t>(word.size()));
  if (m_language == CodeLanguage::assembly)
    return w == "ptr" || w == "dword" || w == "qword" || w == "xmmword" || w == "ymmword" || w == "zmmword" || w == "byte" || w == "word";
  if (w == "float" || w == "double" || w == "ptr" || w == "void" || w == "x" || w == "bool" || w == "half" || w == "int") return true;
  for (const std::string_view stem : {"float", "int", "uint", "bfloat"}) {
    if (w.substr(0, stem.size()) == stem && w.size() > stem.size() && std::isdigit(static_cast<unsigned char>(w[stem.size()]))) return true;
  }
  return m_language == CodeLanguage::llvm && w.size() > 1 && w[0] == 'i' &&
         std::all_of(w.begin() + 1, w.end(), [](unsigned char c) { return std::isdigit(c); });
}

CodeLexer::Token CodeLexer::next(QByteArrayView line, int at) const {
  const int size = static_cast<int>(line.size());
  const auto until = [&](auto stop) {
    int i = at + 1;
    while (i < size && !stop(line[i])) ++i;
    return i - at;
  };
  const char c = line[at];
  if (m_language == CodeLanguage::sass && line.sliced(at).startsWith("/*")) {
    const auto end = line.indexOf("*/", at + 2);
    return {static_cast<int>(end < 0 ? size : end + 2) - at, Comment};
  }
  const bool assembly = m_language == CodeLanguage::assembly || m_language == CodeLanguage::sass,
             slashes = m_forGpu && (assembly || m_language == CodeLanguage::llvm);
  const bool llvm = m_language == CodeLanguage::llvm && !m_forGpu;
  if (slashes ? line.sliced(at).startsWith("//") : c == (llvm ? ';' : '#')) return {size - at, Comment};
  if (c == '"' || c == '\'') {
    int i = at + 1;
    while (i < size && line[i] != c) i += line[i] == '\\' ? 2 : 1;
    return {std::min(i + 1, size) - at, String};
  }
  if (c == '%' || c == '@' || (llvm && c == '!'))
    return {until([](char d) { return !wordChar(d) && d != '-' && d != '$'; }), llvm && c == '!' ? Comment : Name};
  if (std::isdigit(static_cast<unsigned char>(c))) return {until([](char d) { return !wordChar(d); }), Number};
  if (assembly && c == '.' && at + 1 < size) return {until([](char d) { return !wordChar(d) && d != '$'; }), line.trimmed().endsWith(':') ? Label : Keyword};
  if (wordChar(c)) {
    const int length = until([](char d) { return !wordChar(d) && d != '$'; });
    const QByteArrayView word = line.sliced(at, length);
    if (at + length < size && line[at + length] == ':' && (assembly || llvm)) return {length, Label};
    if (isType(word)) return {length, Type};
    if (assembly) {
      return {length, isMnemonic(line.first(at)) ? Keyword : Name};
    }
    return {length, isKeyword(word.startsWith("T.") ? word.sliced(2) : word) ? Keyword : Plain};
  }
  return {1, Plain};
}

void CodeLexer::styleText(int start, int end) {
  QsciScintilla* view = editor();
  if (!view || end <= start) return;
  // Whole lines, so that a token is never cut.
  const long first = view->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, view->SendScintilla(QsciScintilla::SCI_LINEFROMPOSITION, start));
  QByteArray text(static_cast<qsizetype>(end - first) + 1, '\0');
  view->SendScintilla(QsciScintilla::SCI_GETTEXTRANGE, static_cast<int>(first), end, text.data());
  text.chop(1);
  startStyling(static_cast<int>(first));
  qsizetype begin = 0;
  while (begin < text.size()) {
    qsizetype stop = text.indexOf('\n', begin);
    if (stop < 0) stop = text.size();
    const QByteArrayView line = QByteArrayView(text).sliced(begin, stop - begin);
    for (int at = 0; at < line.size();) {
      const Token token = next(line, at);
      setStyling(token.length, token.style);
      at += token.length;
    }
    if (stop < text.size()) setStyling(1, Plain);
    begin = stop + 1;
  }
}

void dressEditor(QsciScintilla& editor, CodeLexer& lexer, const Theme& theme) {
  const QFont font = codeFont();
  lexer.setTheme(theme, font);
  editor.setPaper(theme.base);
  editor.setColor(theme.text);
  editor.setMarginsFont(font);
  editor.setMarginsBackgroundColor(theme.alternateBase);
  editor.setMarginsForegroundColor(theme.mutedText);
  editor.setCaretLineBackgroundColor(theme.currentBand);
  editor.setCaretForegroundColor(theme.text);
  editor.setSelectionBackgroundColor(theme.selection);
  editor.setSelectionForegroundColor(theme.selectionText);
}

}  // namespace tw::widgets
