// SPDX-License-Identifier: Apache-2.0
// `tw lesson`: lessons of the workbench as files, and what learners handed in.
#include <algorithm>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "app/logs/lesson_page.h"
#include "app/logs/page.h"
#include "app/logs/recorded_space.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/frontends/frontend.h"
#include "engine/lesson/library.h"
#include "engine/lesson/progress.h"
#include "engine/measure/device.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"
#include "engine/tune/strategy.h"

namespace tw::cli {
namespace {

namespace fs = std::filesystem;

const FileKind kTableKind{"a table of what learners did", [](std::string_view beginning) { return beginning.starts_with("learner,lesson,step,"); }};

lesson::Names known_names() {
  lesson::Names names;
  for (const frontends::ZooModel& m : frontends::zoo()) names.networks.push_back(m.name);
  for (const space::own::Operator& op : space::own::operators()) names.operators.emplace_back(op.name);
  names.spaces = logs::bundled_spaces();
  for (const tune::StrategyDef& s : tune::strategies()) names.tuners.emplace_back(s.name);
  names.target = [](const std::string& text) -> Expected<void> {
    TW_CHECK(measure::target_named(text));
    return {};
  };
  names.computation = [](const std::string& text) -> Expected<void> {
    TW_CHECK(te::parse_source(text));
    return {};
  };
  return names;
}

struct LibraryOptions {
  std::string language = "en", folder;
  bool json = false;
};

/// Lessons that are meant: those of a folder, or those that come along.
Expected<std::vector<lesson::Entry>> library(const LibraryOptions& o) {
  if (!o.folder.empty()) return lesson::lessons_in(o.folder);
  TW_TRY(const std::string folder, lesson::bundled_folder(o.language));
  return lesson::lessons_in(folder);
}

int list_lessons(const LibraryOptions& o) {
  const auto entries = library(o);
  if (!entries) return fail_input(entries.error());
  Json all = Json::array();
  Table table({"lesson", ">steps", ">minutes", "title"});
  int exit = kDone;
  for (const lesson::Entry& e : *entries) {
    if (!e.lesson) {
      exit = fail_input(e.lesson.error());
      continue;
    }
    const lesson::Lesson& l = *e.lesson;
    table.row({l.id, std::to_string(l.steps.size()), l.minutes > 0 ? std::to_string(l.minutes) : "-", printable(l.title)});
    all.push_back({{"lesson", l.id}, {"title", l.title}, {"summary", l.summary}, {"steps", l.steps.size()}, {"minutes", l.minutes}, {"file", e.file}});
  }
  if (o.json)
    print_json({{"lessons", all}});
  else
    put(table.text());
  return exit;
}

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
};

int check_lessons(const CheckOptions& o) {
  const lesson::Names names = known_names();
  Json all = Json::array();
  size_t wrong = 0;
  for (const std::string& file : o.files) {
    const auto read = lesson::read_lesson(file);
    if (!read && read.error().code != ErrorCode::parse_error && read.error().code != ErrorCode::resource_limit) return fail_input(read.error());
    std::vector<Error> problems;
    if (read) {
      problems = lesson::verify(*read, names);
      for (Error& e : problems) e.where = e.where.empty() ? file : file + ", " + e.where;
    } else {
      problems.push_back(read.error());
    }
    Json texts = Json::array();
    for (const Error& e : problems) {
      if (!o.json) fail_input(e);
      texts.push_back(e.text());
    }
    wrong += problems.empty() ? 0 : 1;
    if (!o.json && problems.empty()) print("{}: lesson '{}', {} steps\n", printable(file), read->id, read->steps.size());
    all.push_back({{"file", file}, {"problems", texts}});
  }
  if (o.json) print_json({{"lessons", all}});
  return wrong == 0 ? kDone : kBadInput;
}

struct ShowOptions {
  std::string name;
  std::string step;
  LibraryOptions library;
  bool json = false;
};

Expected<lesson::Lesson> named_lesson(const ShowOptions& o) {
  if (o.name.ends_with(".md")) return lesson::read_lesson(o.name);
  TW_TRY(const std::vector<lesson::Entry> entries, library(o.library));
  std::string known;
  for (const lesson::Entry& e : entries) {
    if (!e.lesson) continue;
    if (e.lesson->id == o.name) return *e.lesson;
    known += (known.empty() ? "" : ", ") + e.lesson->id;
  }
  return Error(ErrorCode::not_found, fmt::format("Expected a lesson's file, or one of {}, found '{}'", known, printable(o.name)));
}

std::vector<std::string> texts_of(const std::vector<lesson::Line>& lines) {
  std::vector<std::string> out;
  for (const lesson::Line& l : lines) out.push_back(l.text);
  return out;
}

void print_step(const lesson::Step& s) {
  print("\n## {}: {}\n\n{}\n", s.id, printable(s.title), s.body);
  for (const auto& [what, lines] : {std::pair("does", &s.actions), {"checks", &s.checks}, {"shows", &s.show}})
    for (const std::string& text : texts_of(*lines)) print("  {}: {}\n", what, printable(text));
  if (s.question) print("  asks: {}\n", printable(s.question->text));
  if (s.exercise) print("  asks for a loop program to be mended\n");
}

int show_lesson(const ShowOptions& o) {
  const auto found = named_lesson(o);
  if (!found) return found.error().code == ErrorCode::not_found && !o.name.ends_with(".md") ? fail_usage(found.error().message) : fail_input(found.error());
  const int only = o.step.empty() ? -1 : found->step(o.step);
  if (!o.step.empty() && only < 0) return fail_usage(fmt::format("Expected a step of '{}', found '{}'", found->id, printable(o.step)));
  Json steps = Json::array();
  if (!o.json && only < 0) print("# {}\n\n{}\n", printable(found->title), found->body);
  for (size_t i = 0; i < found->steps.size(); ++i) {
    if (only >= 0 && only != static_cast<int>(i)) continue;
    const lesson::Step& s = found->steps[i];
    if (!o.json) print_step(s);
    steps.push_back({{"step", s.id}, {"title", s.title}, {"body", s.body}, {"do", texts_of(s.actions)}, {"check", texts_of(s.checks)}, {"show", texts_of(s.show)}, {"hints", s.hints}, {"question", s.question.has_value()}, {"exercise", s.exercise.has_value()}});
  }
  if (o.json) print_json({{"lesson", found->id}, {"title", found->title}, {"summary", found->summary}, {"minutes", found->minutes}, {"steps", steps}});
  return kDone;
}

struct CollectOptions {
  std::string folder, csv, html;
  bool json = false;
};

int collect(const CollectOptions& o) {
  std::error_code ec;
  if (!fs::is_directory(o.folder, ec)) return fail_input(Error(ErrorCode::not_found, "Expected a folder of what learners handed in, found none", o.folder));
  std::vector<fs::path> files;
  for (fs::directory_iterator at(o.folder, ec), end; !ec && at != end; at.increment(ec))
    if (at->path().extension() == ".json") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  std::vector<lesson::Handed> all;
  int exit = kDone;
  for (const fs::path& file : files) {
    const auto text = read_file(file.string());
    auto handed = text ? lesson::read_handed(*text) : Expected<lesson::Handed>(text.error());
    if (handed) {
      if (handed->learner.empty()) handed->learner = file.stem().string();
      all.push_back(std::move(*handed));
      continue;
    }
    Error e = handed.error();
    e.where = file.string();
    exit = fail_input(e);
  }
  if (all.empty() && exit == kDone) return fail_input(Error(ErrorCode::not_found, "Expected files (.json) that learners handed in, found none", o.folder));
  if (!o.csv.empty())
    if (const auto written = write_file(o.csv, kTableKind, lesson::handed_csv(all)); !written) return fail(written.error());
  if (!o.html.empty())
    if (const auto written = write_file(o.html, logs::kWebPage, logs::lesson_page(all)); !written) return fail(written.error());
  Json rows = Json::array();
  Table table({"learner", "lesson", ">done", ">shown", ">skipped", ">open", ">hints", ">wrong"});
  for (const lesson::Handed& h : all)
    for (const lesson::LessonRecord& l : h.lessons) {
      std::map<lesson::StepState, int> counts;
      int hints = 0, wrong = 0;
      for (const lesson::StepRecord& s : l.steps) ++counts[s.state], hints += s.hints, wrong += s.wrong;
      using enum lesson::StepState;
      table.row({printable(h.learner), printable(l.lesson), std::to_string(counts[done]), std::to_string(counts[shown]), std::to_string(counts[skipped]), std::to_string(counts[open]), std::to_string(hints), std::to_string(wrong)});
      rows.push_back({{"learner", h.learner}, {"lesson", l.lesson}, {"done", counts[done]}, {"shown", counts[shown]}, {"skipped", counts[skipped]}, {"open", counts[open]}, {"hints", hints}, {"wrong", wrong}, {"record", lesson::to_json(l)}});
    }
  if (o.json)
    print_json({{"learners", all.size()}, {"lessons", rows}});
  else
    put(table.text());
  return exit;
}

}  // namespace

