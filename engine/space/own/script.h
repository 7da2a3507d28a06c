// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <variant>

#include "engine/space/config_space.h"
#include "engine/schedule/schedule.h"
#include "engine/te/source.h"

/// The part of a text behind `schedule`: knobs, and steps that use them. resources/docs/manual/operators.md is its grammar.
namespace tw::space::own {

/// A value as it is written.
struct Term {
  enum class Kind : uint8_t { number, text, name, item, list, operation };
  Kind kind = Kind::number;
  int64_t number = 0;
  std::string text;         ///< of a text; a name; of an item, the knob whose factor it is; the operation
  std::vector<Term> parts;  ///< of a list or operation; of an item, which factor
  size_t offset = 0;        ///< in the whole text
};

/// `results = verb(arguments) if condition`
struct Statement {
  std::vector<std::string> results;
  std::string verb;
  std::vector<Term> arguments;
  std::map<std::string, Term> options;
  std::optional<Term> condition;
  size_t offset = 0;
};

struct KnobDefinition {
  std::string name;
  int64_t extent = 0;  ///< of a split
  std::variant<SplitOptions, ReorderOptions, AnnotateOptions, std::vector<Json>> how;
  std::string help;
  std::vector<std::string> axes = {};  ///< of a reorder or annotation: loops by name
  size_t offset = 0;

  KnobKind kind() const { return static_cast<KnobKind>(how.index()); }
};

struct Script {
  te::Source source;
  std::string text;
  std::vector<KnobDefinition> knobs;
  std::vector<Statement> requirements;  ///< condition and reason
  std::optional<Statement> start;       ///< the point that untuned networks use
  std::vector<Statement> steps;

  const KnobDefinition* knob(std::string_view name) const;
  /// An error of this text.
  Error error(ErrorCode code, size_t offset, std::string message) const;
};

// What keeps hostile texts from asking for much memory or time.
constexpr size_t kMaxStatements = 512, kMaxKnobs = 32, kMaxResults = 8;
constexpr int kMaxNesting = 32;
constexpr int64_t kMaxCandidates = 1 << 16, kMaxPoints = int64_t{1} << 53, kMaxNumber = int64_t{1} << 31;

/// Reads the text of a dag with a source. Errors: parse_error with line and column.
Expected<Script> parse_script(const std::string& text);
/// Reads the definition of a knob: define_split, define_reorder, define_annotate or define_knob. Errors: as above.
Expected<KnobDefinition> knob_definition(const Script& script, const Statement& s);
bool is_definition(std::string_view verb);

/// The space that the knobs span. Errors: resource_limit for more than 2^53 points, parse_error for a knob without candidates.
Expected<ConfigSpace> space_of(const Script& script);
/// The point that the text names as the start; index -1 if it names none. Errors: parse_error for values that are no candidates.
Expected<ConfigEntity> start_of(const Script& script, const ConfigSpace& space);

/// A number over parameters and the values of knobs; comparisons give 0 or 1. Errors: parse_error for what is no number.
Expected<int64_t> value_of(const Script& script, const Term& term, const ConfigEntity& point);

/// The schedule of a point. Errors: parse_error for a name that means nothing or arguments that do not fit; illegal_schedule and others as the primitives say;
/// all with line and column.
Expected<schedule::Schedule> run_script(const Script& script, const te::DagPtr& dag, const ConfigEntity& point);

/// The verbs of steps, for help and for completion.
struct Verb {
  const char* name;
  const char* form;  ///< as it is written, such as `outer, inner = split(LOOP, KNOB or LENGTHS)`
  const char* help;
};
std::vector<Verb> verbs();

}  // namespace tw::space::own
