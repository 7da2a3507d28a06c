// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/parse.h"

#include <algorithm>
#include <functional>

#include "engine/base/text.h"
#include "engine/ir/equal.h"
#include "engine/ir/expr_parser.h"
#include "engine/tir/print.h"

namespace tw::tir {

namespace {

/// Statements nest at most this deep, so that no text can exhaust the stack of any walk.
constexpr int kMaxDepth = 300;
constexpr int64_t kMaxElements = int64_t{1} << 48;
/// More groups of copies, and larger tiles of a warp, than any processor has.
constexpr int64_t kMaxPending = 64, kMaxTile = 1024;

struct Line {
  size_t indent, begin, end;
};

/// The lines that say something.
std::vector<Line> split(std::string_view text) {
  std::vector<Line> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t first = std::min(text.find_first_not_of(' ', begin), end);
    const std::string_view rest = text.substr(first, end - first);
    if (!trim(rest).empty() && rest[0] != '#') out.push_back({first - begin, first, end});
    begin = end + 1;
  }
  return out;
}

using MaybeStmt = std::optional<Stmt>;

/// Reads line by line. After an error every reader gives nothing.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), lines_(split(text)) {}

  Expected<Func> run() {
    std::optional<Func> f = function();
    if (f && next_ < lines_.size()) fail_line("Expected the end of the function");
    if (error_) return *error_;
    return std::move(*f);
  }

 private:
  bool ok() const { return !error_; }
  std::nullopt_t fail(const ir::Lexer& lexer) {
    if (!error_) error_ = lexer.error();
    return std::nullopt;
  }
  /// An error at the next line, or at the end of the text.
  std::nullopt_t fail_line(std::string message) {
    ir::Lexer lexer(text_, text_.size(), text_.size());
    lexer.fail_at(next_ < lines_.size() ? lines_[next_].begin : text_.size(), std::move(message));
    return fail(lexer);
  }
  ir::Lexer lexer_of(const Line& l) const { return ir::Lexer(text_, l.begin, l.end); }
  bool finish(ir::Lexer& lexer) {
    if (lexer.ok() && !lexer.at_end()) lexer.fail_expected("the end of the line");
    if (!lexer.ok()) fail(lexer);
    return lexer.ok();
  }

  std::optional<std::vector<int64_t>> shape(ir::Lexer& lexer) {
    std::vector<int64_t> out;
    int64_t elements = 1;
    lexer.expect("(");
    while (lexer.ok() && !lexer.is_symbol(")")) {
      const size_t offset = lexer.peek().offset;
      const auto d = lexer.integer();
      if (!d) return std::nullopt;
      if (*d < 1 || *d > kMaxElements / elements) {
        lexer.fail_at(offset, "Expected a shape of 1 to 2^48 elements");
        return std::nullopt;
      }
      elements *= *d;
      out.push_back(*d);
      if (!lexer.accept(",")) break;
    }
    if (!lexer.expect(")")) return std::nullopt;
    return out;
  }

  /// `(4, 8), "float32"`
  std::optional<std::pair<std::vector<int64_t>, DType>> array_type(ir::Lexer& lexer) {
    auto dims = shape(lexer);
    lexer.expect(",");
    const size_t offset = lexer.peek().offset;
    const auto name = lexer.string();
    if (!dims || !name) return std::nullopt;
    const auto t = parse_dtype(*name);
    if (t && t->is_scalar()) return std::pair(std::move(*dims), *t);
    lexer.fail_at(offset, t ? "Expected a scalar element type" : t.error().message);
    return std::nullopt;
  }

