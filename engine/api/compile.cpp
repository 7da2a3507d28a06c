// SPDX-License-Identifier: Apache-2.0
#include "engine/api/compile.h"

#include <algorithm>
#include <cmath>

#include "engine/api/c_export.h"
#include "engine/api/claims.h"
#include "engine/api/kernel_plan.h"
#include "engine/api/storage.h"
#include "engine/api/views.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/gpu_function.h"
#include "engine/lower/lower.h"
#include "engine/measure/signature.h"
#include "engine/simulate/legality.h"
#include "engine/space/template.h"
#include "engine/te/unread.h"

namespace tw::api {

namespace {

/// 0 if it was not measured here.
double measured_s(const records::Record& r) { return r.claimed || r.result.samples_s.empty() ? 0 : r.result.decided_s(); }

Error compilation_cancelled() { return Error(ErrorCode::cancelled, "Compilation was cancelled"); }

class Compiler {
 public:
  Compiler(Network network, const Target& target, const CompileOptions& options)
      : n_(std::move(network)), target_(target), options_(options), prefix_((options.symbols.empty() ? n_.imported.name : options.symbols).substr(0, 60)) {}

  Expected<runtime::Executable> run(records::RecordSource* records) {
    if (records) TW_CHECK(find_records(*records));
    if (target_.gpu) choose_host_groups();
    // A record that lowers but does not compile costs one more round without it, and so do defaults that do not, and what a GPU cannot run.
    for (;;) {
      TW_TRY(plan_, plan_kernels(n_.optimized, n_.partition, target_, tuned_, !options_.plain, host_, forms_, options_.stop));
      elide_copies(n_.optimized, n_.partition, plan_);
      TW_TRY(const bool lowered, lower_kernels());
      if (!lowered) continue;
      if (options_.stop.stop_requested()) return compilation_cancelled();
      report("Generating code", 0, static_cast<int>(funcs_.size()));
      TW_TRY(const bool generated, target_.gpu ? generate_gpu_code() : generate_object());
      if (!generated) continue;
      report("Generating code", static_cast<int>(funcs_.size()), static_cast<int>(funcs_.size()));
      return assemble();
    }
  }

 private:
  void report(const std::string& what, int done, int total) const {
    if (options_.progress) options_.progress(what, done, total);
  }

  tir::PassHooks passes_of(const std::string& task_key) const {
    tir::PassHooks hooks;
    if (options_.without_in.empty() || options_.without_in == task_key) hooks.disabled = options_.without;
    return hooks;
  }

  /// Operators that were asked to stay on the processor. Unknown names match nothing.
  void choose_host_groups() {
    host_.target = host_target();
    for (size_t i = 0; i < n_.partition.groups.size(); ++i)
      for (const int node : n_.partition.groups[i].nodes)
        if (std::find(options_.on_host.begin(), options_.on_host.end(), n_.optimized.nodes[static_cast<size_t>(node)].op) != options_.on_host.end())
          host_.groups.insert(static_cast<int>(i));
  }

  /// The GPU cannot run a kernel: its record is dropped, or without one it goes to the processor. False if it is no group's (a change of layout).
  bool give_up_on_gpu(const PlannedKernel& k, const Error& why) {
    if (k.tuned && tuned_.count(k.task_key)) {
      tuned_.erase(k.task_key);
      defaults_[k.task_key].origin = fmt::format("default (the best record no longer compiles: {})", why.message);
      return true;
    }
    if (k.group < 0 || k.on_host) return false;
    say(fmt::format("'{}' is for the processor: {}", k.name, why.text()));
    return host_.groups.insert(k.group).second;
  }

