// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/base/text.h"
#include "engine/ir/lexer.h"

namespace tw::lesson {
namespace {

constexpr std::string_view kFence = "```";
constexpr size_t kMaxTitle = 120;

/// The lines of a lesson one after the other, with where each begins.
class LessonReader {
 public:
  explicit LessonReader(std::string_view text) : text_(text) {}
  bool at_end() const { return at_ >= text_.size(); }
  size_t offset() const { return at_; }
  std::string_view peek() const { return text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_); }
  std::string_view take() {
    const std::string_view line = peek();
    at_ = std::min(at_ + line.size() + 1, text_.size());
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }
  Error error(size_t offset, std::string message) const { return {ErrorCode::parse_error, std::move(message), ir::place_text(text_, offset)}; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= 40 && id[0] >= 'a' && id[0] <= 'z' &&
         std::all_of(id.begin(), id.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 80 && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// Without blank lines and blanks around it.
std::string stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  return ec == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string quoted_list(std::span<const char* const> names) {
  std::string out;
  for (const char* name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

template <class List>
bool has(const List& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view n) { return n == name; });
}

struct Piece {
  std::string text;
  size_t offset;
};

class LessonParser {
 public:
  explicit LessonParser(std::string_view text) : in_(text) { lesson_.source = text; }

  Expected<Lesson> run() {
    TW_CHECK(front_matter());
    while (!in_.at_end()) {
      const size_t offset = in_.offset();
      const std::string_view line = in_.take();
      if (line.starts_with("## "))
        TW_CHECK(heading(line.substr(3), offset));
      else if (line.starts_with(kFence))
        TW_CHECK(block(line, offset));
      else
        body().append(line).push_back('\n');
    }
    if (lesson_.steps.empty()) return in_.error(in_.offset(), "Expected at least one step, a line '## id: Title'");
    TW_CHECK(finish_step());
    // Texts may stand behind the steps that open them.
    for (const Step& s : lesson_.steps)
      for (const auto* lines : {&s.actions, &s.show})
        for (const Line& l : *lines)
          for (size_t i = 0; i < l.word->arguments.size(); ++i)
            if (l.word->arguments[i] == Argument::text && !lesson_.texts.contains(l.arguments[i]))
              return in_.error(l.offset, fmt::format("Expected the name of a block `text NAME`, found '{}'", printable(l.arguments[i])));
    lesson_.body = stripped(lesson_.body);
    for (Step& s : lesson_.steps) s.body = stripped(s.body);
    return std::move(lesson_);
  }

 private:
  std::string& body() { return lesson_.steps.empty() ? lesson_.body : lesson_.steps.back().body; }

  Expected<void> front_matter() {
    if (trim(in_.take()) != "---") return in_.error(0, "Expected a lesson to begin with a line '---' and what it is");
    std::vector<std::string> seen;
    for (;;) {
      const size_t offset = in_.offset();
      if (in_.at_end()) return in_.error(offset, "Expected a second line '---' behind what the lesson is");
      const std::string_view line = in_.take();
      if (trim(line) == "---") break;
      if (trim(line).empty()) continue;
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) return in_.error(offset, fmt::format("Expected 'key: value', found '{}'", printable(line.substr(0, 40))));
      const std::string key(trim(line.substr(0, colon)));
      const std::string value(trim(line.substr(colon + 1)));
      if (has(seen, key)) return in_.error(offset, fmt::format("Expected '{}' once", printable(key)));
      seen.push_back(key);
      if (key == "lesson") {
        if (!is_id(value)) return in_.error(offset, fmt::format("Expected a name of small letters, digits and hyphens, found '{}'", printable(value)));
        lesson_.id = value;
      } else if (key == "title") {
        lesson_.title = value;
      } else if (key == "summary") {
        lesson_.summary = value;
      } else if (key == "minutes") {
        const auto minutes = number_of(value);
        if (!minutes || *minutes < 1 || *minutes > 600) return in_.error(offset, fmt::format("Expected minutes from 1 to 600, found '{}'", printable(value)));
        lesson_.minutes = static_cast<int>(*minutes);
      } else {
        return in_.error(offset, fmt::format("Expected lesson, title, summary or minutes, found '{}'", printable(key)));
      }
    }
    for (const auto& [name, value] : {std::pair("lesson", &lesson_.id), {"title", &lesson_.title}, {"summary", &lesson_.summary}})
      if (value->empty()) return in_.error(0, fmt::format("Expected a line '{}: …' between the lines '---'", name));
    return {};
  }

  Expected<void> heading(std::string_view text, size_t offset) {
    if (!lesson_.steps.empty()) TW_CHECK(finish_step());
    if (lesson_.steps.size() == kMaxSteps) return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} steps", kMaxSteps), in_.error(offset, {}).where);
    const size_t colon = text.find(':');
    const std::string_view id = trim(text.substr(0, colon));
    if (colon == std::string_view::npos || !is_id(id) || trim(text.substr(colon + 1)).empty())
      return in_.error(offset, fmt::format("Expected a step as '## id: Title' with a name of small letters, digits and hyphens, found '## {}'", printable(text.substr(0, 60))));
    if (lesson_.step(id) >= 0) return in_.error(offset, fmt::format("Expected every step to have a name of its own, found '{}' again", id));
    Step step;
    step.id = id;
    step.title = trim(text.substr(colon + 1)).substr(0, kMaxTitle);
    step.offset = offset;
    lesson_.steps.push_back(std::move(step));
    solution_.reset();
    return {};
  }

  Expected<void> finish_step() {
    Step& s = lesson_.steps.back();
    if (s.exercise.has_value() != solution_.has_value())
      return in_.error(s.offset, fmt::format("Expected step '{}' to have both an exercise and its solution, or neither", s.id));
    if (solution_) s.exercise->solution = *solution_;
    const auto stands_alone = [&](const char* name, bool there) -> Expected<void> {
      for (const Line& l : s.show)
        if (std::string_view(l.word->name) == name && !there) return in_.error(l.offset, fmt::format("Expected '{}' in a step that has a {}", name, std::string_view(name) == "answer" ? "question" : "exercise"));
      return {};
    };
    TW_CHECK(stands_alone("answer", s.question.has_value()));
    TW_CHECK(stands_alone("solve", s.exercise.has_value()));
    if (s.asks() && s.show.empty()) return in_.error(s.offset, fmt::format("Expected step '{}' to have a block `show` that does what it asks for", s.id));
    if (!s.asks() && !s.show.empty()) return in_.error(s.offset, fmt::format("Expected step '{}' to ask for what its block `show` does", s.id));
    return {};
  }

  /// A fence and what stands in it: of the lesson's own kinds, or code to be read.
  Expected<void> block(std::string_view opening, size_t offset) {
    const std::string_view info = trim(opening.substr(kFence.size()));
    const std::string kind(info.substr(0, info.find(' ')));
    std::string content;
    std::vector<Piece> lines;
    for (;;) {
      if (in_.at_end()) return in_.error(offset, "Expected a line '```' that ends this block");
      const size_t at = in_.offset();
      const std::string_view line = in_.take();
      if (trim(line) == kFence) break;
      content.append(line).push_back('\n');
      lines.push_back({std::string(line), at});
    }
    const bool own = has(std::vector<std::string>{"do", "check", "hint", "show", "question", "exercise", "solution"}, kind);
    if (!own && kind != "text") {
      body().append(opening).append("\n").append(content).append(kFence).append("\n");
      return {};
    }
    if (kind == "text") {
      const std::string name(trim(info.substr(kind.size())));
      if (!is_id(name)) return in_.error(offset, fmt::format("Expected `text NAME` with a name of small letters, digits and hyphens, found '{}'", printable(name)));
      if (!lesson_.texts.emplace(name, content).second) return in_.error(offset, fmt::format("Expected every text to have a name of its own, found '{}' again", name));
      return {};
    }
    if (info != kind) return in_.error(offset, fmt::format("Expected nothing behind '```{}', found '{}'", kind, printable(info.substr(kind.size() + 1))));
    if (lesson_.steps.empty()) return in_.error(offset, fmt::format("Expected a step, '## id: Title', before a block `{}`", kind));
    Step& s = lesson_.steps.back();
    const auto once = [&](bool there) -> Expected<void> {
      if (there) return in_.error(offset, fmt::format("Expected one block `{}` in a step", kind));
      return {};
    };
    if (kind == "hint") {
      if (stripped(content).empty()) return in_.error(offset, "Expected a hint to say something");
      s.hints.push_back(stripped(content));
      return {};
    }
    if (kind == "question") {
      TW_CHECK(once(s.question.has_value()));
      TW_TRY(s.question, question(lines, offset));
      return {};
    }
    if (kind == "exercise") {
      TW_CHECK(once(s.exercise.has_value()));
      s.exercise = Exercise{content, {}};
      return {};
    }
    if (kind == "solution") {
      TW_CHECK(once(solution_.has_value()));
      solution_ = content;
      return {};
    }
    std::vector<Line>& list = kind == "do" ? s.actions : kind == "check" ? s.checks : s.show;
    TW_CHECK(once(!list.empty()));
    for (const Piece& p : lines) {
      if (trim(p.text).empty()) continue;
      if (list.size() == kMaxLines) return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} lines in a block", kMaxLines), in_.error(p.offset, {}).where);
      TW_TRY(Line l, line(p, kind));
      list.push_back(std::move(l));
    }
    if (list.empty()) return in_.error(offset, fmt::format("Expected a block `{}` to have a line", kind));
    return {};
  }

