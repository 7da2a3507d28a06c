// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/base/text.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"

namespace tw::graph {

namespace {

using Constants = std::map<std::string, std::shared_ptr<const HostArray>>;

/// Recursive descent over the text of print.cpp. The first error stops it: every reader returns false after fail().
class Parser {
 public:
  Parser(std::string_view text, const Constants& constants) : text_(text), constants_(constants) {}

  Expected<Graph> run() {
    if (!graph()) return std::move(error_);
    TW_CHECK(verify(g_));
    return std::move(g_);
  }

 private:
  bool fail(const std::string& expected) {
    const std::string_view rest = text_.substr(at_);
    const std::string found = rest.empty() ? "the end of the text" : "'" + printable(rest.substr(0, std::min<size_t>(rest.find('\n'), 24))) + "'";
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    error_ = Error(ErrorCode::parse_error, fmt::format("Expected {}, found {}", expected, found), fmt::format("line {}", line));
    return false;
  }
  void skip_space() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])))) ++at_;
  }
  bool peek(std::string_view token) {
    skip_space();
    return text_.substr(at_, token.size()) == token;
  }
  bool accept(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }
  bool expect(std::string_view token) { return accept(token) || fail("'" + std::string(token) + "'"); }
  /// A keyword that ends at a space.
  bool accept_word(std::string_view w) { return peek(std::string(w) + " ") && accept(w); }

  static bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c && std::strchr("_./-", c)); }

  bool word(std::string& out, const char* what) {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    out = std::string(text_.substr(begin, at_ - begin));
    return !out.empty() || fail(what);
  }
  bool quoted(std::string& out) {
    if (!expect("\"")) return false;
    out.clear();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out += text_[at_++];
      } else if (text_.substr(at_, 2) == "\\x" && at_ + 4 <= text_.size()) {
        unsigned code = 0;
        if (std::from_chars(text_.data() + at_ + 2, text_.data() + at_ + 4, code, 16).ptr != text_.data() + at_ + 4) return fail("two hexadecimal digits");
        out += static_cast<char>(code);
        at_ += 4;
      } else {
        if (at_ + 1 >= text_.size()) return fail("an escaped character");
        out += text_[at_ + 1];
        at_ += 2;
      }
    }
    return expect("\"");
  }
  bool value_name(std::string& out) {
    if (!expect("%")) return false;
    if (peek("\"")) return quoted(out);
    const size_t begin = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    out = std::string(text_.substr(begin, at_ - begin));
    return !out.empty() || fail("a value name");
  }
  /// A number; `real` tells whether it was written as one.
  bool number(double& out, int64_t& integer, bool& real) {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || std::strchr("+-.", text_[at_]))) ++at_;
    const std::string_view s = text_.substr(begin, at_ - begin);
    real = s.find_first_of(".einn") != std::string_view::npos;
    const char* end = s.data() + s.size();
    const bool ok = !s.empty() && (real ? std::from_chars(s.data(), end, out).ptr == end : std::from_chars(s.data(), end, integer).ptr == end);
    if (!real) out = static_cast<double>(integer);
    if (!ok) at_ = begin;
    return ok || fail("a number");
  }
  bool integer(int64_t& out) {
    double d = 0;
    bool real = false;
    const size_t begin = at_;
    if (!number(d, out, real)) return false;
    if (real) at_ = begin;
    return !real || fail("an integer");
  }
  template <class F>
  bool list(std::string_view open, std::string_view close, F&& item) {
    if (!expect(open)) return false;
    if (accept(close)) return true;
    do {
      if (!item()) return false;
    } while (accept(","));
    return expect(close);
  }
  bool type(TensorType& t) {
    std::string name;
    if (!expect(":") || !word(name, "an element type")) return false;
    auto dtype = parse_dtype(name);
    if (!dtype) return fail("an element type instead of " + name);
    t.dtype = *dtype;
    return list("[", "]", [&] {
      int64_t d = 0;
      if (!integer(d)) return false;
      t.shape.push_back(d);
      return (d >= 0 && within_limits(t.shape)) || fail("a tensor of at most 2^40 elements");
    });
  }
  bool define(const std::string& name, TensorType t, int producer) {
    if (!by_name_.emplace(name, static_cast<int>(g_.values.size())).second) return fail("a new name instead of '" + printable(name) + "'");
    g_.values.push_back({.name = name, .type = std::move(t), .producer = producer});
    return true;
  }
  bool known(int& index) {
    std::string name;
    if (!value_name(name)) return false;
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) return fail("a value defined above instead of '" + printable(name) + "'");
    index = it->second;
    return true;
  }
  bool attr(AttrValue& out) {
    if (peek("\"")) {
      std::string s;
      if (!quoted(s)) return false;
      out = s;
      return true;
    }
    if (peek("f[")) {
      std::vector<double> v;
      if (!list("f[", "]", [&] {
            double d = 0;
            int64_t i = 0;
            bool r = false;
            return number(d, i, r) && (v.push_back(d), true);
          }))
        return false;
      out = v;
      return true;
    }
    if (peek("s[")) {
      std::vector<std::string> v;
      if (!list("s[", "]", [&] {
            std::string s;
            return quoted(s) && (v.push_back(s), true);
          }))
        return false;
      out = v;
      return true;
    }
    if (peek("[")) {
      std::vector<int64_t> v;
      if (!list("[", "]", [&] {
            int64_t i = 0;
            return integer(i) && (v.push_back(i), true);
          }))
        return false;
      out = v;
      return true;
    }
    double d = 0;
    int64_t i = 0;
    bool real = false;
    if (!number(d, i, real)) return false;
    if (real)
      out = d;
    else
      out = i;
    return true;
  }
  bool constant_data(const TensorType& t, std::shared_ptr<const HostArray>& out) {
    if (accept_word("key")) {
      std::string key;
      if (!word(key, "a content key")) return false;
      const auto it = constants_.find(key);
      if (it == constants_.end()) return fail("a constant with key " + key + " among those supplied");
      out = it->second;
      return true;
    }
    // Every element takes two characters: what cannot fit is refused before memory is asked for.
    if (t.num_elements() > static_cast<int64_t>(text_.size() - at_)) return fail(fmt::format("{} elements", t.num_elements()));
    HostArray a = HostArray::make(t.dtype, t.shape);
    int64_t n = 0;
    const bool ok = list("{", "}", [&] {
      double d = 0;
      int64_t i = 0;
      bool real = false;
      if (!number(d, i, real)) return false;
      if (n == a.num_elements()) return fail(fmt::format("{} elements", n));
      if (t.dtype.is_float())
        a.set(n++, d);
      else
        a.set_int(n++, i);
      return true;
    });
    if (!ok) return false;
    if (n != a.num_elements()) return fail(fmt::format("{} elements", a.num_elements()));
    out = std::make_shared<const HostArray>(std::move(a));
    return true;
  }
  bool node() {
    Node n;
    do {
      std::string name;
      TensorType t;
      if (!value_name(name) || !type(t)) return false;
      n.outputs.push_back(static_cast<int>(g_.values.size()));
      if (!define(name, std::move(t), static_cast<int>(g_.nodes.size()))) return false;
    } while (accept(","));
    if (!expect("=") || !word(n.op, "an operator")) return false;
    const auto argument = [&] {
      n.inputs.push_back(-1);
      return accept("_") || known(n.inputs.back());
    };
    if (!list("(", ")", argument)) return false;
    const auto attribute = [&] {
      std::string name;
      return word(name, "an attribute") && expect("=") && attr(n.attrs.values[name]);
    };
    if (peek("{") && !list("{", "}", attribute)) return false;
    if (!expect("name") || !quoted(n.name)) return false;
    int64_t group = -1;
    if (accept_word("group") && !integer(group)) return false;
    if (group < -1 || group > INT32_MAX) return fail("a group from -1 to 2^31 - 1");
    n.group = static_cast<int>(group);
    if (accept_word("from") && (!quoted(n.origin.module) || !quoted(n.origin.source))) return false;
    g_.nodes.push_back(std::move(n));
    return true;
  }
  bool statement() {
    if (accept_word("input")) {
      std::string name;
      TensorType t;
      if (!value_name(name) || !type(t)) return false;
      g_.inputs.push_back(static_cast<int>(g_.values.size()));
      return define(name, std::move(t), -1);
    }
    if (accept_word("constant")) {
      std::string name;
      TensorType t;
      if (!value_name(name) || !type(t) || !expect("=") || !define(name, t, -1)) return false;
      return constant_data(t, g_.values.back().constant);
    }
    if (accept_word("output")) {
      do {
        g_.outputs.push_back(-1);
        if (!known(g_.outputs.back())) return false;
      } while (accept(","));
      return true;
    }
    return peek("%") ? node() : fail("input, constant, output or a node");
  }
  bool graph() {
    if (!expect("graph") || !quoted(g_.name) || !expect("{")) return false;
    while (!accept("}"))
      if (!statement()) return false;
    skip_space();
    return at_ == text_.size() || fail("the end of the text");
  }

  std::string_view text_;
  const Constants& constants_;
  size_t at_ = 0;
  Graph g_;
  std::map<std::string, int> by_name_;
  Error error_;
};

}  // namespace

Expected<Graph> parse(std::string_view text, const std::map<std::string, std::shared_ptr<const HostArray>>& constants) { return Parser(text, constants).run(); }

}  // namespace tw::graph
