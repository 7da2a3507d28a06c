// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp.h"

#include "engine/base/text.h"
#include "engine/tir/interp_launch.h"
#include "engine/tir/verify.h"

namespace tw::tir {

namespace {

/// One run of a function.
class Interpreter {
 public:
  Interpreter(const interp::Program& program, const Func& f, std::span<HostArray> args, StopToken stop, ThreadOrder order)
      : machine_(program, f, args),
        thread_(machine_, std::move(stop), [this](const interp::Exec& x) { return launch_.run(x); }),
        launch_(machine_, thread_, order) {}

  Expected<void> run() {
    if (thread_.run(machine_.program.root())) return {};
    return machine_.error();
  }
  /// Of threads that share an element without order, what the second error reports only. After run().
  const std::optional<ir::EvalConflict>& conflict() const { return machine_.state.conflict; }
  /// Runs up to the first of two such accesses: its statement and thread.
  std::string find(const ir::EvalConflict& c) {
    machine_.state.watched = &c;
    thread_.run(machine_.program.root());
    return machine_.seen();
  }

 private:
  interp::Machine machine_;
  interp::ThreadRunner thread_;
  interp::LaunchRunner launch_;
};

}  // namespace

Expected<void> interpret(const Func& f, std::span<HostArray> args, StopToken stop, ThreadOrder order) {
  if (auto valid = verify(f, VerifyLevel::shape); !valid) {
    Error e = valid.error();
    e.code = ErrorCode::invalid_argument;
    return e;
  }
  if (args.size() != f.params.size()) return Error(ErrorCode::invalid_argument, fmt::format("Expected {} arguments, found {}", f.params.size(), args.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    const ir::BufferNode& b = *f.params[i];
    const HostArray& a = args[i];
    if (a.dtype != b.dtype || a.shape != b.shape || a.data.size() != static_cast<size_t>(b.bytes()))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} of shape {} for parameter '{}', found {} of shape {} in {} bytes", b.dtype.name(),
                                                            shape_text(b.shape), b.name, a.dtype.name(), shape_text(a.shape), a.data.size()));
  }
  const interp::Program program(f);
  if (program.bytes() > interp::kMaxBytes) return Error(ErrorCode::resource_limit, "Expected allocations of at most 16 GiB in all, found more");
  Interpreter interpreter(program, f, args, stop, order);
  Expected<void> done = interpreter.run();
  const auto& conflict = interpreter.conflict();
  if (done || !conflict || conflict->first == 0) return done;
  // Control flow does not read what a launch writes before it fails, so a second run comes by the same accesses.
  Error e = done.error();
  const std::string first = Interpreter(program, f, args, std::move(stop), order).find(*conflict);
  if (!first.empty()) e.notes.push_back(first);
  return e;
}

}  // namespace tw::tir
