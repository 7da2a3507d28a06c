// SPDX-License-Identifier: Apache-2.0
// A bundled network: default schedules against tuned ones, interleaved in one run, with the peak memory of tuning; and both against ONNX Runtime on as many
// threads, where Python has the package `onnxruntime` (--python names the interpreter to ask). --trials-per-task 0 leaves the tuning out.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/api/compile.h"
#include "engine/codegen/codegen.h"
#include "engine/runtime/graph_executor.h"
#include "engine/tune/session.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

class KeepBest : public records::RecordSink, public records::RecordSource {
 public:
  Expected<void> store(const records::Task& task, const std::vector<records::Record>& records) override {
    for (const records::Record& r : records) {
      if (!r.result.ok() || !r.result.verified) continue;
      auto& best = best_[task.key];
      if (!best || r.result.seconds() < best->result.seconds()) best = r;
    }
    return {};
  }
  Expected<std::optional<records::Record>> best(const std::string& key) override { return best_[key]; }

 private:
  std::map<std::string, std::optional<records::Record>> best_;
};

std::unique_ptr<runtime::GraphExecutor> executor(runtime::Executable e, int threads) {
  auto shared = std::make_shared<const runtime::Executable>(std::move(e));
  auto module = bench::need(codegen::load_object(shared->artifact.object));
  return bench::need(runtime::GraphExecutor::create(shared, std::move(module), threads));
}

/// Least latency of ONNX Runtime on the model file, or 0 where it is not installed.
double onnxruntime_s(const std::string& python, const std::string& model, int threads) {
  const std::string command = python + " " + TW_PEERS_DIR + "/onnxruntime_latency.py " + model + " " + std::to_string(threads) + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  double seconds = 0;
  const bool read = pipe && std::fscanf(pipe, "%lf", &seconds) == 1;
  const bool done = pipe && pclose(pipe) == 0;
  return read && done ? seconds : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const std::string name = options.text("model", "resnet18");
  const int threads = static_cast<int>(options.integer("threads", 2));
  Target target = host_target();
  target.cores = threads;
  const std::string path = (std::filesystem::temp_directory_path() / (name + "_bench.onnx")).string();
  bench::need(frontends::write_zoo_model(name, {}, path));
  const api::Network network = bench::need(api::import_network(path, target));

  std::vector<tune::SessionTask> tasks;
  for (const api::NetworkTask& t : api::network_tasks(network, target)) tasks.push_back({t.task, t.weight, {}});
  KeepBest records;
  tune::SessionOptions session;
  session.trials_per_task = options.integer("trials-per-task", 64);
  if (session.trials_per_task > 0) {
    auto builder = bench::need(measure::local_builder({}));
    auto runner = bench::need(measure::local_runner({}));
    tune::SessionReport report;
    const double tuning_s = bench::seconds_of([&] { report = bench::need(tune::run_session(tasks, session, *builder, *runner, records, {}, {})); });
    std::printf("%s, %d threads: %zu tasks, %lld trials each, tuned in %.0f s (build %.0f, measure %.0f, search %.1f)\n", name.c_str(), threads, tasks.size(),
                static_cast<long long>(session.trials_per_task), tuning_s, report.build_s, report.measure_s, report.search_s);
  } else {
    std::printf("%s, %d threads: %zu tasks, not tuned\n", name.c_str(), threads, tasks.size());
  }

  struct Way {
    const char* name;
    std::unique_ptr<runtime::GraphExecutor> executor;
    double best_s = INFINITY;
  };
  std::vector<Way> ways;
  double compile_s = 0;
  std::optional<runtime::Executable> plain;
  compile_s = bench::seconds_of([&] { plain = bench::need(api::compile(network, target, nullptr)); });
  ways.push_back({"default", executor(*std::move(plain), threads)});
  if (session.trials_per_task > 0) ways.push_back({"tuned", executor(bench::need(api::compile(network, target, &records)), threads)});
  std::map<std::string, HostArray> inputs;
  for (const int v : network.imported.inputs) {
    const graph::Value& value = network.imported.values[static_cast<size_t>(v)];
    HostArray a = HostArray::make(value.type.dtype, value.type.shape);
    for (int64_t i = 0; i < a.num_elements(); ++i)
      a.set(i, value.type.dtype.is_float() ? static_cast<double>(i * 7919 % 2001) / 1000.0 - 1.0 : static_cast<double>(i % 2));
    inputs.emplace(value.name, std::move(a));
  }
  for (Way& w : ways) bench::need(w.executor->set_inputs(inputs));
  const auto rounds = [&] {
    for (int round = 0; round < 20; ++round)
      for (Way& w : ways)
        for (int k = 0; k < 3; ++k) w.best_s = std::min(w.best_s, bench::seconds_of([&] { w.executor->run(); }));
  };
  rounds();
  const double peer_s = onnxruntime_s(options.text("python", "python3"), path, threads);
  rounds();
  std::filesystem::remove(path);

  std::printf("  compiled without tuning in %.2f s\n", compile_s);
  if (peer_s > 0)
    std::printf("  %-14s %8.2f ms\n", "ONNX Runtime", peer_s * 1e3);
  else
    std::printf("  ONNX Runtime is not installed: no comparison\n");
  for (const Way& w : ways) {
    std::printf("  %-14s %8.2f ms", w.name, w.best_s * 1e3);
    if (peer_s > 0) std::printf("   %.2f of ONNX Runtime's time", w.best_s / peer_s);
    std::printf("\n");
  }
  if (ways.size() > 1)
    std::printf("  default / tuned: %.2f   largest difference, relative: %.1e\n", ways[0].best_s / ways[1].best_s,
                api::compare(ways[1].executor->outputs().front(), ways[0].executor->outputs().front()).max_rel);
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  std::printf("  peak memory: %.0f MiB here, %.0f MiB in the largest child\n", static_cast<double>(self.ru_maxrss) / 1024,
              static_cast<double>(children.ru_maxrss) / 1024);
}
