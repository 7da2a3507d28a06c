// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/ir/lexer.h"
#include "engine/space/own/script.h"

namespace tw::space::own {

namespace {

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"or", 1}, {"and", 2}, {"==", 4}, {"!=", 4}, {"<", 4}, {"<=", 4}, {">", 4}, {">=", 4}, {"+", 5}, {"-", 5}, {"*", 6}, {"//", 6}, {"%", 6}};
constexpr int kNot = 3, kUnary = 7;

class ScriptParser {
 public:
  explicit ScriptParser(Script& script) : script_(script), lexer_(script.text, script.source.schedule, script.text.size()) {}

  Expected<void> run() {
    while (lexer_.ok() && !lexer_.at_end()) {
      TW_CHECK(statement());
    }
    if (!lexer_.ok()) return lexer_.error();
    return {};
  }

 private:
  Expected<void> statement() {
    Statement s{.offset = lexer_.peek().offset};
    std::string word(lexer_.identifier("a knob or a step"));
    if (lexer_.is_symbol(",") || lexer_.is_symbol("=")) {
      result(s, word);
      while (lexer_.accept(",")) result(s, std::string(lexer_.identifier("the name of a loop or stage")));
      lexer_.expect("=");
      s.offset = lexer_.peek().offset;
      word = lexer_.identifier("a step, such as 'split'");
    }
    s.verb = word;
    arguments(s);
    if (lexer_.accept_word("if")) s.condition = term();
    if (!lexer_.ok()) return lexer_.error();
    if (++statements_ > kMaxStatements) return script_.error(ErrorCode::parse_error, s.offset, fmt::format("Expected at most {} statements", kMaxStatements));
    return put(std::move(s));
  }

  void result(Statement& s, const std::string& name) {
    if (name.find('.') != std::string::npos || !ir::is_identifier(name) || s.results.size() >= kMaxResults)
      lexer_.fail_at(s.offset, fmt::format("Expected up to {} names without a dot before '=', found '{}'", kMaxResults, name));
    s.results.push_back(name);
  }

  Expected<void> put(Statement s) {
    const bool declares = is_definition(s.verb) || s.verb == "require" || s.verb == "start";
    if (!declares) {
      script_.steps.push_back(std::move(s));
      return {};
    }
    if (!s.results.empty() || s.condition)
      return script_.error(ErrorCode::parse_error, s.offset, fmt::format("Expected '{}' by itself, as it holds for all points", s.verb));
    if (s.verb == "require") {
      script_.requirements.push_back(std::move(s));
      return {};
    }
    if (s.verb == "start") {
      if (script_.start) return script_.error(ErrorCode::parse_error, s.offset, "Expected one 'start', found another");
      script_.start = std::move(s);
      return {};
    }
    TW_TRY(KnobDefinition knob, knob_definition(script_, s));
    if (script_.knob(knob.name)) return script_.error(ErrorCode::parse_error, s.offset, fmt::format("Expected a new name, found knob '{}' again", knob.name));
    if (script_.knobs.size() >= kMaxKnobs) return script_.error(ErrorCode::parse_error, s.offset, fmt::format("Expected at most {} knobs", kMaxKnobs));
    script_.knobs.push_back(std::move(knob));
    return {};
  }