  std::optional<Func> function() {
    Func f{.name = {}, .params = {}, .num_outputs = 0, .body = nop()};
    if (lines_.size() < 3) return fail_line("Expected '@T.prim_func', 'def', 'T.func_attr' and a body");
    ir::Lexer decorator = lexer_of(lines_[next_]);
    decorator.expect("@");
    decorator.expect_word("T.prim_func");
    if (!finish(decorator)) return std::nullopt;
    ++next_;
    ir::Lexer head = lexer_of(lines_[next_]);
    header(head, f);
    if (!finish(head)) return std::nullopt;
    ++next_;
    if (lines_[next_].indent == 0) return fail_line("Expected an indented body");
    ir::Lexer attributes = lexer_of(lines_[next_]);
    func_attr(attributes, f);
    if (!finish(attributes)) return std::nullopt;
    const size_t indent = lines_[next_++].indent;
    MaybeStmt body = block(indent, 0);
    if (!body) return std::nullopt;
    f.body = std::move(*body);
    return f;
  }

  void header(ir::Lexer& lexer, Func& f) {
    lexer.expect_word("def");
    f.name = lexer.identifier("the name of the function");
    lexer.expect("(");
    while (lexer.ok() && !lexer.is_symbol(")")) {
      const size_t offset = lexer.peek().offset;
      const std::string name(lexer.identifier("the name of a parameter"));
      lexer.expect(":");
      lexer.expect_word("T.Buffer");
      lexer.expect("(");
      const auto type = array_type(lexer);
      lexer.expect(")");
      if (!type || !lexer.ok()) return;
      const Buffer b = ir::make_buffer(name, type->second, type->first);
      if (!symbols_.buffers.emplace(name, b).second) return void(lexer.fail_at(offset, fmt::format("Expected a new name, found '{}' again", name)));
      f.params.push_back(b);
      if (!lexer.accept(",")) break;
    }
    lexer.expect(")");
    lexer.expect(":");
  }

  void func_attr(ir::Lexer& lexer, Func& f) {
    lexer.expect_word("T.func_attr");
    lexer.expect("(");
    lexer.expect("{");
    bool has_outputs = false;
    do {
      const size_t offset = lexer.peek().offset;
      const auto key = lexer.string();
      lexer.expect(":");
      if (!key || !lexer.ok()) return;
      if (*key == "global_symbol") {
        if (auto name = lexer.string()) f.name = std::move(*name);
      } else if (*key == "num_outputs") {
        const auto n = lexer.integer();
        if (!n) return;
        if (*n < 0 || *n > static_cast<int64_t>(f.params.size()))
          return void(lexer.fail_at(offset, fmt::format("Expected at most {} outputs, found {}", f.params.size(), *n)));
        f.num_outputs = static_cast<int>(*n);
        has_outputs = true;
      } else {
        return void(lexer.fail_at(offset, fmt::format("Expected the attribute 'num_outputs' or 'global_symbol', found '{}'", *key)));
      }
    } while (lexer.accept(","));
    if (!has_outputs) lexer.fail_expected("the attribute 'num_outputs'");
    lexer.expect("}");
    lexer.expect(")");
  }

  /// The block that starts at the next line, which must be deeper than `outer`.
  MaybeStmt inner_block(size_t outer, int depth) {
    if (next_ >= lines_.size() || lines_[next_].indent <= outer) return fail_line("Expected an indented block");
    return block(lines_[next_].indent, depth + 1);
  }

  /// Statements at this indent up to the end of the block.
  MaybeStmt block(size_t indent, int depth) {
    if (depth > kMaxDepth) return fail_line(fmt::format("Expected at most {} levels of statements", kMaxDepth));
    std::vector<Stmt> stmts;
    const size_t first = next_;
    while (ok() && next_ < lines_.size() && lines_[next_].indent == indent) {
      MaybeStmt s = statement(indent, depth);
      if (!s) return std::nullopt;
      stmts.push_back(std::move(*s));
    }
    if (next_ < lines_.size() && lines_[next_].indent > indent)
      return fail_line(fmt::format("Expected an indent of {} spaces, found {}", indent, lines_[next_].indent));
    if (next_ == first) return fail_line("Expected a statement");
    return seq(std::move(stmts));
  }

  /// What stands after an allocation or let in the same block; a block may end with it.
  MaybeStmt rest_of_block(size_t indent, int depth) {
    if (next_ >= lines_.size() || lines_[next_].indent < indent) return fail_line("Expected a statement after an allocation or definition");
    return block(indent, depth + 1);
  }