void add_lesson(Subcommand app, Run& run) {
  Subcommand group = app.group("lesson", "Lessons of the workbench: what there is, whether a file is one, what learners handed in");
  const auto of_library = [](Subcommand& command, LibraryOptions& o) {
    command.option("--language", o.language, "Language of those that come with the program").one_of(lesson::languages()).show_default();
    command.option("--folder", o.folder, "A folder of lessons in their place");
  };
  auto l = std::make_shared<LibraryOptions>();
  Subcommand list = group.command(run, "list", "Names the lessons", l, list_lessons);
  of_library(list, *l);
  list.flag("--json", l->json, "One JSON document on standard output");
  auto c = std::make_shared<CheckOptions>();
  Subcommand check = group.command(run, "check", "Reads lessons and says what is wrong, with line and column", c, check_lessons);
  check.option("files", c->files, "Lessons (.md)").required().input();
  check.flag("--json", c->json, "One JSON document on standard output");
  auto s = std::make_shared<ShowOptions>();
  Subcommand show = group.command(run, "show", "Prints a lesson with what its steps do and check", s, show_lesson);
  show.option("name", s->name, "A lesson of `tw lesson list`, or a file").required();
  show.option("--step", s->step, "Only this step, by its name");
  of_library(show, s->library);
  show.flag("--json", s->json, "One JSON document on standard output");
  auto h = std::make_shared<CollectOptions>();
  Subcommand collected = group.command(run, "collect", "Tabulates what learners handed in", h, collect);
  collected.option("folder", h->folder, "Folder of their files (.json), as the workbench writes them").required();
  collected.option("--csv", h->csv, "Also a table of every step of every learner").output(kTableKind);
  collected.option("--html", h->html, "Also every step of every learner as a page that needs no other file").output(logs::kWebPage);
  collected.flag("--json", h->json, "One JSON document on standard output");
}

}  // namespace tw::cli