  void arguments(Statement& s) {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    do {
      const ir::Token first = lexer_.peek();
      Term value = term();
      if (lexer_.ok() && value.kind == Term::Kind::name && lexer_.accept("=")) {
        const std::string name = value.text;
        if (!s.options.emplace(name, term()).second) lexer_.fail_at(first.offset, fmt::format("Expected every option once, found '{}' again", name));
      } else if (!s.options.empty()) {
        lexer_.fail_at(first.offset, "Expected options such as 'policy=all' behind all other arguments");
      } else {
        s.arguments.push_back(std::move(value));
      }
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }

  Term operation(std::string text, std::vector<Term> parts, size_t offset) {
    Term t{.kind = Term::Kind::operation, .offset = offset};
    t.text = std::move(text);
    t.parts = std::move(parts);
    return t;
  }

  Term term(int lowest = 1) {
    if (++nesting_ > kMaxNesting) lexer_.fail(fmt::format("Expected at most {} levels of nesting", kMaxNesting));
    Term left = lexer_.ok() ? unary() : Term{};
    int height = 0;
    while (lexer_.ok()) {
      const Operator* found = nullptr;
      for (const Operator& o : kOperators)
        if (lexer_.is_symbol(o.text) || lexer_.is_word(o.text)) found = &o;
      if (!found || found->precedence < lowest) break;
      if (++height > kMaxNesting) lexer_.fail(fmt::format("Expected at most {} operators in a row", kMaxNesting));
      const ir::Token t = lexer_.take();
      Term right = term(found->precedence + 1);
      left = operation(std::string(t.text), {std::move(left), std::move(right)}, t.offset);
    }
    --nesting_;
    return left;
  }

  Term unary() {
    const ir::Token t = lexer_.peek();
    if (lexer_.accept_word("not")) return operation("not", {term(kNot)}, t.offset);
    if (lexer_.accept("-")) {
      Term value = term(kUnary);
      if (value.kind == Term::Kind::number) {
        value.number = -value.number;
        value.offset = t.offset;
        return value;
      }
      return operation("negative", {std::move(value)}, t.offset);
    }
    return primary();
  }

  Term primary() {
    const ir::Token t = lexer_.peek();
    Term out{.offset = t.offset};
    if (t.kind == ir::TokenKind::number) {
      out.number = lexer_.integer().value_or(0);
      if (out.number > kMaxNumber) lexer_.fail_at(t.offset, fmt::format("Expected numbers up to {}, found {}", kMaxNumber, out.number));
      return out;
    }
    if (t.kind == ir::TokenKind::string) {
      out.kind = Term::Kind::text;
      out.text = lexer_.string().value_or("");
      return out;
    }
    if (lexer_.accept("(")) {
      out = term();
      lexer_.expect(")");
      return out;
    }
    if (lexer_.accept("[")) {
      out.kind = Term::Kind::list;
      if (lexer_.accept("]")) return out;
      do {
        out.parts.push_back(term());
      } while (lexer_.ok() && lexer_.accept(","));
      lexer_.expect("]");
      return out;
    }
    return word(t);
  }

  Term word(const ir::Token& t) {
    Term out{.kind = Term::Kind::name, .offset = t.offset};
    out.text = lexer_.identifier("a value");
    if (out.text == "True" || out.text == "False") return Term{.number = out.text == "True", .offset = t.offset};
    for (const te::Param& p : script_.source.params)
      if (p.name == out.text && std::holds_alternative<int64_t>(p.value)) return Term{.number = std::get<int64_t>(p.value), .offset = t.offset};
    if ((out.text == "min" || out.text == "max") && lexer_.accept("(")) {
      Term a = term();
      lexer_.expect(",");
      Term b = term();
      lexer_.expect(")");
      return operation(out.text, {std::move(a), std::move(b)}, t.offset);
    }
    if (lexer_.accept("[")) {
      out.kind = Term::Kind::item;
      out.parts.push_back(term());
      lexer_.expect("]");
    }
    return out;
  }

  Script& script_;
  ir::Lexer lexer_;
  size_t statements_ = 0;
  int nesting_ = 0;
};

}  // namespace

const KnobDefinition* Script::knob(std::string_view name) const {
  for (const KnobDefinition& k : knobs)
    if (k.name == name) return &k;
  return nullptr;
}

Error Script::error(ErrorCode code, size_t offset, std::string message) const { return Error(code, printable(message), ir::place_text(text, offset)); }

Expected<Script> parse_script(const std::string& text) {
  Script script;
  script.text = text;
  TW_TRY(script.source, te::parse_source(text));
  if (!script.source.has_schedule()) return script;
  TW_CHECK(ScriptParser(script).run());
  return script;
}

}  // namespace tw::space::own