  /// A default whose code is refused, as for its length, makes room for a simpler one. False if there is none: of a change of layout, of plain loops.
  bool simplify_default(const PlannedKernel& k, const Error& why) {
    if (k.group < 0 || k.tuned) return false;
    DefaultForm& form = forms_[k.group];
    if (form == DefaultForm::loops) return false;
    form = k.space == "rule" ? DefaultForm::loops : DefaultForm::rule;
    say(fmt::format("'{}' has {}: {}", k.name, form == DefaultForm::rule ? "a schedule by rule" : "plain loops", why.text()));
    return true;
  }

  void say(const std::string& text) const {
    if (options_.notes) options_.notes->push_back(text);
  }

  /// Whether it is done; false: once more, without what could not be compiled.
  Expected<bool> generate_object() {
    auto object = codegen::build_object(funcs_, target_);
    if (object) {
      e_.artifact.object = std::move(*object);
      return true;
    }
    if (!drop_uncompilable()) return object.error();
    return false;
  }

  Expected<bool> generate_gpu_code() {
    e_.artifact.gpu.clear();
    std::vector<tir::Func> for_host;
    std::vector<size_t> kernel_of;  // per function of the GPU, a planned kernel that uses it
    for (size_t f = 0; f < funcs_.size(); ++f) {
      const auto user = static_cast<size_t>(std::find(function_of_.begin(), function_of_.end(), static_cast<int>(f)) - function_of_.begin());
      if (plan_.kernels[user].on_host) {
        for_host.push_back(funcs_[f]);
        continue;
      }
      auto code = codegen::gpu_function(funcs_[f]);
      if (!code) {
        if (give_up_on_gpu(plan_.kernels[user], code.error())) return false;
        return code.error();
      }
      e_.artifact.gpu.push_back(std::move(*code));
      kernel_of.push_back(user);
    }
    if (!for_host.empty()) {
      TW_TRY(e_.artifact.object, codegen::build_object(for_host, host_.target));
    }
    if (!options_.machine_code) return true;
    const auto archs = codegen::nvrtc_archs();
    const int capability = target_.gpu->capability;
    if (!archs || !std::binary_search(archs->begin(), archs->end(), capability)) {
      say(fmt::format("The result holds no machine code: {}",
                      archs ? fmt::format("NVRTC does not compile for {} any more", target::arch_name(capability)) : archs.error().message));
      return true;
    }
    const auto errors = codegen::add_images(e_.artifact.gpu, capability, options_.stop);
    bool again = false;
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!errors[i]) continue;
      if (errors[i]->code == ErrorCode::cancelled || !give_up_on_gpu(plan_.kernels[kernel_of[i]], *errors[i])) return *errors[i];
      again = true;
    }
    return !again;
  }

  /// How to make a record's point again with other layouts, where its template leaves them open.
  std::function<Expected<schedule::Schedule>(const std::vector<schedule::LayoutStep>&)> open_layouts(const te::DagPtr& dag,
                                                                                                     const records::Candidate& candidate) const {
    const space::Template* t = space::find_template(*dag, target_, candidate.space);
    if (!t || !t->in_layouts) return {};
    auto point = t->space(*dag, target_).from_json(candidate.config);
    if (!point) return {};
    return [=, this, point = std::move(*point)](const std::vector<schedule::LayoutStep>& layouts) { return t->in_layouts(dag, target_, point, layouts); };
  }

