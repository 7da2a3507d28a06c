// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/desk.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/base/text.h"

namespace tw::lesson {
namespace {

/// Of what a person typed; a comma is a decimal point in half of the world.
std::optional<double> typed_number(std::string_view given) {
  std::string text(trim(given));
  if (text.find('.') == std::string::npos && std::count(text.begin(), text.end(), ',') == 1) text[text.find(',')] = '.';
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  return ec == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool compares(double a, const std::string& how, double b) {
  if (how == "=") return a == b;
  if (how == "!=") return a != b;
  if (how == "<") return a < b;
  if (how == "<=") return a <= b;
  if (how == ">") return a > b;
  return a >= b;
}

struct NestLoop {
  size_t depth = 0;
  std::string name, rest;
};

/// Loops of a listing of lower::print_loops.
std::vector<NestLoop> loops_of(const std::string& listing) {
  std::vector<NestLoop> loops;
  for (const std::string_view line : split_lines(listing)) {
    const std::string_view text = trim(line);
    if (!text.starts_with("for ")) continue;
    const size_t space = std::min(text.find(' ', 4), text.size());
    loops.push_back({line.find_first_not_of(' '), std::string(text.substr(4, space - 4)), std::string(text.substr(space))});
  }
  return loops;
}

/// Whether loops of these names stand in each other, outer ones first.
bool stand_in_order(const std::vector<NestLoop>& loops, const std::vector<std::string>& names) {
  for (size_t start = 0; start < loops.size(); ++start) {
    if (loops[start].name != names.front()) continue;
    size_t found = 1;
    for (size_t i = start + 1; i < loops.size() && loops[i].depth > loops[start].depth && found < names.size(); ++i) found += loops[i].name == names[found] ? 1 : 0;
    if (found == names.size()) return true;
  }
  return false;
}

bool is_marked(const std::vector<NestLoop>& loops, const std::string& name, const std::string& mark) {
  return std::any_of(loops.begin(), loops.end(), [&](const NestLoop& l) { return l.name == name && l.rest.find(" [" + mark) != std::string::npos; });
}

}  // namespace

bool has_any(std::string_view text, std::string_view wanted) {
  for (size_t begin = 0; begin <= wanted.size();) {
    const size_t end = std::min(wanted.find('|', begin), wanted.size());
    if (end > begin && text.find(wanted.substr(begin, end - begin)) != std::string_view::npos) return true;
    begin = end + 1;
  }
  return false;
}

bool holds(const Line& check, const Desk& desk) {
  const std::string name = check.word->name;
  const std::vector<std::string>& a = check.arguments;
  if (name == "view") return desk.is_in_front(a[0]);
  if (name == "perspective") return desk.perspective() == a[0];
  if (name == "task") return desk.task() == *typed_number(a[0]);
  if (name == "node") return desk.node().find(a[0]) != std::string::npos;
  if (name == "trial") return desk.has_trial(!a.empty());
  if (name == "knob") {
    const auto now = desk.knob(a[0]);
    if (!now) return false;
    const auto wanted = typed_number(a[2]);
    if (wanted && now->number) return compares(*now->number, a[1], *wanted);
    return a[1] == "=" ? now->text == a[2] : a[1] == "!=" && now->text != a[2];
  }
  if (name == "place") {
    const auto line = desk.place(a[0]);
    return line && has_any(*line, a[1]);
  }
  if (name == "code" || name == "no code") {
    const auto text = desk.code(a[0]);
    return text && !text->empty() && has_any(*text, a[1]) == (name == "code");
  }
  if (name == "loops" || name == "loop") {
    const auto listing = desk.code("loops");
    return listing && (name == "loops" ? stand_in_order(loops_of(*listing), a) : is_marked(loops_of(*listing), a[0], a[1]));
  }
  if (name == "edited loops" || name == "edited loop") {
    const auto listing = desk.edited_loops();
    return listing && (name == "edited loops" ? stand_in_order(loops_of(*listing), a) : is_marked(loops_of(*listing), a[0], a[1]));
  }
  const double left = desk.fact(a[0]), right = is_fact(a[2]) ? desk.fact(a[2]) : *typed_number(a[2]);
  return std::isfinite(left) && std::isfinite(right) && compares(left, a[1], right);
}

Expected<bool> is_right(const Question& question, const std::string& answer, const Desk& desk) {
  if (!question.choices.empty()) return answer == question.right();
  const auto given = typed_number(answer);
  if (!given) return Error(ErrorCode::invalid_argument, "Expected a number");
  const double right = is_fact(question.number) ? desk.fact(question.number) : *typed_number(question.number);
  if (!std::isfinite(right)) return Error(ErrorCode::not_found, "What this asks for is not known yet: do what the step says first");
  return std::abs(*given - right) <= question.tolerance + 1e-9 * std::abs(right);
}

}  // namespace tw::lesson
