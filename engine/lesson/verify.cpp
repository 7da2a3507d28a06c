// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/ir/lexer.h"
#include "engine/lesson/exercise.h"
#include "engine/lesson/parse.h"

namespace tw::lesson {
namespace {

const std::vector<std::string>* names_of(Argument kind, const Names& names) {
  switch (kind) {
    case Argument::network:
      return &names.networks;
    case Argument::op:
      return &names.operators;
    case Argument::space:
      return &names.spaces;
    case Argument::tuner:
      return &names.tuners;
    default:
      return nullptr;
  }
}

const char* kind_name(Argument kind) {
  return kind == Argument::network ? "a bundled network" : kind == Argument::op ? "a bundled operator" : kind == Argument::space ? "a recorded space that comes with the program" : "a tuner";
}

void verify_line(const Lesson& lesson, const Line& line, const Names& names, std::vector<Error>& problems) {
  const auto problem = [&](std::string message) { problems.emplace_back(ErrorCode::not_found, std::move(message), ir::place_text(lesson.source, line.offset)); };
  for (size_t i = 0; i < line.arguments.size(); ++i) {
    const Argument kind = i < line.word->arguments.size() ? line.word->arguments[i] : line.word->more;
    if (const auto* known = names_of(kind, names); known && std::find(known->begin(), known->end(), line.arguments[i]) == known->end()) {
      std::string list;
      for (const std::string& n : *known) list += (list.empty() ? "" : ", ") + n;
      problem(fmt::format("Expected {}, one of {}, found '{}'", kind_name(kind), list, printable(line.arguments[i])));
    }
    if (kind == Argument::target)
      if (const auto known = names.target(line.arguments[i]); !known) problem(known.error().message);
  }
}

}  // namespace

std::vector<Error> verify(const Lesson& lesson, const Names& names) {
  std::vector<Error> problems;
  for (const auto& [name, text] : lesson.texts)
    if (const auto known = names.computation(text); !known)
      problems.emplace_back(known.error().code, fmt::format("The text '{}': {}", name, known.error().message), known.error().where.empty() ? std::string() : "in it at " + known.error().where);
  for (const Step& s : lesson.steps) {
    for (const auto* lines : {&s.actions, &s.show, &s.checks})
      for (const Line& l : *lines) verify_line(lesson, l, names, problems);
    if (!s.exercise) continue;
    const std::string where = ir::place_text(lesson.source, s.offset);
    if (const auto solved = run_exercise(s.exercise->solution, s.exercise->solution); !solved)
      problems.emplace_back(ErrorCode::wrong_result, fmt::format("The solution of step '{}' is wrong: {}", s.id, solved.error().text()), where);
    else if (run_exercise(s.exercise->text, s.exercise->solution))
      problems.emplace_back(ErrorCode::wrong_result, fmt::format("Expected the exercise of step '{}' to be wrong until it is mended", s.id), where);
  }
  return problems;
}

}  // namespace tw::lesson
