// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/lexer.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "engine/base/text.h"

namespace tw::ir {

namespace {

constexpr std::string_view kKeywords[] = {"and", "or", "not", "True", "False", "for", "in", "if", "else", "def", "pass", "with", "as"};
constexpr std::string_view kLongSymbols[] = {"//", "==", "!=", "<=", ">=", "<<", ">>", "->"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_char(char c) { return is_word_start(c) || is_digit(c); }

/// Length of the identifier at the start of s.
size_t word_length(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && (is_word_char(s[n]) || (s[n] == '.' && n + 1 < s.size() && is_word_char(s[n + 1])))) ++n;
  return n;
}

size_t number_length(std::string_view s) {
  size_t n = 0;
  const auto digits = [&] {
    while (n < s.size() && is_digit(s[n])) ++n;
  };
  digits();
  if (n + 1 < s.size() && s[n] == '.' && is_digit(s[n + 1])) {
    ++n;
    digits();
  }
  if (n < s.size() && (s[n] == 'e' || s[n] == 'E')) {
    size_t k = n + 1;
    if (k < s.size() && (s[k] == '+' || s[k] == '-')) ++k;
    if (k < s.size() && is_digit(s[k])) {
      n = k;
      digits();
    }
  }
  return n;
}

/// Length with both quotes, or 0 if the string does not end.
size_t string_length(std::string_view s) {
  for (size_t n = 1; n < s.size(); ++n) {
    if (s[n] == '\\')
      ++n;
    else if (s[n] == '"')
      return n + 1;
    else if (s[n] == '\n')
      return 0;
  }
  return 0;
}

int hex_digit(char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

}  // namespace

bool is_keyword(std::string_view word) { return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords); }

bool is_identifier(std::string_view name) { return !name.empty() && is_word_start(name[0]) && word_length(name) == name.size() && !is_keyword(name); }

std::string to_identifier(std::string_view name) {
  std::string out(name);
  if (out.empty() || !(is_word_start(out[0]) || is_digit(out[0]))) out.insert(out.begin(), '_');
  if (is_digit(out[0])) out.insert(out.begin(), '_');
  for (size_t i = 1; i < out.size(); ++i) {
    const bool inner_dot = out[i] == '.' && i + 1 < out.size() && is_word_char(out[i + 1]);
    if (!is_word_char(out[i]) && !inner_dot) out[i] = '_';
  }
  return is_keyword(out) ? out + "_" : out;
}

std::string place_text(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, offset - start + 1);
}

std::optional<Place> place_of(const Error& error) {
  Place p{};
  const size_t at = error.where.rfind("line ");  // behind the name of a file, perhaps
  if (at == std::string::npos || std::sscanf(error.where.c_str() + at, "line %d, column %d", &p.line, &p.column) != 2) return std::nullopt;
  return p;
}

std::string quote(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u < 0x20 || u == 0x7f)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + '"';
}

Lexer::Lexer(std::string_view text, size_t begin, size_t end) : text_(text), position_(begin), end_(end) { advance(); }

void Lexer::skip_space() {
  bool comment = false;
  for (; position_ < end_; ++position_) {
    const char c = text_[position_];
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment && c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
  }
}

void Lexer::advance() {
  skip_space();
  const std::string_view rest = text_.substr(position_, end_ - position_);
  token_ = {TokenKind::end, {}, position_};
  if (rest.empty()) return;
  size_t length = 1;
  if (is_word_start(rest[0])) {
    token_.kind = TokenKind::identifier;
    length = word_length(rest);
  } else if (is_digit(rest[0])) {
    token_.kind = TokenKind::number;
    length = number_length(rest);
  } else if (rest[0] == '"') {
    length = string_length(rest);
    if (length == 0) {
      fail("Expected a closing quote");
      return;
    }
    token_.kind = TokenKind::string;
  } else {
    token_.kind = TokenKind::symbol;
    for (const std::string_view s : kLongSymbols)
      if (rest.starts_with(s)) length = s.size();
  }
  token_.text = rest.substr(0, length);
  position_ += length;
}