  /// The best record of each workload whose steps still apply and lower.
  Expected<void> find_records(records::RecordSource& source) {
    const auto& workloads = n_.partition.workloads;
    const records::Weights weights = weights_of(n_, target_);
    for (size_t i = 0; i < workloads.size(); ++i) {
      if (options_.stop.stop_requested()) return compilation_cancelled();
      report("Looking up records", static_cast<int>(i), static_cast<int>(workloads.size()));
      const std::string key = records::make_task(workloads[i].name, workloads[i].dag, target_).key;
      TW_TRY(const std::optional<records::Record> best, source.best(key, weights));
      if (!best) continue;
      if (best->candidate.is_default()) {  // made anew, so that it can adopt the layouts around it
        defaults_[key] = {fmt::format("default, {}", si_text(best->result.decided_s(), "s")), best->origin, measured_s(*best),
                          records::weights_name(best->result.weights), best->claimed};
        continue;
      }
      std::string origin = best->candidate.space;
      if (best->candidate.index >= 0) origin += fmt::format(" #{}", best->candidate.index);
      TW_TRY(const std::optional<records::InNetwork> judged, source.in_network(n_.content_key, *best));
      if (judged && !judged->taken) {
        defaults_[key].origin = fmt::format("default ({} won alone, not in this network)", origin);
        if (std::isfinite(judged->default_s)) defaults_[key].alone_s = judged->default_s;
        continue;
      }
      if (best->claimed) {  // whatever was believed when it was stored
        const records::Task task = records::make_task(workloads[i].name, workloads[i].dag, target_);
        ClaimChecker claims;
        if (const auto checked = claims.check_steps(task, best->candidate); !checked) {
          defaults_[key].origin = fmt::format("default ({} is not used: {})", best->origin, checked.error().message);
          continue;
        }
      }
      auto s = schedule::Schedule::replay(workloads[i].dag, best->candidate.steps);
      auto func = s ? lower::lower_and_optimize(*s, "kernel", target_, passes_of(key)) : Expected<tir::Func>(s.error());
      if (func) {
        const std::string seconds = best->result.samples_s.empty() ? "not measured" : si_text(best->result.decided_s(), "s");
        tuned_.emplace(key, Tuned{std::move(*s), open_layouts(workloads[i].dag, best->candidate), std::move(*func), fmt::format("{}, {}", origin, seconds),
                                  best->candidate.space, best->origin, measured_s(*best), records::weights_name(best->result.weights), best->claimed});
      } else {
        defaults_[key].origin = "default (the best record no longer applies)";
      }
    }
    return {};
  }

  /// Lowers each distinct schedule once; equal kernels share a function. False if one cannot be and another plan is needed.
  Expected<bool> lower_kernels() {
    funcs_.clear();
    function_of_.clear();
    e_.artifact.kernels.clear();
    std::map<std::string, int> known;
    for (size_t i = 0; i < plan_.kernels.size(); ++i) {
      if (options_.stop.stop_requested()) return compilation_cancelled();
      report("Lowering kernels", static_cast<int>(i), static_cast<int>(plan_.kernels.size()));
      const PlannedKernel& k = plan_.kernels[i];
      const std::string identity = te::structural_key(*k.schedule.dag()) + dump_json(schedule::to_json(k.schedule.steps())) + (k.on_host ? "host" : "");
      const auto [it, fresh] = known.emplace(identity, static_cast<int>(funcs_.size()));
      function_of_.push_back(it->second);
      if (!fresh) continue;
      const std::string symbol = c_identifier(fmt::format("{}_k{}_{}", prefix_, funcs_.size(), k.name.substr(0, 60)));
      const bool lowered = k.tuned && !tuned_.at(k.task_key).in_layouts;
      auto func = lowered ? Expected<tir::Func>(tuned_.at(k.task_key).func)
                          : lower::lower_and_optimize(k.schedule, symbol, k.on_host ? host_.target : target_, passes_of(k.task_key));
      if (func && target_.gpu && !k.on_host) {
        if (auto legal = simulate::check_launches(*func, *target_.gpu); !legal) func = legal.error();
      }
      if (!func && (target_.gpu ? give_up_on_gpu(k, func.error()) : simplify_default(k, func.error()))) return false;
      if (!func) {
        Error e = func.error();
        if (e.where.empty()) e.where = "kernel " + k.name;
        return e;
      }
      func->name = symbol;
      funcs_.push_back(std::move(*func));
      e_.artifact.kernels.push_back(measure::signature_of(k.schedule, symbol));
    }
    return true;
  }