  MaybeStmt statement(size_t indent, int depth) {
    ir::Lexer lexer = lexer_of(lines_[next_]);
    const std::string word(lexer.peek().text);
    ++next_;
    if (word == "pass") {
      lexer.take();
      return finish(lexer) ? MaybeStmt(nop()) : std::nullopt;
    }
    if (word == "for") return loop(lexer, indent, depth);
    if (word == "if") return condition(lexer, indent, depth);
    if (word == "with") return with_block(lexer, indent, depth);
    if (word == "T.tvm_storage_sync") return barrier(lexer);
    if (word == "T.all_reduce") return thread_reduction(lexer);
    if (word == "T.wait_copies") return wait(lexer);
    if (word == "T.warp_mma") return product(lexer);
    if (lexer.peek().kind != ir::TokenKind::identifier) {
      lexer.fail_expected("a statement");
      return fail(lexer);
    }
    ir::Lexer ahead = lexer;
    ahead.take();
    if (ahead.is_symbol(":")) return definition(lexer, indent, depth);
    if (ahead.is_symbol("=")) return allocation(lexer, indent, depth);
    return assignment(lexer);
  }

  std::optional<Expr> expression(ir::Lexer& lexer) { return ir::ExprParser(lexer, symbols_).parse(); }

  /// An expression of the type, or an error.
  std::optional<Expr> expression_of(ir::Lexer& lexer, DType t) {
    const size_t offset = lexer.peek().offset;
    auto e = expression(lexer);
    if (!e || (*e)->dtype == t) return e;
    lexer.fail_at(offset, fmt::format("Expected type {}, found {}", t.name(), (*e)->dtype.name()));
    return std::nullopt;
  }

  /// Runs `body` with a variable or buffer in sight. Names are not reused inside their scope.
  template <class Table, class Value, class Body>
  MaybeStmt in_scope(ir::Lexer& lexer, Table& table, const std::string& name, const Value& value, Body body) {
    if (!table.emplace(name, value).second) {
      lexer.fail(fmt::format("Expected a new name, found '{}' again", name));
      return fail(lexer);
    }
    MaybeStmt s = body();
    table.erase(name);
    return s;
  }

  MaybeStmt loop(ir::Lexer& lexer, size_t indent, int depth) {
    lexer.take();
    const std::string name(lexer.identifier("a loop variable"));
    lexer.expect_word("in");
    const ir::Token kind_token = lexer.take();
    std::optional<ForKind> kind;
    for (const ForKind k : {ForKind::serial, ForKind::parallel, ForKind::vectorized, ForKind::unrolled, ForKind::unrolled_explicit, ForKind::block_x})
      if (kind_token.text == std::string("T.") + for_kind_name(k)) kind = k;
    if (!kind) lexer.fail_at(kind_token.offset, "Expected 'T.serial', 'T.parallel', 'T.vectorized', 'T.unroll', 'T.unroll_explicit' or 'T.thread_binding'");
    lexer.expect("(");
    auto first = expression_of(lexer, ir::kIndex);
    std::optional<Expr> end;
    const bool bound = kind && is_bound(*kind);
    std::optional<int64_t> unroll;
    if (bound) {
      lexer.expect(",");
      kind = thread(lexer);
    }
    while (!unroll && lexer.accept(",")) {
      if (lexer.accept_word("auto_unroll") && lexer.expect("="))
        unroll = lexer.integer();
      else if (!end)
        end = expression_of(lexer, ir::kIndex);
    }
    lexer.expect(")");
    lexer.expect(":");
    if (!finish(lexer)) return std::nullopt;
    const Var var = ir::make_var(name);
    const Expr min = end ? *first : ir::index(0), extent = end ? extent_of(*first, *end) : *first;
    return in_scope(lexer, symbols_.vars, name, var, [&]() -> MaybeStmt {
      const MaybeStmt body = inner_block(indent, depth);
      if (!body) return std::nullopt;
      return make_for(var, min, extent, *kind, *body, {}, unroll.value_or(-1));
    });
  }