  /// Words apart, texts in quotes as one.
  Expected<std::vector<Piece>> pieces(const Piece& line) const {
    std::vector<Piece> out;
    const std::string& t = line.text;
    for (size_t i = 0; i < t.size();) {
      if (t[i] == ' ' || t[i] == '\t') {
        ++i;
        continue;
      }
      Piece p{"", line.offset + i};
      if (t[i] == '"') {
        const size_t end = t.find('"', i + 1);
        if (end == std::string::npos) return in_.error(line.offset + i, "Expected a second quote");
        p.text = t.substr(i + 1, end - i - 1);
        i = end + 1;
      } else {
        const size_t end = std::min(t.find_first_of(" \t", i), t.size());
        p.text = t.substr(i, end - i);
        i = end;
      }
      out.push_back(std::move(p));
    }
    return out;
  }

  Expected<Line> line(const Piece& given, const std::string& kind) const {
    TW_TRY(const std::vector<Piece> words, pieces(given));
    std::vector<std::span<const Word>> tables;
    if (kind == "check") {
      tables = {checks()};
    } else {
      tables = {actions()};
      if (kind == "show") tables.push_back(show_actions());
    }
    const Word* found = nullptr;
    size_t used = 0;
    const std::string two = words.size() > 1 ? words[0].text + " " + words[1].text : "";
    for (const auto& table : tables)
      for (const Word& w : table)
        if (w.name == two)
          found = &w, used = 2;
        else if (w.name == words[0].text && used < 2)
          found = &w, used = 1;
    if (!found && kind == "check" && is_fact(words[0].text)) found = &fact_check();
    if (!found) {
      std::string known;
      for (const auto& table : tables)
        for (const Word& w : table) known += (known.empty() ? "" : ", ") + std::string(w.name);
      return in_.error(words[0].offset, fmt::format("Expected {}{}, found '{}'", known, kind == "check" ? ", or a fact such as trials" : "", printable(words[0].text)));
    }
    Line out{found, {}, std::string(trim(given.text)), words[0].offset};
    const size_t least = found->arguments.size(), most = least + found->mostMore, count = words.size() - used;
    if (count < least || count > most) return in_.error(words[0].offset, fmt::format("Expected '{}', found '{}'", found->form, printable(out.text)));
    for (size_t i = 0; i < count; ++i) {
      const Piece& p = words[used + i];
      TW_CHECK(fits(i < least ? found->arguments[i] : found->more, p));
      out.arguments.push_back(p.text);
    }
    return out;
  }

