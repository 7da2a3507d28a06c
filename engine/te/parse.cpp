// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/ir/expr_parser.h"
#include "engine/te/dag.h"

namespace tw::te {

namespace {

/// More than any dag of ours has; keeps hostile texts from asking for much memory.
constexpr size_t kMaxOps = 4096, kMaxRank = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Expected<DagPtr> run() {
    while (lexer_.ok() && !lexer_.at_end() && !finished_) statement();
    if (lexer_.ok() && !finished_) lexer_.fail_expected("an op or 'outputs'");
    if (lexer_.ok() && !lexer_.at_end()) lexer_.fail_expected("the end after 'outputs'");
    if (!lexer_.ok()) return lexer_.error();
    if (auto valid = verify(*dag_); !valid) {
      Error e = valid.error();
      e.code = ErrorCode::parse_error;
      return e;
    }
    return DagPtr(dag_);
  }

 private:
  void statement() {
    const size_t offset = lexer_.peek().offset;
    const std::string name(lexer_.identifier("the name of an op"));
    if (name == "outputs" && lexer_.is_symbol("(")) return outputs();
    if (!lexer_.expect(":")) return;
    if (dag_->ops.size() >= kMaxOps) return void(lexer_.fail_at(offset, fmt::format("Expected at most {} ops", kMaxOps)));
    if (symbols_.buffers.contains(name)) return void(lexer_.fail_at(offset, fmt::format("Expected a new name, found '{}' again", name)));
    const auto type = ir::parse_type(lexer_);
    const auto shape = integers();
    lexer_.expect("=");
    const size_t kind_offset = lexer_.peek().offset;
    const std::string kind(lexer_.identifier("'placeholder', 'compute' or a reducer"));
    if (!lexer_.ok()) return;
    Op op{.name = name, .output = ir::make_buffer(name, *type, *shape)};
    if (kind == "placeholder")
      placeholder(op);
    else
      compute(op, kind, kind_offset);
    if (!lexer_.ok()) return;
    symbols_.buffers.emplace(name, op.output);
    dag_->ops.push_back(std::move(op));
  }

  void placeholder(Op& op) {
    lexer_.expect("(");
    if (lexer_.accept_word("constant"))
      op.role = Role::constant;
    else
      lexer_.expect_word("activation");
    lexer_.expect(")");
    op.tag = "placeholder";
    tail(op);
  }

  void compute(Op& op, const std::string& kind, size_t offset) {
    if (kind != "compute") {
      for (const Reducer r : {Reducer::sum, Reducer::prod, Reducer::max, Reducer::min})
        if (kind == reducer_name(r)) op.reducer = r;
      if (op.reducer == Reducer::none) return void(lexer_.fail_at(offset, fmt::format("Expected 'placeholder', 'compute' or a reducer, found '{}'", kind)));
    }
    symbols_.vars.clear();
    axes(op);
    tail(op);
    if (!lexer_.ok()) return;
    if (auto body = ir::ExprParser(lexer_, symbols_).parse()) op.body = std::move(*body);
  }

  void axes(Op& op) {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    const std::vector<int64_t>& shape = op.output->shape;
    do {
      const size_t offset = lexer_.peek().offset;
      const std::string name(lexer_.identifier("the name of an axis"));
      if (!lexer_.ok()) return;
      const ir::Var var = ir::make_var(name);
      if (!symbols_.vars.emplace(name, var).second) return void(lexer_.fail_at(offset, fmt::format("Expected a new axis name, found '{}' again", name)));
      if (lexer_.accept("=")) {
        const auto extent = lexer_.integer();
        if (!extent) return;
        op.reduce_axes.push_back({var, *extent, AxisKind::reduce});
      } else if (op.axes.size() < shape.size() && op.reduce_axes.empty()) {
        op.axes.push_back({var, shape[op.axes.size()], AxisKind::spatial});
      } else {
        return void(lexer_.fail_at(offset, fmt::format("Expected {} spatial axes, then reduce axes with extents, found '{}'", shape.size(), name)));
      }
      if (op.reduce_axes.size() > kMaxRank) return void(lexer_.fail_at(offset, fmt::format("Expected at most {} reduce axes", kMaxRank)));
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }

  /// [@"name"] ["tag"] [{"attribute": [1, 2], ...}]
  void tail(Op& op) {
    if (lexer_.accept("@")) {
      if (auto s = lexer_.string()) op.name = std::move(*s);
    }
    if (lexer_.peek().kind == ir::TokenKind::string)
      if (auto s = lexer_.string()) op.tag = std::move(*s);
    if (!lexer_.accept("{")) return;
    do {
      auto key = lexer_.string();
      lexer_.expect(":");
      auto values = integers();
      if (!lexer_.ok()) return;
      op.attrs[std::move(*key)] = std::move(*values);
    } while (lexer_.accept(","));
    lexer_.expect("}");
  }

  /// `[1, 2]`
  std::optional<std::vector<int64_t>> integers() {
    std::vector<int64_t> out;
    lexer_.expect("[");
    if (lexer_.accept("]")) return out;
    do {
      const auto v = lexer_.integer();
      if (!v) return std::nullopt;
      out.push_back(*v);
    } while (lexer_.accept(","));
    if (!lexer_.expect("]")) return std::nullopt;
    return out;
  }

  void outputs() {
    lexer_.expect("(");
    do {
      const size_t offset = lexer_.peek().offset;
      const std::string name(lexer_.identifier("the name of an op"));
      const auto it = symbols_.buffers.find(name);
      if (it == symbols_.buffers.end()) return void(lexer_.fail_at(offset, fmt::format("Unknown op '{}'", name)));
      dag_->outputs.push_back(dag_->op_of(it->second.get()));
    } while (lexer_.accept(","));
    lexer_.expect(")");
    finished_ = true;
  }

  ir::Lexer lexer_;
  ir::Symbols symbols_;
  std::shared_ptr<Dag> dag_ = std::make_shared<Dag>();
  bool finished_ = false;
};

}  // namespace

Expected<DagPtr> parse_dag(std::string_view text) { return Parser(text).run(); }

}  // namespace tw::te
