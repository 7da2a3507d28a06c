// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw::ir {

enum class TokenKind : uint8_t { identifier, number, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< strings with their quotes
  size_t offset = 0;      ///< in the whole text
};

/// Letters, digits and underscores; a dot only before one of these; no keyword.
bool is_identifier(std::string_view name);
/// Words that cannot name a variable or buffer.
bool is_keyword(std::string_view word);
/// `name` as an identifier: other characters become underscores.
std::string to_identifier(std::string_view name);
/// Double quotes around `s`; quotes, backslashes and control characters escaped.
std::string quote(std::string_view s);

/// Where in a text a reader's error is: lines and columns (of bytes) from 1. Nothing for an error without a place.
struct Place {
  int line, column;
};
std::optional<Place> place_of(const Error& error);
/// What such an error says as its place.
std::string place_text(std::string_view text, size_t offset);

/// Splits the texts of ir, te and tir into tokens and keeps the first error. White space and `#` comments to the end of a line separate.
/// After an error every token is `end`, so that callers need to look at ok() only where they build something.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : Lexer(text, 0, text.size()) {}
  /// Tokens of text[begin, end); places in errors refer to the whole text.
  Lexer(std::string_view text, size_t begin, size_t end);

  const Token& peek() const { return token_; }
  Token take();
  bool at_end() const { return token_.kind == TokenKind::end; }
  bool is_symbol(std::string_view s) const { return token_.kind == TokenKind::symbol && token_.text == s; }
  bool is_word(std::string_view s) const { return token_.kind == TokenKind::identifier && token_.text == s; }
  /// Takes the symbol if it is next.
  bool accept(std::string_view s);
  bool accept_word(std::string_view s);
  /// Takes the symbol, or fails.
  bool expect(std::string_view s);
  bool expect_word(std::string_view s);
  /// An identifier, or fails.
  std::string_view identifier(const char* what);
  /// A number with an optional minus sign.
  std::optional<int64_t> integer();
  /// The same as the bits of an unsigned number where `is_unsigned`.
  std::optional<int64_t> integer(bool is_unsigned);
  /// Also `inf` and `nan`.
  std::optional<double> real();
  /// The contents of a quoted string, escapes undone.
  std::optional<std::string> string();

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }
  /// Records an error at the next token (or at `offset`), unless there is one already. Always gives false.
  bool fail(std::string message);
  bool fail_at(size_t offset, std::string message);
  /// Fails with "Expected <what>, found <next token>".
  bool fail_expected(std::string_view what);

 private:
  void skip_space();
  void advance();
  std::string_view signed_number();
  std::string_view text_;
  size_t position_, end_;
  Token token_;
  std::optional<Error> error_;
};

}  // namespace tw::ir
