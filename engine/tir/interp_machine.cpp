// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp_machine.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/tir/print.h"

namespace tw::tir::interp {

void BlockThreads::number(size_t blocks) {
  int64_t inner = count;
  for (size_t c = blocks; c < coordinates.size(); ++c) {
    inner /= coordinates[c].extent;
    ThreadVar var{coordinates[c].slot, 1, std::vector<ir::EvalValue>(static_cast<size_t>(count))};
    for (int64_t t = 0; t < count; ++t) var.values[static_cast<size_t>(t)].i = t / inner % coordinates[c].extent;
    vars.push_back(std::move(var));
  }
}

void BlockThreads::become(size_t thread, ir::EvalState& state) {
  for (const ThreadVar& v : vars)
    for (int lane = 0; lane < v.lanes; ++lane)
      state.vars[static_cast<size_t>(v.slot + lane)] = v.values[thread * static_cast<size_t>(v.lanes) + static_cast<size_t>(lane)];
  for (ThreadArray& a : arrays) {
    state.arrays[a.array].data = a.data.data() + thread * a.bytes;
    state.arrays[a.array].written = a.written.data() + thread * a.elements;
  }
  state.iteration = state.first_iteration + static_cast<uint32_t>(thread);
}

std::string BlockThreads::name(size_t thread, const ir::EvalState& state) const {
  std::string out;
  size_t v = 0;
  for (const Coordinate& c : coordinates)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", c.name, is_block(c.kind) ? state.vars[static_cast<size_t>(c.slot)].i : vars[v++].values[thread].i);
  return out.empty() ? "the only thread" : out;
}

Machine::Machine(const Program& program_, const Func& f, std::span<HostArray> args) : program(program_), state(program_.make_state()) {
  memory_.resize(state.arrays.size());
  const size_t inputs = f.params.size() - static_cast<size_t>(f.num_outputs);
  for (size_t i = 0; i < f.params.size(); ++i) {
    state.arrays[i].data = args[i].data.data();
    if (i >= inputs) mark_unwritten(i, static_cast<size_t>(f.params[i]->num_elements()));
  }
}

void Machine::allocate(const Exec& x) {
  const auto i = static_cast<size_t>(x.array);
  const Buffer& b = state.arrays[i].buffer;
  memory_[i].data.resize(static_cast<size_t>(b->bytes()));
  state.arrays[i].data = memory_[i].data.data();
  mark_unwritten(i, static_cast<size_t>(b->num_elements()));
}

void Machine::mark_unwritten(size_t array, size_t elements) {
  memory_[array].written.assign(elements, 0);
  state.arrays[array].written = memory_[array].written.data();
  if (!program.has_concurrent()) return;
  // Memory that an iteration allocates is its own.
  const bool shared = state.iteration == 0;
  if (shared) memory_[array].touched.assign(3 * elements, 0);
  state.arrays[array].touched = shared ? memory_[array].touched.data() : nullptr;
}

namespace {

std::string text_of(const Exec& x) {
  std::string text = print(Stmt(x.stmt));
  text = text.substr(0, std::min(text.find('\n'), size_t{200}));
  const std::string stage = x.stmt->origin.stage < 0 ? "" : fmt::format(" of stage {}", x.stmt->origin.stage);
  return fmt::format("statement '{}'{}", text, stage);
}

}  // namespace

bool Machine::fail(ErrorCode code, std::string message) {
  state.fail(code, std::move(message), "");
  return false;
}

bool Machine::failed(const Exec& x) {
  state.error->notes.push_back("in " + text_of(x));
  return false;
}

bool Machine::failed_at(const ForNode& loop, int64_t turn) {
  put_before_place(fmt::format("{} = {}", loop.var->name, turn));
  return false;
}

bool Machine::failed_in(size_t thread) {
  put_before_place(threads.name(thread, state));
  return false;
}

void Machine::put_before_place(const std::string& text) { place_ = text + (place_.empty() ? "" : ", ") + place_; }

Error Machine::error() const {
  Error e = *state.error;
  if (!place_.empty()) e.notes.push_back("at " + place_);
  return e;
}

void Machine::saw(const Exec& x) {
  if (!seen_.empty()) return;
  seen_ = fmt::format("first touched in {} by {}", text_of(x), threads.name(thread(), state));
  state.seen = false;
}

}  // namespace tw::tir::interp