Token Lexer::take() {
  const Token t = token_;
  if (ok()) advance();
  return t;
}

bool Lexer::accept(std::string_view s) {
  if (!is_symbol(s)) return false;
  take();
  return true;
}

bool Lexer::accept_word(std::string_view s) {
  if (!is_word(s)) return false;
  take();
  return true;
}

bool Lexer::expect(std::string_view s) { return accept(s) || fail_expected(fmt::format("'{}'", s)); }
bool Lexer::expect_word(std::string_view s) { return accept_word(s) || fail_expected(fmt::format("'{}'", s)); }

std::string_view Lexer::identifier(const char* what) {
  if (token_.kind != TokenKind::identifier) {
    fail_expected(what);
    return {};
  }
  return take().text;
}

std::string_view Lexer::signed_number() {
  const size_t begin = token_.offset;
  accept("-");
  if (token_.kind != TokenKind::number || (token_.offset != begin && token_.offset != begin + 1)) {
    fail_expected("a number");
    return {};
  }
  const Token t = take();
  return text_.substr(begin, t.offset + t.text.size() - begin);
}

std::optional<int64_t> Lexer::integer() { return integer(false); }

std::optional<int64_t> Lexer::integer(bool is_unsigned) {
  const size_t begin = token_.offset;
  const std::string_view s = signed_number();
  if (!ok()) return std::nullopt;
  int64_t value = 0;
  uint64_t bits = 0;
  const char* last = s.data() + s.size();
  if (const auto r = std::from_chars(s.data(), last, value); r.ec == std::errc{} && r.ptr == last && !(is_unsigned && value < 0)) return value;
  if (const auto r = std::from_chars(s.data(), last, bits); is_unsigned && r.ec == std::errc{} && r.ptr == last) return static_cast<int64_t>(bits);
  fail_at(begin, fmt::format("Expected {}, found '{}'", is_unsigned ? "an unsigned integer" : "an integer of 64 bits", s));
  return std::nullopt;
}

std::optional<double> Lexer::real() {
  const size_t begin = token_.offset;
  double sign = 1;
  if (is_symbol("-") && position_ < end_ && !is_digit(text_[position_])) {
    take();
    sign = -1;
  }
  if (accept_word("inf")) return sign * std::numeric_limits<double>::infinity();
  if (accept_word("nan")) return std::numeric_limits<double>::quiet_NaN();
  const std::string_view s = signed_number();
  if (!ok()) return std::nullopt;
  double value = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), value);
  if (r.ec == std::errc{} && r.ptr == s.data() + s.size()) return value;
  fail_at(begin, fmt::format("Expected a number in the range of float64, found '{}'", s));
  return std::nullopt;
}

std::optional<std::string> Lexer::string() {
  if (token_.kind != TokenKind::string) {
    fail_expected("a quoted string");
    return std::nullopt;
  }
  const std::string_view raw = token_.text.substr(1, token_.text.size() - 2);
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    const char c = i + 1 < raw.size() ? raw[i + 1] : '\0';
    if (c == '"' || c == '\\') {
      out += c;
      ++i;
      continue;
    }
    const int high = c == 'x' && i + 3 < raw.size() ? hex_digit(raw[i + 2]) : -1;
    const int low = high >= 0 ? hex_digit(raw[i + 3]) : -1;
    if (low < 0) {
      fail("Expected an escape such as '\\x0a' in a string");
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 3;
  }
  take();
  return out;
}

bool Lexer::fail(std::string message) { return fail_at(token_.offset, std::move(message)); }

bool Lexer::fail_at(size_t offset, std::string message) {
  if (error_) return false;
  error_ = Error(ErrorCode::parse_error, printable(message), place_text(text_, offset));
  token_ = {TokenKind::end, {}, offset};
  return false;
}

bool Lexer::fail_expected(std::string_view what) {
  return fail(at_end() ? fmt::format("Expected {}, found the end", what) : fmt::format("Expected {}, found '{}'", what, token_.text.substr(0, 40)));
}

}  // namespace tw::ir
