// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/ir/expr_parser.h"
#include "engine/te/source.h"

namespace tw::te {

namespace {

/// More than any dag of ours has; keeps hostile texts from asking for much memory.
constexpr size_t kMaxOps = 4096, kMaxRank = 32, kMaxParams = 64, kMaxSource = 64 << 10;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), lexer_(text) {}

  Expected<Source> run() {
    while (lexer_.ok() && !lexer_.at_end() && !finished_) statement();
    if (lexer_.ok() && !finished_) lexer_.fail_expected("an op or 'outputs'");
    if (lexer_.ok() && lexer_.is_word("schedule")) schedule();
    if (lexer_.ok() && !lexer_.at_end()) lexer_.fail_expected("the end after 'outputs'");
    if (!lexer_.ok()) return lexer_.error();
    if (auto valid = verify(*dag_); !valid) return placed(valid.error());
    source_.dag = dag_;
    return std::move(source_);
  }

 private:
  /// What is wrong with an op is said where it stands.
  Error placed(const Error& e) {
    size_t offset = outputs_at_;
    for (size_t i = 0; i < dag_->ops.size(); ++i)
      if (e.where == "op '" + printable(dag_->ops[i].name) + "'") offset = source_.places[i];
    lexer_.fail_at(offset, e.message);
    Error out = lexer_.error();
    if (!e.where.empty()) out.notes.push_back("in " + e.where);
    out.notes.insert(out.notes.end(), e.notes.begin(), e.notes.end());
    return out;
  }

  void statement() {
    const size_t offset = lexer_.peek().offset;
    const std::string name(lexer_.identifier("the name of an op"));
    if (name == "outputs" && lexer_.is_symbol("(")) return outputs(offset);
    if (name == "param" && lexer_.peek().kind == ir::TokenKind::identifier) return param();
    if (!lexer_.expect(":")) return;
    if (dag_->ops.size() >= kMaxOps) return void(lexer_.fail_at(offset, fmt::format("Expected at most {} ops", kMaxOps)));
    if (symbols_.buffers.contains(name)) return void(lexer_.fail_at(offset, fmt::format("Expected a new name, found '{}' again", name)));
    const auto type = ir::parse_type(lexer_, symbols_.types);
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
    source_.places.push_back(offset);
    dag_->ops.push_back(std::move(op));
  }

  /// `M = 512` or `T = float32`
  void param() {
    const size_t offset = lexer_.peek().offset;
    Param p{.name = std::string(lexer_.identifier("the name of a parameter")), .value = int64_t{0}};
    if (source_.params.size() >= kMaxParams) return void(lexer_.fail_at(offset, fmt::format("Expected at most {} parameters", kMaxParams)));
    if (!ir::is_identifier(p.name) || parse_dtype(p.name)) return void(lexer_.fail_at(offset, fmt::format("Expected a name, found '{}', which has a meaning", p.name)));
    if (symbols_.constants.contains(p.name) || symbols_.types.contains(p.name))
      return void(lexer_.fail_at(offset, fmt::format("Expected a new parameter, found '{}' again", p.name)));
    lexer_.expect("=");
    p.begin = lexer_.peek().offset;
    const std::string word(lexer_.peek().text);
    p.end = p.begin + word.size();
    if (const auto type = parse_dtype(word); type && type->is_scalar()) {
      lexer_.take();
      p.value = *type;
      symbols_.types.emplace(p.name, *type);
    } else {
      const bool literal = lexer_.peek().kind == ir::TokenKind::number || lexer_.is_symbol("-");
      const auto value = expression();
      if (!value) return;
      const std::string_view written = trim(text_.substr(p.begin, text_.find_first_of("#\n", p.begin) - p.begin));
      p.derived = !literal || written.find_first_not_of("-0123456789") != std::string_view::npos;
      p.end = p.begin + written.size();
      p.value = *value;
      symbols_.constants.emplace(p.name, *value);
    }
    source_.params.push_back(std::move(p));
  }