  /// `thread="threadIdx.x"`
  std::optional<ForKind> thread(ir::Lexer& lexer) {
    lexer.expect_word("thread");
    lexer.expect("=");
    const size_t offset = lexer.peek().offset;
    const auto name = lexer.string();
    for (int k = static_cast<int>(ForKind::block_x); name && k <= static_cast<int>(ForKind::vthread); ++k)
      if (*name == thread_name(static_cast<ForKind>(k))) return static_cast<ForKind>(k);
    lexer.fail_at(offset, "Expected \"blockIdx.x\" to \"blockIdx.z\", \"threadIdx.x\" to \"threadIdx.z\" or \"vthread\"");
    return std::nullopt;
  }

  /// The extent that the printer added to `min` to write `end`.
  static Expr extent_of(const Expr& min, const Expr& end) {
    if (ir::structural_equal(min, end)) return ir::index(0);
    const auto* sum = ir::as<ir::BinaryNode>(end);
    if (sum && sum->op == ir::BinaryOp::add && ir::structural_equal(sum->a, min)) return sum->b;
    return end - min;
  }

  MaybeStmt condition(ir::Lexer& lexer, size_t indent, int depth) {
    lexer.take();
    const size_t offset = lexer.peek().offset;
    const auto cond = expression(lexer);
    if (cond && (*cond)->dtype.element() != kBool) lexer.fail_at(offset, "Expected type bool, found " + (*cond)->dtype.name());
    lexer.expect(":");
    if (!finish(lexer)) return std::nullopt;
    const MaybeStmt then_body = inner_block(indent, depth);
    if (!then_body) return std::nullopt;
    MaybeStmt else_body;
    if (next_ < lines_.size() && lines_[next_].indent == indent) {
      ir::Lexer other = lexer_of(lines_[next_]);
      if (other.accept_word("else")) {
        other.expect(":");
        if (!finish(other)) return std::nullopt;
        ++next_;
        else_body = inner_block(indent, depth);
        if (!else_body) return std::nullopt;
      }
    }
    return if_then(*cond, *then_body, else_body);
  }

  std::optional<Buffer> buffer(ir::Lexer& lexer, const std::string& name) {
    lexer.expect_word("T.alloc_buffer");
    lexer.expect("(");
    const auto type = array_type(lexer);
    lexer.expect(",");
    lexer.expect_word("scope");
    lexer.expect("=");
    const size_t offset = lexer.peek().offset;
    const auto scope_text = lexer.string();
    lexer.expect(")");
    if (!lexer.ok()) return std::nullopt;
    for (const ir::Scope s : {ir::Scope::local, ir::Scope::global, ir::Scope::shared})
      if (*scope_text == ir::scope_name(s)) return ir::make_buffer(name, type->second, type->first, s);
    lexer.fail_at(offset, "Expected the scope \"local\", \"global\" or \"shared\"");
    return std::nullopt;
  }

  MaybeStmt alloc_in(ir::Lexer& lexer, const Buffer& b, const std::function<MaybeStmt()>& read_body) {
    return in_scope(lexer, symbols_.buffers, b->name, b, [&]() -> MaybeStmt {
      const MaybeStmt body = read_body();
      if (!body) return std::nullopt;
      return alloc(b, *body);
    });
  }

  MaybeStmt let_in(ir::Lexer& lexer, const std::string& name, const Expr& value, const std::function<MaybeStmt()>& read_body) {
    const Var var = ir::make_var(name, value->dtype);
    return in_scope(lexer, symbols_.vars, name, var, [&]() -> MaybeStmt {
      const MaybeStmt body = read_body();
      if (!body) return std::nullopt;
      return let(var, value, *body);
    });
  }

