// SPDX-License-Identifier: Apache-2.0
// Sessions against recorded spaces: trials a second on one thread, kept in memory and in a workspace.
//   replays_bench [--space matmul-znver5] [--tuner random] [--sessions N] [--batch N] [--wanted 10000]
// Ends with 1 if sessions in memory are slower than wanted.
#include "app/logs/recorded_space.h"
#include "db/session_workspace.h"
#include "engine/api/tune.h"
#include "engine/base/json.h"
#include "engine/measure/recorded_device.h"
#include "engine/process/temporary_folder.h"
#include "engine/records/memory_store.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

tune::SessionOptions session_of(const bench::Options& options, uint64_t seed, int64_t trials) {
  tune::SessionOptions o;
  o.tuner = options.text("tuner", "random");
  o.seed = seed;
  o.trials = trials;
  o.batch = static_cast<int>(options.integer("batch", 16));
  o.finalists = 0;
  return bench::need(tune::session_options(tune::to_json(o)));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const std::string name = options.text("space", "matmul-znver5");
  const logs::RecordedSpace space = bench::need(logs::read_recorded_space(bench::need(logs::space_file(std::string(logs::kSpaceByName) + name))));
  auto trials = std::make_shared<records::RecordedTrials>();
  for (const records::Record& r : space.records) trials->add(r);
  const auto budget = static_cast<int64_t>(space.records.size());
  const int64_t sessions = options.integer("sessions", 50);
  const std::vector<tune::SessionTask> tasks{{space.task, 1, {}}};

  int64_t made = 0;
  const double in_memory = bench::seconds_of([&] {
    for (int64_t seed = 1; seed <= sessions; ++seed) {
      const measure::Device device = measure::recorded_device("recorded:" + name, trials);
      records::MemoryStore store;
      const auto report = bench::need(tune::run_session(tasks, session_of(options, static_cast<uint64_t>(seed), budget), *device.builder, *device.runner, store, {}, {}));
      made += report.tasks.front().trials;
    }
  });

  const process::TemporaryFolder folder = bench::need(process::TemporaryFolder::create());
  const std::shared_ptr<db::Database> db = bench::need(db::Database::open(folder.path() + "/r.twdb"));
  const ModelId model = bench::need(db->put_model(name, name, name, Json::object()));
  bench::need(db->link_task(model, bench::need(db->put_task(space.task)), 1, records::Weights::unknown));
  const auto store = db::session_store(db, model, Json::object());
  int64_t stored = 0;
  const double in_workspace = bench::seconds_of([&] {
    for (int64_t seed = 1; seed <= sessions; ++seed) {
      api::TuneRequest request;
      request.tasks = tasks;
      request.target = space.task.target;
      request.options = session_of(options, static_cast<uint64_t>(seed), budget);
      request.device = "recorded:" + name;
      request.replay = trials;
      stored += bench::need(api::tune(std::move(request), *store, {})).report.tasks.front().trials;
    }
  });
  const double rate = static_cast<double>(made) / in_memory, wanted = static_cast<double>(options.integer("wanted", 10000));
  std::printf("%s, %s, %lld sessions of %lld trials, rounds of %lld\n", name.c_str(), options.text("tuner", "random").c_str(), static_cast<long long>(sessions),
              static_cast<long long>(budget), static_cast<long long>(options.integer("batch", 16)));
  std::printf("in memory: %.0f trials a second (wanted %.0f)\nin a workspace: %.0f trials a second\n", rate, wanted, static_cast<double>(stored) / in_workspace);
  return rate >= wanted ? 0 : 1;
}
