// SPDX-License-Identifier: Apache-2.0
// `tw run`: runs a compiled network, times it, checks it against the reference.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>
#include <thread>

#include "app/cli/bench/affinity.h"
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/reference.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "engine/api/compile.h"
#include "engine/api/in_place.h"
#include "engine/base/duration.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/network_on_device.h"
#include "engine/measure/core_latency.h"
#include "engine/measure/device.h"
#include "engine/measure/network_run.h"
#include "engine/measure/roofline.h"
#include "engine/process/subprocess.h"
#include "engine/target/target.h"

namespace tw::cli {
namespace {

constexpr std::chrono::milliseconds kSpin(12);  ///< that waiting threads look for work before they sleep, and more
constexpr double kFirstRunSeconds = 60, kReadBytesPerSecond = 1e7;  ///< of a slow disk

struct RunArguments {
  std::string model, output, device, first_run_limit;
  std::vector<std::string> inputs;
  bool random = false, check = false, profile = false, json = false, trust = false;
  uint64_t seed = 1;
  int repeat = 10;
  std::optional<double> tolerance;
};

/// The inputs from files and, where allowed, random ones. On failure prints the error and sets `exit`.
std::optional<TensorMap> gather_inputs(const runtime::Executable& e, const RunArguments& o, int& exit) {
  TensorMap all = measure::random_inputs(e, o.seed), given;
  std::vector<std::string> names, missing;
  for (const auto& [name, array] : all) names.push_back(name);
  for (const std::string& option : o.inputs) {
    const std::string name = input_name(option, names);
    if (all.count(name) == 0) {
      exit = fail_usage(fmt::format("Expected an input among '{}', found '{}'", fmt::join(names, "', '"), printable(name)));
      return std::nullopt;
    }
    auto input = read_input(option, name);
    if (!input) {
      exit = fail(input.error());
      return std::nullopt;
    }
    given[name] = *std::move(input);
  }
  for (auto& [name, array] : all) {
    if (given.count(name) != 0) continue;
    missing.push_back(name);
    if (o.random) given[name] = std::move(array);
  }
  if (!missing.empty() && !o.random) {
    exit = fail_usage(fmt::format("Expected --input or --random-input for '{}'", fmt::join(missing, "', '")));
    return std::nullopt;
  }
  return given;
}

/// Child of `tw run`: what machine code from a file may crash, once.
int first_run(const RunArguments& o) {
  process::become_child();
  auto loaded = runtime::load_executable(o.model);
  if (!loaded) return fail_input(loaded.error());
  const auto e = std::make_shared<const runtime::Executable>(std::move(*loaded));
  int exit = kDone;
  const auto inputs = gather_inputs(*e, o, exit);
  if (!inputs) return exit;
  const std::vector<int> processors = bench::allowed_processors();  // the executor binds this thread to one of them
  auto executor = make_executor(e, o.device);
  if (!executor) return fail_input(executor.error());
  if (auto r = (*executor)->set_inputs(*inputs); !r) return fail_input(r.error());
  if (measure::is_simulated(o.device)) return kDone;  // no code of the file's runs, and interpreting takes its time
  const auto ran = (*executor)->run();
  return ran ? kDone : fail(ran.error());
}

/// How long loading the file and running it once may take.
Expected<double> first_run_limit_s(const RunArguments& o) {
  std::error_code ec;
  const auto size = std::filesystem::file_size(o.model, ec);
  if (!o.first_run_limit.empty()) {
    TW_TRY(const double limit, parse_duration(o.first_run_limit));
    if (limit > 0) return limit;
  }
  return kFirstRunSeconds + (ec ? 0 : static_cast<double>(size) / kReadBytesPerSecond);
}

/// Loads the file and runs it once in a child process. False with `exit` set if that went wrong, which was said.
bool survives_first_run(const RunArguments& o, int& exit) {
  std::vector<std::string> arguments{"first-run", o.model, "--random-input", "--seed", std::to_string(o.seed)};
  if (!o.device.empty()) arguments.insert(arguments.end(), {"--device", o.device});
  std::error_code ec;
  for (const std::string& input : o.inputs)  // a pipe gives what it has once
    for (size_t at = input.find('='); at != std::string::npos; at = input.find('=', at + 1))
      if (std::filesystem::is_regular_file(input.substr(at + 1), ec)) {
        arguments.insert(arguments.end(), {"--input", input});
        break;
      }
  const auto limit = first_run_limit_s(o);
  if (!limit) {
    exit = fail(limit.error());
    return false;
  }
  const double seconds = *limit;
  const auto code = process::run_self(arguments, stop_token(), seconds);
  if (!code && code.error().code == ErrorCode::timeout) {
    exit = fail(Error(ErrorCode::timeout, fmt::format("Loading '{}' and running it once takes more than {}: the file is damaged, or this machine too slow",
                                                      printable(o.model), duration_text(seconds)))
                    .note("--first-run-limit gives it more time; --trust leaves the first run away"));
    return false;
  }
  if (!code && code.error().code == ErrorCode::crash) {
    exit = fail_input(Error(ErrorCode::corrupt, fmt::format("'{}' crashes: the file is damaged, or made by something else. {} that loaded it and ran it for the first time",
                                                            printable(o.model), code.error().message)));
    return false;
  }
  exit = code ? *code : fail(code.error());
  return exit == kDone;
}

std::string slot_name(const runtime::Executable& e, int slot) { return e.slots[slot].spec.name; }

/// The latency between the first two processors, once the network's threads sleep; 0 where it does not matter: on a GPU, or on one thread.
double latency_between_cores_s(const runtime::Executable& e, const std::vector<int>& processors) {
  const auto target = parse_target(e.target);
  if (!target || target->gpu || target->cores < 2 || processors.size() < 2) return 0;
  std::this_thread::sleep_for(kSpin);
  return measure::core_latency_s(processors[0], processors[1]);
}

/// A device of a farm that the network ran on; without a name, it ran here.
struct RanWhere {
  std::string device;
  bool emulated = false;
};

/// One call of the profile.
struct ProfileRow {
  const runtime::Call* call;
  size_t number;
  double seconds, share;
  double bytes;    ///< of all its arrays, each once
  double least_s;  ///< what the roofline allows
  bool memory_bound;
  api::CallInPlace place;
};
struct Profile {
  measure::Roofline roof;
  std::vector<ProfileRow> calls;  ///< in the order they run
};

Expected<Profile> make_profile(const runtime::Executable& e, const CallProfile& times) {
  constexpr double kRooflineSeconds = 0.5;
  TW_TRY(const Target target, parse_target(e.target));
  Profile profile;
  profile.roof = target.gpu ? measure::gpu_roofline(*target.gpu) : measure::measure_roofline(runtime::ThreadPool(runtime::ThreadPool::with_processors(target.cores)), kRooflineSeconds);
  const double total = std::accumulate(times.median_s.begin(), times.median_s.end(), 0.0);
  const std::vector<api::CallInPlace> places = api::calls_in_place(e, times.median_s, times.woke);
  for (size_t i = 0; i < places.size(); ++i) {
    const runtime::Call& call = e.calls[i];
    double bytes = -call.unread_bytes;
    for (const int s : std::set<int>(call.slots.begin(), call.slots.end())) bytes += static_cast<double>(e.slots[s].spec.physical_bytes());
    profile.calls.push_back({&call, i, places[i].seconds, total > 0 ? places[i].seconds / total : 0, bytes, profile.roof.least_seconds(call.flops, bytes),
                             profile.roof.memory_bound(call.flops, bytes), places[i]});
  }
  return profile;
}

/// Why a call takes longer than alone, or stays far below the roofline where that is known.
std::string reason_of(const ProfileRow& c) {
  constexpr double kOperations = 12;  // that a value of a function takes, about; the roofline counts one
  if (!c.place.reason.empty() || c.seconds <= measure::kWorthALook || c.least_s >= measure::kLowShare * c.seconds) return c.place.reason;
  if (c.call->function_calls == 0 || c.call->function_calls * kOperations < c.call->flops) return {};
  return fmt::format("{:.0f} values of functions such as exp, {:.2f} ns each", c.call->function_calls, c.seconds / c.call->function_calls * 1e9);
}

Json profile_json(const Profile& profile) {
  Json rows = Json::array();
  for (const ProfileRow& c : profile.calls) {
    rows.push_back({{"name", c.call->name},
                    {"nodes", c.call->nodes},
                    {"origin", c.call->origin},
                    {"median_s", c.seconds},
                    {"share", c.share},
                    {"alone_s", c.place.alone_s > 0 ? Json(c.place.alone_s) : Json()},
                    {"layouts_s", c.place.layouts_s},
                    {"reason", reason_of(c)},
                    {"flop", c.call->flops},
                    {"bytes", c.bytes},
                    {"flop_per_s", c.call->flops / c.seconds},
                    {"bytes_per_s", c.bytes / c.seconds},
                    {"roofline_s", c.least_s},
                    {"roofline_fraction", c.least_s / c.seconds},
                    {"bound", c.memory_bound ? "memory" : "arithmetic"}});
  }
  return rows;
}

Json roofline_json(const measure::Roofline& roof) {
  Json levels = Json::array();
  for (const auto& l : roof.levels) levels.push_back({{"bytes", l.bytes}, {"bytes_per_s", l.bytes_per_s}});
  return {{"flop_per_s", roof.flop_per_s}, {"levels", levels}};
}

Json run_json(const runtime::Executable& e, const std::vector<HostArray>& outputs, const Latency& latency, const std::optional<Profile>& profile,
              const std::optional<Check>& check, const std::array<double, 2>& core_latency_s, const RanWhere& where, const RunArguments& o) {
  Json list = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    list.push_back({{"name", slot_name(e, e.outputs[i])}, {"dtype", outputs[i].dtype.name()}, {"shape", outputs[i].shape}});
    if (check)
      list.back().update(Json{{"max_abs_error", json_number(check->outputs[i].max_abs)},
                              {"max_rel_error", json_number(check->outputs[i].max_rel)},
                              {"tolerance", check->tolerances[i]}});
  }
  Json document = {{"model", o.model},
                   {"name", e.name},
                   {"target", e.target},
                   {"simulated", measure::is_simulated(o.device)},
                   {"outputs", list},
                   {"latency", {{"runs", latency.runs_s.size()}, {"min_s", latency.min_s()}, {"median_s", latency.median_s()}, {"max_s", latency.max_s()}}},
                   {"core_latency_s", core_latency_s}};
  if (!where.device.empty()) document["device"] = {{"name", where.device}, {"emulated", where.emulated}};
  if (check) {
    document["check"] = {{"passed", check->passed},
                         {"max_abs_error", json_number(check->max_abs)},
                         {"max_rel_error", json_number(check->max_rel)},
                         {"tolerance", *std::max_element(check->tolerances.begin(), check->tolerances.end())}};
  }
  if (profile) {
    document["profile"] = profile_json(*profile);
    document["roofline"] = roofline_json(profile->roof);
  }
  return document;
}

void print_profile(const Profile& profile) {
  std::vector<ProfileRow> slowest = profile.calls;
  std::stable_sort(slowest.begin(), slowest.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  Table table({"kernel", ">call", ">time", ">share", ">alone", ">of alone", ">rate", ">memory", ">roofline", "bound by", "schedule from", "because"});
  for (const ProfileRow& c : slowest) {
    const double alone = c.place.alone_s;
    table.row({c.call->name, std::to_string(c.number), time_text(c.seconds), fmt::format("{:.1f} %", 100 * c.share), alone > 0 ? time_text(alone) : "-",
               alone > 0 ? fmt::format("{:.2f}", c.seconds / alone) : "-", si_text(c.call->flops / c.seconds, "FLOP/s"), si_text(c.bytes / c.seconds, "B/s"),
               fmt::format("{:.1f} %", 100 * c.least_s / c.seconds), c.memory_bound ? "memory" : "arithmetic", c.call->origin, reason_of(c)});
  }
  print("{}\n", table.text());
  const measure::Roofline& roof = profile.roof;
  if (roof.levels.empty()) return;
  print("roofline {} in registers, {} from the nearest cache, {} from memory\n", si_text(roof.flop_per_s, "FLOP/s"),
        si_text(roof.levels.front().bytes_per_s, "B/s"), si_text(roof.levels.back().bytes_per_s, "B/s"));
}

/// What a run gave, here or on a device.
struct Ran {
  Latency latency;
  std::vector<HostArray> outputs;
  std::optional<Profile> profile;
  std::array<double, 2> core_latency_s{};
  RanWhere where;
};

Expected<Ran> run_here(const runtime::Executable& e, runtime::GraphExecutor& executor, const std::vector<int>& processors, const RunArguments& o) {
  Ran ran;
  CallProfile calls;
  const double latency_before_s = latency_between_cores_s(e, processors);
  TW_TRY(ran.latency, time_runs(executor, o.repeat, o.profile ? &calls : nullptr, stop_token(), measure::is_simulated(o.device)));
  ran.core_latency_s = {latency_before_s, latency_between_cores_s(e, processors)};
  if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
  TW_TRY(ran.outputs, executor.outputs());
  if (o.profile) {
    TW_TRY(ran.profile, make_profile(e, calls));
  }
  return ran;
}

/// Whatever is wrong with the file harms a process of the device's at most.
Expected<Ran> run_there(const runtime::Executable& e, const TensorMap& inputs, const RunArguments& o) {
  measure::NetworkRun run;
  run.repeat = o.repeat;
  TW_TRY(run.startup_limit_s, first_run_limit_s(o));
  run.run_limit_s = run.startup_limit_s * (1 + o.repeat);
  TW_TRY(auto there, farm::run_on_device(
                         o.device, e, inputs, run, [](const std::string& text) { note(text); }, stop_token()));
  Ran ran;
  ran.latency.runs_s = std::move(there.times.runs_s);
  ran.outputs = std::move(there.times.outputs);
  ran.where = {there.device, there.emulated};
  return ran;
}

void print_latency(const Ran& ran, const RunArguments& o) {
  const Latency& latency = ran.latency;
  if (measure::is_simulated(o.device)) return print("latency  {}, simulated time of {}, not measured\n", time_text(latency.min_s()), o.device);
  const std::string where =
      ran.where.device.empty() ? "" : fmt::format(" on '{}'{}", ran.where.device, ran.where.emulated ? ", emulated: no processor's times" : "");
  print("latency  median {}, least {}, most {} of {} runs{}\n", time_text(latency.median_s()), time_text(latency.min_s()), time_text(latency.max_s()),
        latency.runs_s.size(), where);
}

int run_model(const RunArguments& o) {
  int exit = kDone;
  const bool there = farm::is_farm_device(o.device);
  if (there && o.profile) return fail_usage("Expected no --profile with a device of a farm, which tells the times of whole runs");
  if (!there && !o.trust && !survives_first_run(o, exit)) return exit;
  auto loaded = runtime::load_executable(o.model);
  if (!loaded) return fail_input(loaded.error());
  const auto e = std::make_shared<const runtime::Executable>(std::move(*loaded));
  const auto inputs = gather_inputs(*e, o, exit);
  if (!inputs) return exit;
  std::unique_ptr<runtime::GraphExecutor> executor;
  const std::vector<int> processors = bench::allowed_processors();  // the executor binds this thread to one of them
  if (!there) {
    auto made = make_executor(e, o.device);
    if (!made) return fail_input(made.error());
    executor = std::move(*made);
    if (auto r = executor->set_inputs(*inputs); !r) return fail_input(r.error());
  }
  const auto ran = there ? run_there(*e, *inputs, o) : run_here(*e, *executor, processors, o);
  if (!ran) return fail(ran.error());
  if (!o.output.empty()) {
    std::vector<std::string> names;
    for (int slot : e->outputs) names.push_back(slot_name(*e, slot));
    if (auto r = write_tensors(o.output, names, ran->outputs); !r) return fail(r.error());
  }
  std::optional<Check> check;
  if (o.check) {
    note("Computing the reference, operator by operator");
    const auto want = reference_outputs(o.model, *e, *inputs, stop_token());
    if (!want) return fail(want.error());
    auto checked = check_outputs(*want, ran->outputs, o.tolerance);
    if (!checked) return fail(checked.error());
    check = std::move(*checked);
  }
  if (o.json) {
    print_json(run_json(*e, ran->outputs, ran->latency, ran->profile, check, ran->core_latency_s, ran->where, o));
  } else {
    if (ran->profile) print_profile(*ran->profile);
    for (size_t i = 0; i < ran->outputs.size(); ++i)
      print("output   {}: {}{}\n", printable(slot_name(*e, e->outputs[i])), ran->outputs[i].dtype.name(), shape_text(ran->outputs[i].shape));
    print_latency(*ran, o);
    if (check) print("error    {}\n", check_text(*check));
  }
  return check && !check->passed ? kFailed : kDone;
}

}  // namespace

void add_run(Subcommand app, Run& run) {
  auto o = std::make_shared<RunArguments>();
  Subcommand sub = app.command(run, "run", "Runs a compiled network. A .twx file is machine code: run only files that you trust", o, run_model);
  sub.option("model", o->model, "Compiled network (.twx)").input().required();
  sub.flag("--trust", o->trust, "Without the first run in a process of its own: a file that is damaged, or made by something else, may crash this one");
  sub.option("--first-run-limit", o->first_run_limit,
             "How long loading the file and that first run may take, such as 10m; a minute, and a second for each 10 MB of the file, if not given");
  sub.option("--input", o->inputs, "Input as name=file, a .npy file or a .pb file of an ONNX test case; may be repeated");
  sub.option("--device", o->device,
             "Of a network for a GPU: cuda:0 (the first of this machine, the default), or sim:a100 for the interpreter and simulated times; "
             "of one for a processor: farm:KIND for a device of a farm");
  sub.flag("--random-input", o->random, "Seeded random values for every input that is not given");
  sub.option("--seed", o->seed, "Seed of the random inputs").show_default();
  sub.flag("--check", o->check, "Compare with the unoptimised graph, run operator by operator in a child process; exit code 1 above the tolerance");
  sub.option("--tolerance", o->tolerance, "Error that --check allows, relative to the largest magnitude of an output, instead of what the operators allow");
  sub.flag("--profile", o->profile, "Median time of every kernel call beside that of its trial, its rates and how far it is from what this machine can reach");
  sub.option("--repeat", o->repeat, "Timed runs, after one to warm up").range(1, 1000000).show_default();
  sub.option("--output", o->output, "Folder for the outputs as .npy files");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

void add_first_run(Subcommand app, Run& run) {
  auto o = std::make_shared<RunArguments>();
  Subcommand sub = app.command(run, "first-run", "Child of `tw run`", o, first_run);
  sub.hide();
  sub.option("model", o->model, "Model").required();
  sub.option("--input", o->inputs, "Input as name=file");
  sub.option("--device", o->device, "Of a network for a GPU");
  sub.flag("--random-input", o->random, "Random values for what is not given");
  sub.option("--seed", o->seed, "Of the random inputs");
}

}  // namespace tw::cli
