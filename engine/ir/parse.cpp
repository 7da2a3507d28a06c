// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/parse.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/ir/expr_parser.h"
#include "engine/ir/precedence.h"
#include "engine/ir/type_rules.h"

namespace tw::ir {

namespace {

struct WrittenOp {
  std::string_view text;
  BinaryOp op;
  bool swapped;  ///< `a > b` is read as `b < a`
};
constexpr WrittenOp kWritten[] = {
    {"+", BinaryOp::add, false},        {"-", BinaryOp::sub, false},       {"*", BinaryOp::mul, false},     {"/", BinaryOp::div, false},
    {"//", BinaryOp::floor_div, false}, {"%", BinaryOp::floor_mod, false}, {"<", BinaryOp::lt, false},      {"<=", BinaryOp::le, false},
    {"==", BinaryOp::eq, false},        {"!=", BinaryOp::ne, false},       {"and", BinaryOp::and_, false},  {"or", BinaryOp::or_, false},
    {"&", BinaryOp::bit_and, false},    {"|", BinaryOp::bit_or, false},    {"^", BinaryOp::bit_xor, false}, {"<<", BinaryOp::shl, false},
    {">>", BinaryOp::shr, false},       {">", BinaryOp::lt, true},         {">=", BinaryOp::le, true},
};

const WrittenOp* written_op(const Token& t) {
  if (t.kind != TokenKind::symbol && t.kind != TokenKind::identifier) return nullptr;
  for (const WrittenOp& w : kWritten)
    if (w.text == t.text) return &w;
  return nullptr;
}

/// Counts one level of nesting while it lives.
struct Nested {
  explicit Nested(int& n) : depth(n) { ++depth; }
  ~Nested() { --depth; }
  int& depth;
};

}  // namespace

std::optional<DType> parse_type(Lexer& lexer, const std::unordered_map<std::string, DType>& named) {
  const size_t offset = lexer.peek().offset;
  const std::string_view name = lexer.identifier("a type name");
  if (!lexer.ok()) return std::nullopt;
  if (const auto it = named.find(std::string(name)); it != named.end()) return it->second;
  const Expected<DType> t = parse_dtype(name);
  if (t) return *t;
  lexer.fail_at(offset, t.error().message);
  return std::nullopt;
}

template <class Make>
ExprParser::Result ExprParser::build(size_t offset, const std::string& problem, int height, Make make) {
  if (!lexer_.ok()) return std::nullopt;
  if (!problem.empty())
    lexer_.fail_at(offset, problem);
  else if (height > kMaxHeight)
    lexer_.fail_at(offset, fmt::format("Expected an expression of at most {} levels", kMaxHeight));
  else
    return Tree{make(), height};
  return std::nullopt;
}

std::optional<Expr> ExprParser::parse() {
  Result r = parse_binary(kLowestPrecedence);
  if (!r) return std::nullopt;
  return std::move(r->expr);
}

ExprParser::Result ExprParser::parse_binary(int min_precedence) {
  const Nested nested(nesting_);
  if (nesting_ > kMaxNesting) {
    lexer_.fail(fmt::format("Expected at most {} levels of nesting", kMaxNesting));
    return std::nullopt;
  }
  Result left = parse_unary();
  while (left) {
    const WrittenOp* w = written_op(lexer_.peek());
    if (!w || precedence(w->op) < min_precedence) break;
    const Token t = lexer_.take();
    const Result right = parse_binary(precedence(w->op) + 1);
    if (!right) return std::nullopt;
    left = make_binary(w->op, w->swapped, *left, *right, t.offset);
    const WrittenOp* next = written_op(lexer_.peek());
    if (left && is_comparison(w->op) && next && is_comparison(next->op)) {
      lexer_.fail("Expected parentheses around a comparison of a comparison");
      return std::nullopt;
    }
  }
  return left;
}

ExprParser::Result ExprParser::make_binary(BinaryOp op, bool swapped, const Tree& a, const Tree& b, size_t offset) {
  const Expr& x = swapped ? b.expr : a.expr;
  const Expr& y = swapped ? a.expr : b.expr;
  return build(offset, binary_problem(op, x->dtype, y->dtype), std::max(a.height, b.height) + 2, [&] { return binary(op, x, y); });
}

ExprParser::Result ExprParser::parse_unary() {
  const size_t offset = lexer_.peek().offset;
  if (!lexer_.accept_word("not")) return parse_primary();
  const Result v = parse_binary(kNotPrecedence);
  if (!v) return std::nullopt;
  return build(offset, not_problem(v->expr->dtype), v->height + 1, [&] { return logical_not(v->expr); });
}

ExprParser::Result ExprParser::parse_primary() {
  if (lexer_.accept("(")) {
    Result inner = parse_binary(kLowestPrecedence);
    if (!inner || !lexer_.expect(")")) return std::nullopt;
    return inner;
  }
  if (lexer_.peek().kind == TokenKind::identifier) return parse_word();
  if (lexer_.peek().kind == TokenKind::number || lexer_.is_symbol("-")) {
    if (const auto v = lexer_.integer()) return Tree{index(*v), 1};
    return std::nullopt;
  }
  lexer_.fail_expected("an expression");
  return std::nullopt;
}

ExprParser::Result ExprParser::parse_word() {
  const Token t = lexer_.take();
  if (t.text == "True" || t.text == "False") return Tree{bool_imm(t.text == "True"), 1};
  if (lexer_.is_symbol("(")) return parse_call(t.text.starts_with("T.") ? t.text.substr(2) : t.text, t.offset);
  if (lexer_.is_symbol("[")) {
    const auto it = symbols_.buffers.find(std::string(t.text));
    if (it != symbols_.buffers.end()) return parse_load(it->second);
    lexer_.fail_at(t.offset, fmt::format("Unknown buffer '{}'", t.text));
    return std::nullopt;
  }
  const auto it = symbols_.vars.find(std::string(t.text));
  if (it != symbols_.vars.end()) return Tree{to_expr(it->second), 1};
  if (const auto c = symbols_.constants.find(std::string(t.text)); c != symbols_.constants.end()) return Tree{index(c->second), 1};
  lexer_.fail_at(t.offset, is_keyword(t.text) ? fmt::format("Expected an expression, found '{}'", t.text) : fmt::format("Unknown variable '{}'", t.text));
  return std::nullopt;
}

std::optional<std::vector<ExprParser::Tree>> ExprParser::parse_list(std::string_view close) {
  std::vector<Tree> out;
  if (lexer_.accept(close)) return out;
  do {
    Result r = parse_binary(kLowestPrecedence);
    if (!r) return std::nullopt;
    out.push_back(std::move(*r));
  } while (lexer_.accept(","));
  if (!lexer_.expect(close)) return std::nullopt;
  return out;
}

namespace {

template <class Trees>
int max_height(const Trees& trees) {
  int h = 0;
  for (const auto& t : trees) h = std::max(h, t.height);
  return h;
}

}  // namespace

ExprParser::Result ExprParser::parse_load(const Buffer& buffer) {
  const size_t offset = lexer_.peek().offset;
  lexer_.expect("[");
  std::optional<std::vector<Tree>> list;
  if (buffer->shape.empty() && lexer_.accept("(")) {
    if (lexer_.expect(")") && lexer_.expect("]")) list.emplace();
  } else {
    list = parse_list("]");
  }
  if (!list) return std::nullopt;
  std::vector<Expr> indices;
  std::vector<DType> types;
  for (const Tree& t : *list) {
    indices.push_back(t.expr);
    types.push_back(t.expr->dtype);
  }
  return build(offset, load_problem(*buffer, types), max_height(*list) + 1, [&] { return load(buffer, std::move(indices)); });
}

ExprParser::Result ExprParser::parse_constant(DType type) {
  if (type.is_float()) {
    const auto v = lexer_.real();
    if (!v || !lexer_.expect(")")) return std::nullopt;
    return Tree{fimm(type, *v), 1};
  }
  const size_t offset = lexer_.peek().offset;
  const auto v = lexer_.integer(type == kUInt64);
  if (!v || !lexer_.expect(")")) return std::nullopt;
  return build(offset, int_in_range(type, *v) ? "" : fmt::format("Expected a constant in the range of {}, found {}", type.name(), *v), 1,
               [&] { return imm(type, *v); });
}

ExprParser::Result ExprParser::parse_cast() {
  const size_t offset = lexer_.peek().offset;
  const auto type = parse_type(lexer_, symbols_.types);
  if (!type || !lexer_.expect(",")) return std::nullopt;
  const Result v = parse_binary(kLowestPrecedence);
  if (!v || !lexer_.expect(")")) return std::nullopt;
  return build(offset, cast_problem(*type, v->expr->dtype), v->height + 1, [&] { return cast(*type, v->expr); });
}

ExprParser::Result ExprParser::parse_call(std::string_view name, size_t offset) {
  lexer_.expect("(");
  if (name == "cast") return parse_cast();
  if (const auto it = symbols_.types.find(std::string(name)); it != symbols_.types.end()) return parse_constant(it->second);
  if (const auto type = parse_dtype(name); type && type->is_scalar()) return parse_constant(*type);
  const auto args = parse_list(")");
  if (!args) return std::nullopt;
  return make_call(name, offset, *args);
}

ExprParser::Result ExprParser::make_call(std::string_view name, size_t offset, const std::vector<Tree>& args) {
  std::vector<DType> types;
  for (const Tree& t : args) types.push_back(t.expr->dtype);
  const int height = max_height(args) + 1;
  if (const auto f = intrinsic_from_name(name)) {
    std::vector<Expr> exprs;
    for (const Tree& t : args) exprs.push_back(t.expr);
    return build(offset, call_problem(*f, types), height, [&] { return call(*f, std::move(exprs)); });
  }
  const size_t arity = name == "min" || name == "max" || name == "broadcast" ? 2 : name == "select" || name == "ramp" ? 3 : 0;
  if (arity == 0) return build(offset, fmt::format("Unknown function '{}'", name), height, [] { return index(0); });
  if (args.size() != arity)
    return build(offset, fmt::format("Expected {} arguments for '{}', found {}", arity, name, args.size()), height, [] { return index(0); });
  const auto at = [&](size_t i) { return args[i].expr; };
  if (name == "min" || name == "max") return make_binary(name == "min" ? BinaryOp::min : BinaryOp::max, false, args[0], args[1], offset);
  if (name == "select") return build(offset, select_problem(types[0], types[1], types[2]), height, [&] { return select(at(0), at(1), at(2)); });
  const auto lanes = as<IntImmNode>(at(arity - 1)) ? as_int(at(arity - 1)) : std::nullopt;
  if (!lanes) return build(offset, fmt::format("Expected a constant number of lanes for '{}'", name), height, [] { return index(0); });
  const int n = static_cast<int>(std::clamp<int64_t>(*lanes, 0, kMaxLanes + 1));
  if (name == "ramp") return build(offset, ramp_problem(types[0], types[1], *lanes), height, [&] { return ramp(at(0), at(1), n); });
  return build(offset, broadcast_problem(types[0], *lanes), height, [&] { return broadcast(at(0), n); });
}

Expected<Expr> parse_expr(std::string_view text, const Symbols& symbols) {
  Lexer lexer(text);
  ExprParser parser(lexer, symbols);
  const std::optional<Expr> e = parser.parse();
  if (e && !lexer.at_end()) lexer.fail_expected("the end of the expression");
  if (!e || !lexer.ok()) return lexer.error();
  return *e;
}

}  // namespace tw::ir
