// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/symbols.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "engine/base/text.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

/// Recursive descent over calls, quoted names, numbers and keywords.
class SizeParser {
 public:
  SizeParser(std::string_view text, const std::map<std::string, int64_t>& symbols) : text_(text), symbols_(symbols) {}

  Expected<double> all() {
    TW_TRY(const double v, term(0));
    if (at_ != text_.size()) return bad("the end");
    return v;
  }

 private:
  Error bad(const char* expected) const {
    return Error(ErrorCode::parse_error,
                 fmt::format("Expected {} at position {} of the size '{}'", expected, at_, printable(std::string(text_.substr(0, 128)))));
  }
  void spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    spaces();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.')) ++at_;
    return text_.substr(from, at_ - from);
  }

  Expected<double> number() {
    spaces();
    double v = 0;
    const auto [end, ec] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (ec != std::errc{}) return bad("a number");
    at_ = static_cast<size_t>(end - text_.data());
    return v;
  }

  Expected<double> symbol() {
    if (!accept('\'')) return bad("a name");
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return bad("the end of a name");
    const std::string name(text_.substr(at_, end - at_));
    at_ = end + 1;
    while (accept(','))  // what is assumed about it
      if (word().empty() || !accept('=') || word().empty()) return bad("an assumption");
    if (!accept(')')) return bad("')'");
    const auto it = symbols_.find(name);
    if (it == symbols_.end()) return Error(ErrorCode::not_found, fmt::format("Expected a value of the size '{}', found none", printable(name.substr(0, 64))));
    return static_cast<double>(it->second);
  }

  Expected<double> term(int depth) {
    if (depth > torch_limits::kNesting) return Error(ErrorCode::resource_limit, fmt::format("Expected sizes nested at most {} deep, found deeper ones", torch_limits::kNesting));
    spaces();
    if (at_ < text_.size() && (text_[at_] == '-' || std::isdigit(static_cast<unsigned char>(text_[at_])))) return number();
    std::string_view name = word();
    if (name.empty() || !accept('(')) return bad("a function");
    if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(dot + 1);
    if (name == "Symbol") return symbol();
    std::vector<double> args;
    do {
      TW_TRY(const double v, term(depth + 1));
      args.push_back(v);
    } while (accept(','));
    if (!accept(')')) return bad("')'");
    return apply(name, args);
  }

  Expected<double> apply(std::string_view f, const std::vector<double>& a) const {
    if (f == "Integer" || f == "Float" || f == "IntTrueDiv" || f == "ToFloat") {
      if (f == "IntTrueDiv" && a.size() == 2) return a[0] / a[1];
      if (a.size() == 1) return a[0];
    }
    if (f == "Add" || f == "Mul" || f == "Max" || f == "Min") {
      double v = a[0];
      for (size_t i = 1; i < a.size(); ++i) v = f == "Add" ? v + a[i] : f == "Mul" ? v * a[i] : f == "Max" ? std::max(v, a[i]) : std::min(v, a[i]);
      return v;
    }
    if (a.size() == 2) {
      if (f == "Rational") return a[0] / a[1];
      if (f == "Pow" || f == "PowByNatural") return std::pow(a[0], a[1]);
      if (f == "FloorDiv" || f == "CleanDiv") return std::floor(a[0] / a[1]);
      if (f == "CeilDiv") return std::ceil(a[0] / a[1]);
      if (f == "Mod" || f == "PythonMod") return a[0] - std::floor(a[0] / a[1]) * a[1];
    }
    if (a.size() == 3 && f == "ModularIndexing") {
      const double q = std::floor(a[0] / a[1]);
      return q - std::floor(q / a[2]) * a[2];
    }
    if (a.size() == 1) {
      if (f == "floor" || f == "FloorToInt") return std::floor(a[0]);
      if (f == "ceiling" || f == "CeilToInt") return std::ceil(a[0]);
      if (f == "TruncToInt") return std::trunc(a[0]);
      if (f == "Abs") return std::abs(a[0]);
    }
    return Error(ErrorCode::unsupported, fmt::format("Sizes with the function '{}' are not supported", printable(std::string(f.substr(0, 64)))));
  }

  std::string_view text_;
  const std::map<std::string, int64_t>& symbols_;
  size_t at_ = 0;
};

}  // namespace

Expected<double> evaluate_size(std::string_view text, const std::map<std::string, int64_t>& symbols) { return SizeParser(text, symbols).all(); }

std::optional<int64_t> symbol_for(std::string_view text, const std::string& symbol, int64_t wanted) {
  const auto at0 = evaluate_size(text, {{symbol, 0}}), at1 = evaluate_size(text, {{symbol, 1}});
  const double slope = at0 && at1 ? *at1 - *at0 : 0, solved = slope != 0 ? (static_cast<double>(wanted) - *at0) / slope : -1;
  if (!(solved >= 0 && solved < 1e15)) return std::nullopt;
  const auto value = static_cast<int64_t>(solved);
  const auto back = evaluate_size(text, {{symbol, value}});
  return back && *back == static_cast<double>(wanted) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> only_symbol(std::string_view text) {
  std::optional<std::string> found;
  constexpr std::string_view kStart = "Symbol('";
  for (size_t at = text.find(kStart); at != std::string_view::npos; at = text.find(kStart, at + 1)) {
    const size_t from = at + kStart.size(), end = text.find('\'', from);
    if (end == std::string_view::npos) return std::nullopt;
    std::string name(text.substr(from, end - from));
    if (found && *found != name) return std::nullopt;
    found = std::move(name);
  }
  return found;
}

}  // namespace tw::frontends