  /// `name = T.alloc_buffer(...)`, in force to the end of the block
  MaybeStmt allocation(ir::Lexer& lexer, size_t indent, int depth) {
    const std::string name(lexer.take().text);
    lexer.take();
    const auto b = buffer(lexer, name);
    if (!finish(lexer)) return std::nullopt;
    return alloc_in(lexer, *b, [&] { return rest_of_block(indent, depth); });
  }

  /// `name: T.type = value`, in force to the end of the block
  MaybeStmt definition(ir::Lexer& lexer, size_t indent, int depth) {
    const std::string name(lexer.take().text);
    lexer.take();
    const ir::Token t = lexer.take();
    const auto type = parse_dtype(t.text.starts_with("T.") ? t.text.substr(2) : t.text);
    if (!type) lexer.fail_at(t.offset, type.error().message);
    lexer.expect("=");
    if (!lexer.ok()) return fail(lexer);
    const auto value = expression_of(lexer, *type);
    if (!finish(lexer)) return std::nullopt;
    return let_in(lexer, name, *value, [&] { return rest_of_block(indent, depth); });
  }

  /// `with T.alloc_buffer(...) as name:`, `with T.LetStmt(value) as name:` or `with T.async_copies():`
  MaybeStmt with_block(ir::Lexer& lexer, size_t indent, int depth) {
    lexer.take();
    std::optional<Expr> value;
    std::optional<Buffer> array;
    if (lexer.accept_word("T.async_copies")) {
      lexer.expect("(");
      lexer.expect(")");
      lexer.expect(":");
      if (!finish(lexer)) return std::nullopt;
      const MaybeStmt body = inner_block(indent, depth);
      return body ? MaybeStmt(make_async(*body)) : std::nullopt;
    }
    if (lexer.accept_word("T.LetStmt")) {
      lexer.expect("(");
      value = expression(lexer);
      lexer.expect(")");
    } else {
      array = buffer(lexer, "");
    }
    lexer.expect_word("as");
    const std::string name(lexer.identifier("a name"));
    lexer.expect(":");
    if (!finish(lexer)) return std::nullopt;
    const auto body = [&] { return inner_block(indent, depth); };
    if (value) return let_in(lexer, name, *value, body);
    return alloc_in(lexer, ir::make_buffer(name, (*array)->dtype, (*array)->shape, (*array)->scope), body);
  }

  /// `T.tvm_storage_sync("shared")`
  MaybeStmt barrier(ir::Lexer& lexer) {
    lexer.take();
    lexer.expect("(");
    const size_t offset = lexer.peek().offset;
    const auto scope = lexer.string();
    if (scope && *scope != "shared") lexer.fail_at(offset, fmt::format("Expected the scope \"shared\", found '{}'", *scope));
    lexer.expect(")");
    return finish(lexer) ? MaybeStmt(make_sync()) : std::nullopt;
  }

  /// `T.wait_copies(1)`
  MaybeStmt wait(ir::Lexer& lexer) {
    lexer.take();
    lexer.expect("(");
    const auto pending = count(lexer, 0, kMaxPending);
    lexer.expect(")");
    return finish(lexer) ? MaybeStmt(make_wait(static_cast<int>(*pending))) : std::nullopt;
  }

  /// A number from lo to hi.
  std::optional<int64_t> count(ir::Lexer& lexer, int64_t lo, int64_t hi) {
    const size_t offset = lexer.peek().offset;
    const auto n = lexer.integer();
    if (n && (*n < lo || *n > hi)) lexer.fail_at(offset, fmt::format("Expected a number from {} to {}, found {}", lo, hi, *n));
    return n;
  }

  std::optional<Expr> element(ir::Lexer& lexer) {
    const size_t offset = lexer.peek().offset;
    auto e = expression(lexer);
    if (e && !ir::as<ir::LoadNode>(*e)) lexer.fail_at(offset, "Expected an array element");
    return e;
  }

