// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/lexer.h"
#include "engine/ir/parse.h"

namespace tw::ir {

/// Reads expressions out of a larger text (te and tir use it for their own formats).
/// Nesting and tree height are limited, so that no text can exhaust the stack of any walk.
class ExprParser {
 public:
  ExprParser(Lexer& lexer, const Symbols& symbols) : lexer_(lexer), symbols_(symbols) {}

  /// The longest expression at the lexer's position; nothing means the lexer holds the error.
  std::optional<Expr> parse();

  /// A tree is at most this high.
  static constexpr int kMaxHeight = 1000;
  /// Parentheses and brackets nest at most this deep.
  static constexpr int kMaxNesting = 500;

 private:
  struct Tree {
    Expr expr;
    int height;
  };
  using Result = std::optional<Tree>;
  Result parse_binary(int min_precedence);
  Result parse_unary();
  Result parse_primary();
  Result parse_word();
  Result parse_load(const Buffer& buffer);
  Result parse_call(std::string_view name, size_t offset);
  Result parse_constant(DType type);
  Result parse_cast();
  Result make_binary(BinaryOp op, bool swapped, const Tree& a, const Tree& b, size_t offset);
  Result make_call(std::string_view name, size_t offset, const std::vector<Tree>& args);
  std::optional<std::vector<Tree>> parse_list(std::string_view close);
  /// The tree, or an error if `problem` says why not or it gets too high.
  template <class Make>
  Result build(size_t offset, const std::string& problem, int height, Make make);

  Lexer& lexer_;
  const Symbols& symbols_;
  int nesting_ = 0;
};

/// A type name as in `float32`, or one of `named`, at the lexer's position.
std::optional<DType> parse_type(Lexer& lexer, const std::unordered_map<std::string, DType>& named = {});

}  // namespace tw::ir