  /// Finds the kernels that the code generator refuses, for which there is something else; false if there is none.
  bool drop_uncompilable() {
    std::vector<std::optional<Error>> refused(funcs_.size());
    for (size_t f = 0; f < funcs_.size(); ++f)
      if (const auto alone = codegen::build_object({funcs_[f]}, target_); !alone) refused[f] = alone.error();
    bool dropped = false;
    for (size_t i = 0; i < plan_.kernels.size(); ++i) {
      const PlannedKernel& k = plan_.kernels[i];
      const std::optional<Error>& why = refused[static_cast<size_t>(function_of_[i])];
      if (!why) continue;
      if (!k.tuned) {
        dropped |= simplify_default(k, *why);
      } else if (tuned_.erase(k.task_key) > 0) {
        defaults_[k.task_key].origin = fmt::format("default (the best record no longer compiles: {})", why->message);
        dropped = true;
      }
    }
    return dropped;
  }

  Expected<runtime::Executable> assemble() {
    e_.name = n_.imported.name;
    e_.target = e_.artifact.target = target_.str();
    if (target_.gpu) e_.artifact.host_target = host_.target.str();
    e_.source_model = n_.content_key;
    e_.graph_text = graph::print(n_.imported);
    for (const graph::Value& v : n_.imported.values)
      if (v.constant) {
        const std::string key = graph::constant_key(*v.constant);
        if (e_.graph_text.find("key " + key) != std::string::npos) e_.graph_constants.emplace(key, v.constant);
      }
    TW_CHECK(add_slots());
    add_calls();
    place_intermediates();
    if (options_.on_kernel) {
      std::vector<bool> told(funcs_.size(), false);
      for (size_t i = 0; i < plan_.kernels.size(); ++i) {
        const auto f = static_cast<size_t>(function_of_[i]);
        if (!told[f]) options_.on_kernel(funcs_[f].name, plan_.kernels[i].schedule);
        told[f] = true;
      }
    }
    return std::move(e_);
  }

  Expected<void> add_slots() {
    graph::Graph& g = n_.optimized;
    std::vector<int> layouts_left(g.values.size(), 0);
    for (const PlannedArray& a : plan_.arrays) ++layouts_left[static_cast<size_t>(a.value)];
    for (size_t a = 0; a < plan_.arrays.size(); ++a) {
      if (options_.stop.stop_requested()) return compilation_cancelled();
      report("Packing constants", static_cast<int>(a), static_cast<int>(plan_.arrays.size()));
      const PlannedArray& array = plan_.arrays[a];
      graph::Value& value = g.values[static_cast<size_t>(array.value)];
      runtime::Slot slot;
      slot.spec = {value.name, value.type.dtype, value.type.shape, array.layout, value.constant != nullptr, false};
      const bool row_major = array.layout.empty();
      if (value.constant) {
        slot.kind = runtime::Slot::Kind::constant;
        slot.packed = slot.spec.physical_bytes() <= static_cast<int64_t>(value.constant->data.size());
        if (row_major || !slot.packed) {
          slot.data = {value.constant, &value.constant->data};
        } else {
          std::vector<std::byte> data(static_cast<size_t>(slot.spec.physical_bytes()));
          runtime::pack_layout(slot.spec, value.constant->data.data(), data.data());
          slot.data = std::make_shared<const ArrayBytes>(std::move(data));
        }
        // Weights are in memory as the file has them and packed, but not also as the passes left them.
        if (--layouts_left[static_cast<size_t>(array.value)] == 0) value.constant = nullptr;
      } else if (row_major && std::find(g.inputs.begin(), g.inputs.end(), array.value) != g.inputs.end()) {
        slot.kind = runtime::Slot::Kind::input;
      } else if (row_major && std::find(g.outputs.begin(), g.outputs.end(), array.value) != g.outputs.end()) {
        slot.kind = runtime::Slot::Kind::output;
        slot.spec.output = true;
      }
      e_.slots.push_back(std::move(slot));
    }
    const auto slot_of = [&](int value) {
      for (size_t a = 0; a < plan_.arrays.size(); ++a)
        if (plan_.arrays[a].value == value && plan_.arrays[a].layout.empty()) return static_cast<int>(a);
      TW_UNREACHABLE("a graph input or output without a row-major array");
    };
    for (const int v : g.inputs) e_.inputs.push_back(slot_of(v));
    for (const int v : g.outputs) e_.outputs.push_back(slot_of(v));
    return {};
  }

