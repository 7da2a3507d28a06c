// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/words.h"

#include <algorithm>

namespace tw::lesson {

std::span<const Word> actions() {
  using enum Argument;
  static const std::vector<Word> table = {
      {"open network", {network}, tiny, 1, "open network NAME [tiny]", "opens a bundled network, or its small variant"},
      {"open operator", {op}, count, 8, "open operator NAME [SIZE...]", "opens a bundled operator, with sizes in the order of its parameters"},
      {"open text", {text}, any, 0, "open text NAME", "opens the computation of the block `text NAME`"},
      {"open space", {space}, any, 0, "open space NAME", "opens a recorded space that comes with the program, with its trials"},
      {"open file", {file}, any, 0, "open file NAME", "opens a network from the lesson's own folder (.onnx, .pt2, .pt, .te)"},
      {"edit text", {text}, any, 0, "edit text NAME", "puts the computation of a block into the editor of operators"},
      {"target", {target}, any, 0, "target NAME", "what networks are opened for from here on: llvm, cuda:a100, …; leaving the lesson puts it back"},
      {"perspective", {perspective}, any, 0, "perspective NAME", "arranges the views"},
      {"view", {view}, any, 0, "view NAME", "brings a view to the front"},
      {"columns", {form}, form, 4, "columns FORM...", "shows these listings in the view of code, and no others"},
      {"graph", {graph}, any, 0, "graph fused|blocks|optimized|imported", "what the graph shows"},
      {"task", {count}, any, 0, "task N", "selects a task, counted from 1"},
      {"node", {any}, any, 0, "node TEXT", "selects the first node of the graph whose name or operator has this in it"},
      {"trial", {trial}, any, 0, "trial best|none", "selects the fastest trial, or none"},
      {"point", {point}, any, 0, "point default|N", "shows a point of the space, or the default schedule"},
      {"knob", {any, any}, any, 0, "knob NAME VALUE", "turns a knob: the innermost factor of a split, a number, or the value as the knob shows it"},
      {"place", {form, any}, any, 0, "place FORM TEXT", "selects the first line of a listing that has this in it"},
      {"base", {against}, any, 0, "base default|best|none", "compares the code with that of another candidate"},
      {"measure", {}, any, 0, "measure", "measures the candidate that is shown"},
      {"tune", {tuner, count}, count, 1, "tune TUNER TRIALS [SEED]", "starts a session on the selected task"},
      {"race", {count, count, tuner, tuner}, tuner, 6, "race TRIALS SEEDS TUNER TUNER...", "starts a race of tuners on the selected task"},
      {"build", {}, any, 0, "build", "builds the network"},
  };
  return table;
}

std::span<const Word> show_actions() {
  static const std::vector<Word> table = {
      {"answer", {}, Argument::any, 0, "answer", "gives the right answer to the question"},
      {"solve", {}, Argument::any, 0, "solve", "puts the solution into the exercise and runs it"},
  };
  return table;
}

std::span<const Word> checks() {
  using enum Argument;
  static const std::vector<Word> table = {
      {"view", {view}, any, 0, "view NAME", "the view is in front"},
      {"perspective", {perspective}, any, 0, "perspective NAME", "the views are arranged so"},
      {"task", {count}, any, 0, "task N", "this task is selected"},
      {"node", {any}, any, 0, "node TEXT", "a node is selected whose name or operator has this in it"},
      {"trial", {}, best, 1, "trial [best]", "a trial is selected, or the fastest one"},
      {"knob", {any, comparison, any}, any, 0, "knob NAME = VALUE", "the knob of the shown candidate; the innermost factor of a split, a number, or the value as the knob shows it"},
      {"place", {form, any}, any, 0, "place FORM TEXT", "a line of this listing is selected that has this in it; `A|B` is either"},
      {"code", {form, any}, any, 0, "code FORM TEXT", "the listing has this in it; `A|B` is either"},
      {"no code", {form, any}, any, 0, "no code FORM TEXT", "the listing is there, and has it not"},
      {"loops", {any}, any, 15, "loops A B C", "loops of these names stand in each other in this order, others may stand between them"},
      {"loop", {any, mark}, any, 0, "loop A vectorize|unroll|parallel", "this is done to the loop"},
      {"edited loops", {any}, any, 15, "edited loops A B C", "as `loops`, of the text in the editor of operators"},
      {"edited loop", {any, mark}, any, 0, "edited loop A MARK", "as `loop`, of the text in the editor of operators"},
  };
  return table;
}

std::span<const Fact> facts() {
  static const std::vector<Fact> table = {
      {"trials", "trials of the selected task that were made since the lesson was begun"},
      {"failures", "failed ones among them"},
      {"by-hand", "those among them that were measured by hand"},
      {"speedup", "how many times as fast as the default schedule the fastest trial is"},
      {"trial-gain", "how many times as fast as the first of the shown trials the selected one is"},
      {"percent-of-best", "speed of the selected trial in percent of the fastest one's"},
      {"sessions", "sessions of the network that were begun since the lesson was, and have ended"},
      {"compared", "sessions put side by side"},
      {"tuners", "different tuners among them"},
      {"nodes", "nodes of the graph after the passes"},
      {"imported-nodes", "nodes of the graph as it was imported"},
      {"kernels", "kernels that the network becomes"},
      {"tasks", "tasks of the network"},
      {"built-kernels", "kernel calls of the built network"},
      {"arena-bytes", "memory for the intermediates of the built network"},
      {"alive-bytes", "the most of them that is needed at one call"},
      {"unplanned-bytes", "all of them together, as if none took another's place"},
      {"gflop", "floating-point operations of the task, in billions"},
      {"intensity", "operations of the task for each byte of its inputs and outputs"},
      {"points", "points of the space that is shown"},
      {"lanes", "numbers of 32 bits in a vector of the target"},
      {"cores", "threads of the target"},
      {"l1-kib", "KiB of the target's first cache, of one core"},
      {"l2-kib", "KiB of its second"},
      {"threads", "threads in a block of the shown kernel"},
      {"blocks", "blocks of its grid"},
      {"shared-bytes", "shared memory of one of its blocks"},
      {"occupancy", "percent of a multiprocessor's warps that it can have"},
      {"launch-us", "microseconds of the shown kernel by the formula of a simulated GPU"},
      {"shared-us", "of those, what shared memory would take alone"},
      {"memory-us", "of those, what the GPU's memory would take alone"},
  };
  return table;
}

bool is_fact(std::string_view name) {
  const auto all = facts();
  return std::any_of(all.begin(), all.end(), [&](const Fact& f) { return name == f.name; });
}

const Word& fact_check() {
  static const Word word{"", {Argument::any, Argument::comparison, Argument::value}, Argument::any, 0, "FACT >= VALUE", "compares a number that the window knows with another, or with another fact"};
  return word;
}

std::span<const char* const> views() {
  static constexpr const char* kNames[] = {"graph", "navigator", "space",   "landscape", "sketches", "code",    "operator", "passes",   "why",     "inspector", "tune",   "build", "path",
                                           "network", "rounds",    "descent", "curve",     "compare",  "tasks",   "trials",   "sessions", "devices", "jobs",      "log",    "manual"};
  return kNames;
}

std::span<const char* const> perspectives() {
  static constexpr const char* kNames[] = {"explore", "tune", "compare", "code", "teach"};
  return kNames;
}

std::span<const char* const> forms() {
  static constexpr const char* kNames[] = {"steps", "loops", "tir", "llvm", "assembly", "cuda", "ptx"};
  return kNames;
}

}  // namespace tw::lesson
