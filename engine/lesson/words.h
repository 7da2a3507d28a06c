// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

/// What the steps of a lesson may ask for: all of it.
namespace tw::lesson {

/// What an argument is; each kind has a test of its own (parse.cpp, verify.cpp).
enum class Argument {
  view,         ///< of views()
  perspective,  ///< of perspectives()
  network,      ///< a bundled one
  op,           ///< a bundled operator
  text,         ///< a block `text NAME` of the lesson
  space,        ///< a recorded space that comes with the program
  file,         ///< a name in the lesson's folder, without a path
  target,
  tuner,
  form,        ///< of forms()
  graph,       ///< fused, blocks, optimized or imported
  against,     ///< default, best or none
  trial,       ///< best or none
  best,        ///< the word best
  point,       ///< default, or an integer from 0
  tiny,        ///< the word tiny
  mark,        ///< what is done to a loop: vectorize, unroll, parallel
  count,       ///< an integer from 0
  comparison,  ///< = != < <= > >=
  value,       ///< a number or the name of a fact
  any,         ///< any word, or a text in quotes
};

struct Word {
  const char* name;  ///< one word or two
  std::vector<Argument> arguments;
  Argument more = Argument::any;  ///< of arguments beyond those
  size_t mostMore = 0;            ///< how many of them there may be
  const char* form;               ///< as it is written, for help
  const char* help;
};

/// Blocks `do` and `show`; those of the second only may stand in `show` alone.
std::span<const Word> actions();
std::span<const Word> show_actions();
/// Blocks `check`.
std::span<const Word> checks();

/// A number that the window knows.
struct Fact {
  const char* name;
  const char* help;
};
std::span<const Fact> facts();
bool is_fact(std::string_view name);
/// The check `FACT comparison value`, which is written without a word of its own.
const Word& fact_check();

/// Views and perspectives of the workbench by their stable names, and the forms of a kernel's code.
std::span<const char* const> views();
std::span<const char* const> perspectives();
std::span<const char* const> forms();

}  // namespace tw::lesson
