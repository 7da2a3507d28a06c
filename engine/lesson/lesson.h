// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/lesson/words.h"

/// A lesson as its Markdown says it; resources/docs/manual/lessons.md is its grammar.
namespace tw::lesson {

/// One action or check with its arguments.
struct Line {
  const Word* word = nullptr;
  std::vector<std::string> arguments;
  std::string text;   ///< as it is written
  size_t offset = 0;  ///< in the lesson's text
};

/// Asked of the learner: one of several choices, or a number.
struct Question {
  struct Choice {
    std::string text, hint;  ///< hint: said to who chose it wrongly
    bool right = false;
  };
  std::string text;
  std::vector<Choice> choices;  ///< exactly one is right; empty: a number is asked for
  std::string number;           ///< that is right, or the name of a fact
  double tolerance = 0;

  /// What the right choice is as an answer: its place from 1.
  std::string right() const;
};

/// A loop program to be mended, and one that is right.
struct Exercise {
  std::string text, solution;
};

struct Step {
  std::string id, title;
  std::string body;  ///< Markdown
  std::vector<Line> actions, checks, show;
  std::vector<std::string> hints;
  std::optional<Question> question;
  std::optional<Exercise> exercise;
  size_t offset = 0;

  /// Whether there is something to do; else it is read.
  bool asks() const { return !checks.empty() || question || exercise; }
};

struct Lesson {
  std::string id, title, summary;
  int minutes = 0;      ///< 0: it does not say
  std::string body;     ///< Markdown before the first step
  std::vector<Step> steps;
  std::map<std::string, std::string> texts;  ///< computations that steps open, by name
  std::string source;   ///< the whole text

  /// -1: none.
  int step(std::string_view id) const;
};

}  // namespace tw::lesson