  void add_calls() {
    for (size_t i = 0; i < plan_.kernels.size(); ++i) {
      const PlannedKernel& k = plan_.kernels[i];
      runtime::Call call;
      call.symbol = e_.artifact.kernels[static_cast<size_t>(function_of_[i])].name;
      call.name = k.name;
      call.slots = k.arrays;
      call.task_key = k.task_key;
      call.origin = k.origin;
      call.record = k.record;
      call.space = k.space;
      call.on_host = k.on_host;
      call.claimed = k.claimed;
      if (k.tuned) {
        const Tuned& tuned = tuned_.at(k.task_key);
        call.alone_s = tuned.alone_s;
        call.alone_weights = tuned.alone_weights;
      } else if (const auto known = defaults_.find(k.task_key); known != defaults_.end()) {
        call.origin = known->second.origin;
        call.record = known->second.record;
        call.alone_s = known->second.alone_s;
        call.alone_weights = known->second.alone_weights;
        call.claimed = known->second.claimed;
      }
      call.flops = static_cast<double>(te::flops(*k.schedule.dag()));
      call.function_calls = static_cast<double>(te::function_calls(*k.schedule.dag()));
      call.unread_bytes = static_cast<double>(te::unread_bytes(*k.schedule.dag()));
      if (k.group >= 0)
        for (const int n : n_.partition.groups[static_cast<size_t>(k.group)].nodes) call.nodes.push_back(n_.optimized.nodes[static_cast<size_t>(n)].name);
      e_.calls.push_back(std::move(call));
    }
  }

  void place_intermediates() {
    std::vector<SlotUse> uses(e_.slots.size());
    for (size_t s = 0; s < uses.size(); ++s) {
      const PlannedArray& a = plan_.arrays[s];
      uses[s] = {e_.slots[s].kind == runtime::Slot::Kind::intermediate, e_.slots[s].spec.physical_bytes(), a.base, a.offset};
    }
    std::vector<CallUse> calls;
    for (size_t c = 0; c < e_.calls.size(); ++c) calls.push_back({e_.calls[c].slots, &funcs_[static_cast<size_t>(function_of_[c])]});
    const StoragePlacement placed = place_storage(uses, calls);
    for (size_t s = 0; s < uses.size(); ++s)
      if (uses[s].placed) e_.slots[s].offset = placed.offsets[s];
    e_.arena_bytes = placed.arena_bytes;
    e_.live_bytes = placed.live_bytes;
    e_.unplanned_bytes = placed.unplanned_bytes;
  }

  Network n_;
  const Target& target_;
  const CompileOptions& options_;
  std::string prefix_;  ///< of every symbol, so that several networks can be linked into one program
  std::map<std::string, Tuned> tuned_;
  /// What is known of a task with the default schedule: its time, or why its record is not used; as in runtime::Call.
  struct DefaultFacts {
    std::string origin, record;
    double alone_s = 0;
    std::string alone_weights;
    bool claimed = false;
  };
  std::map<std::string, DefaultFacts> defaults_;  ///< by task key
  HostGroups host_;
  std::map<int, DefaultForm> forms_;
  KernelPlan plan_;
  std::vector<tir::Func> funcs_;
  std::vector<int> function_of_;  ///< per planned kernel
  runtime::Executable e_;
};

}  // namespace

Expected<runtime::Executable> compile(Network network, const Target& target, records::RecordSource* records, const CompileOptions& options) {
  return Compiler(std::move(network), target, options).run(records);
}

}  // namespace tw::api