  std::optional<MmaOperand> operand(ir::Lexer& lexer) {
    auto first = element(lexer);
    lexer.expect(",");
    const auto stride = count(lexer, 1, kMaxElements);
    lexer.expect(",");
    const size_t offset = lexer.peek().offset;
    const auto order = lexer.string();
    if (order && *order != "row" && *order != "depth") lexer.fail_at(offset, fmt::format("Expected \"row\" or \"depth\", found '{}'", *order));
    if (!first || !lexer.ok()) return std::nullopt;
    return MmaOperand{std::move(*first), *stride, *order == "depth"};
  }

  /// `T.warp_mma(acc[0], X[0], 40, "row", Y[0], 40, "depth", shape=(16, 8, 16))`
  MaybeStmt product(ir::Lexer& lexer) {
    lexer.take();
    lexer.expect("(");
    auto sums = element(lexer);
    lexer.expect(",");
    auto a = operand(lexer);
    lexer.expect(",");
    auto b = operand(lexer);
    lexer.expect(",");
    lexer.expect_word("shape");
    lexer.expect("=");
    const size_t offset = lexer.peek().offset;
    const auto sizes = shape(lexer);
    lexer.expect(")");
    const auto fits = [](int64_t n) { return n <= kMaxTile; };
    if (sizes && (sizes->size() != 3 || !std::all_of(sizes->begin(), sizes->end(), fits)))
      lexer.fail_at(offset, fmt::format("Expected three extents of at most {}", kMaxTile));
    if (!finish(lexer)) return std::nullopt;
    const auto extent = [&](size_t d) { return static_cast<int>((*sizes)[d]); };
    return make_mma(std::move(*sums), std::move(*a), std::move(*b), extent(0), extent(1), extent(2));
  }

  /// `T.all_reduce(acc[0], "add", thread="threadIdx.x")`
  MaybeStmt thread_reduction(ir::Lexer& lexer) {
    lexer.take();
    lexer.expect("(");
    const size_t offset = lexer.peek().offset;
    const auto element = expression(lexer);
    const auto* place = element ? ir::as<ir::LoadNode>(*element) : nullptr;
    if (element && !place) lexer.fail_at(offset, "Expected an array element to combine");
    lexer.expect(",");
    const size_t name_offset = lexer.peek().offset;
    const auto name = lexer.string();
    std::optional<ir::BinaryOp> op;
    for (const ir::BinaryOp c : {ir::BinaryOp::add, ir::BinaryOp::mul, ir::BinaryOp::min, ir::BinaryOp::max})
      if (name && *name == reduction_name(c)) op = c;
    if (name && !op) lexer.fail_at(name_offset, fmt::format("Expected \"add\", \"mul\", \"min\" or \"max\", found '{}'", *name));
    lexer.expect(",");
    const auto coordinate = lexer.ok() ? thread(lexer) : std::nullopt;
    lexer.expect(")");
    if (!finish(lexer)) return std::nullopt;
    return all_reduce(place->buffer, place->indices, *op, *coordinate);
  }

  MaybeStmt assignment(ir::Lexer& lexer) {
    const size_t offset = lexer.peek().offset;
    const auto target = expression(lexer);
    const auto* to = target ? ir::as<ir::LoadNode>(*target) : nullptr;
    if (target && !to) lexer.fail_at(offset, "Expected an array element to store to");
    lexer.expect("=");
    const size_t value_offset = lexer.peek().offset;
    const auto value = lexer.ok() ? expression(lexer) : std::nullopt;
    if (!finish(lexer)) return std::nullopt;
    const DType t = (*value)->dtype;
    if (t.element() != to->buffer->dtype || (t.lanes != 1 && t.lanes != to->dtype.lanes)) {
      lexer.fail_at(value_offset, fmt::format("Expected a value of type {}, found {}", to->dtype.name(), t.name()));
      return fail(lexer);
    }
    return store(to->buffer, to->indices, *value);
  }

  std::string_view text_;
  std::vector<Line> lines_;
  size_t next_ = 0;
  ir::Symbols symbols_;
  std::optional<Error> error_;
};

}  // namespace

Expected<Func> parse_func(std::string_view text) { return Parser(text).run(); }

}  // namespace tw::tir