  /// Its words are looked at by whoever runs it; here they only have to be words.
  void schedule() {
    source_.schedule = lexer_.peek().offset + lexer_.peek().text.size();
    lexer_.take();
    if (text_.size() > kMaxSource) return void(lexer_.fail(fmt::format("Expected a text of at most {} KiB, found {}", kMaxSource >> 10, text_.size() >> 10)));
    while (lexer_.ok() && !lexer_.at_end()) lexer_.take();
    dag_->source = text_;
  }

  void placeholder(Op& op) {
    lexer_.expect("(");
    if (lexer_.accept_word("constant"))
      op.role = Role::constant;
    else if (!lexer_.is_symbol(")"))
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
        const auto extent = integer();
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

  /// An integer, or an expression over parameters.
  std::optional<int64_t> integer() { return source_.params.empty() ? lexer_.integer() : expression(); }
  std::optional<int64_t> expression() {
    const size_t offset = lexer_.peek().offset;
    const auto e = ir::ExprParser(lexer_, {.constants = symbols_.constants}).parse();
    if (!e) return std::nullopt;
    if (const auto v = ir::as_int(*e)) return v;  // constants are folded as they are read
    lexer_.fail_at(offset, "Expected an integer, or an expression over parameters that gives one");
    return std::nullopt;
  }

  /// `[1, 2]`
  std::optional<std::vector<int64_t>> integers() {
    std::vector<int64_t> out;
    lexer_.expect("[");
    if (lexer_.accept("]")) return out;
    do {
      const auto v = integer();
      if (!v) return std::nullopt;
      out.push_back(*v);
    } while (lexer_.accept(","));
    if (!lexer_.expect("]")) return std::nullopt;
    return out;
  }

  void outputs(size_t at) {
    outputs_at_ = at;
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

  std::string_view text_;
  ir::Lexer lexer_;
  ir::Symbols symbols_;
  Source source_;
  size_t outputs_at_ = 0;
  std::shared_ptr<Dag> dag_ = std::make_shared<Dag>();
  bool finished_ = false;
};

}  // namespace

Expected<Source> parse_source(std::string_view text) { return Parser(text).run(); }

Expected<DagPtr> parse_dag(std::string_view text) {
  TW_TRY(Source source, parse_source(text));
  return std::move(source.dag);
}

Expected<std::string> with_args(std::string_view text, std::span<const int64_t> args, const std::optional<DType>& dtype) {
  TW_TRY(const Source source, parse_source(text));
  std::vector<std::pair<const Param*, std::string>> changes;
  std::vector<std::string> names;
  bool typed = false;
  for (const Param& p : source.params) {
    if (p.derived) continue;
    if (std::holds_alternative<int64_t>(p.value)) {
      if (names.size() < args.size()) changes.emplace_back(&p, std::to_string(args[names.size()]));
      names.push_back(p.name);
    } else if (dtype && !typed) {
      changes.emplace_back(&p, dtype->name());
      typed = true;
    }
  }
  if (args.size() > names.size())
    return Error(ErrorCode::invalid_argument, fmt::format("Expected at most {} arguments ({}), found {}", names.size(), fmt::join(names, ", "), args.size()));
  if (dtype && !typed) return Error(ErrorCode::invalid_argument, "Expected a parameter that is a type, as in 'param T = float32', found none");
  std::string out(text);
  for (size_t k = changes.size(); k-- > 0;) out.replace(changes[k].first->begin, changes[k].first->end - changes[k].first->begin, changes[k].second);
  TW_CHECK(parse_source(out));
  return out;
}

std::string leading_comment(std::string_view text) {
  std::string out;
  while (!text.empty() && text.front() == '#') {
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t begin = std::min(end, text.find_first_not_of("# "));
    out += std::string(text.substr(std::min(begin, end), end - std::min(begin, end))) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace tw::te