  /// What an argument may be, as far as the text alone tells.
  Expected<void> fits(Argument kind, const Piece& p) const {
    const auto wrong = [&](std::string_view expected) { return in_.error(p.offset, fmt::format("Expected {}, found '{}'", expected, printable(p.text))); };
    const auto one_of = [&](std::span<const char* const> names) -> Expected<void> {
      if (!has(names, p.text)) return wrong("one of " + quoted_list(names));
      return {};
    };
    static constexpr const char* kGraphs[] = {"fused", "blocks", "optimized", "imported"};
    static constexpr const char* kAgainst[] = {"default", "best", "none"};
    static constexpr const char* kTrials[] = {"best", "none"};
    static constexpr const char* kBest[] = {"best"};
    static constexpr const char* kTiny[] = {"tiny"};
    static constexpr const char* kMarks[] = {"vectorize", "unroll", "parallel"};
    static constexpr const char* kComparisons[] = {"=", "!=", "<", "<=", ">", ">="};
    const auto is_count = [](const std::string& text) {
      const auto n = number_of(text);
      return n && *n >= 0 && *n <= 1e9 && *n == std::floor(*n);
    };
    switch (kind) {
      case Argument::trial:
        return one_of(kTrials);
      case Argument::best:
        return one_of(kBest);
      case Argument::tiny:
        return one_of(kTiny);
      case Argument::point:
        if (p.text != "default" && !is_count(p.text)) return wrong("default or a whole number from 0");
        return {};
      case Argument::view:
        return one_of(views());
      case Argument::perspective:
        return one_of(perspectives());
      case Argument::form:
        return one_of(forms());
      case Argument::graph:
        return one_of(kGraphs);
      case Argument::against:
        return one_of(kAgainst);
      case Argument::mark:
        return one_of(kMarks);
      case Argument::comparison:
        return one_of(kComparisons);
      case Argument::file:
        if (!is_file_name(p.text)) return wrong("the name of a file beside the lesson, without a path");
        return {};
      case Argument::count:
        if (!is_count(p.text)) return wrong("a whole number from 0");
        return {};
      case Argument::value:
        if (!number_of(p.text) && !is_fact(p.text)) return wrong("a number or the name of a fact");
        return {};
      case Argument::network:
      case Argument::op:
      case Argument::space:
      case Argument::tuner:
      case Argument::target:
      case Argument::text:
      case Argument::any:
        return {};
    }
    return {};
  }

  Expected<Question> question(const std::vector<Piece>& lines, size_t offset) const {
    Question q;
    for (const Piece& p : lines) {
      const std::string_view t = p.text;
      const bool right = t.starts_with("- [x] "), wrong = t.starts_with("- [ ] ");
      if (right || wrong) {
        if (!q.number.empty()) return in_.error(p.offset, "Expected either choices or a number, found both");
        q.choices.push_back({std::string(trim(t.substr(6))), "", right});
        if (q.choices.back().text.empty()) return in_.error(p.offset, "Expected a choice to say something");
      } else if (t.starts_with("- ")) {
        return in_.error(p.offset, fmt::format("Expected a choice as '- [ ] text', or '- [x] text' where it is right, found '{}'", printable(t.substr(0, 40))));
      } else if (!q.choices.empty()) {
        if (trim(t).empty()) continue;
        if (!t.starts_with("  ")) return in_.error(p.offset, "Expected the hint of a choice to stand two blanks to the right under it");
        q.choices.back().hint += (q.choices.back().hint.empty() ? "" : " ") + std::string(trim(t));
      } else if (t.starts_with("= ")) {
        if (!q.number.empty()) return in_.error(p.offset, "Expected one right number");
        TW_TRY(const std::vector<Piece> words, pieces({std::string(t.substr(2)), p.offset + 2}));
        const auto tolerance = words.size() == 3 ? number_of(words[2].text) : std::optional(0.0);
        const bool form = words.size() == 1 || (words.size() == 3 && words[1].text == "+-" && tolerance && *tolerance >= 0);
        if (!form || (!number_of(words[0].text) && !is_fact(words[0].text)))
          return in_.error(p.offset, fmt::format("Expected '= NUMBER', '= NUMBER +- TOLERANCE', or a fact in the number's place, found '{}'", printable(t)));
        q.number = words[0].text;
        q.tolerance = *tolerance;
      } else if (!q.number.empty() && !trim(t).empty()) {
        return in_.error(p.offset, "Expected nothing behind the right number");
      } else {
        q.text.append(t).push_back('\n');
      }
    }
    q.text = stripped(q.text);
    if (q.text.empty()) return in_.error(offset, "Expected a question before its answers");
    if (q.number.empty() && q.choices.size() < 2) return in_.error(offset, "Expected at least two choices, or a line '= NUMBER'");
    const auto right = std::count_if(q.choices.begin(), q.choices.end(), [](const auto& c) { return c.right; });
    if (q.number.empty() && right != 1) return in_.error(offset, fmt::format("Expected one right choice, found {}", right));
    return q;
  }

  LessonReader in_;
  Lesson lesson_;
  std::optional<std::string> solution_;
};

}  // namespace

std::string Question::right() const {
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i].right) return std::to_string(i + 1);
  return number;
}

int Lesson::step(std::string_view id) const {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i].id == id) return static_cast<int>(i);
  return -1;
}

Expected<Lesson> parse_lesson(std::string_view text) {
  if (text.size() > kMaxLesson) return Error(ErrorCode::resource_limit, fmt::format("Expected a lesson of at most {} KiB, found {}", kMaxLesson >> 10, text.size() >> 10));
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return LessonParser(text).run();
}

}  // namespace tw::lesson
