// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_runner.h"

#include <thread>

#include "engine/measure/network_run.h"
#include "tests/engine/measure/network_fixture.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using namespace tw::test;
using measure::NetworkJob;

class NetworkRunnerTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::unique_ptr<measure::NetworkRunner> runner_;

  std::string file(const QString& name, const measure::BuildOutcome& kernel, int cores = 1) {
    const std::string path = folder_.filePath(name).toStdString();
    runtime::save(network_of(kernel, cores), path).value();
    return path;
  }
  static NetworkJob job(std::vector<std::string> files) {
    NetworkJob j;
    j.files = std::move(files);
    j.block_s = 0.001;
    return j;
  }
  static std::string error_of(const Expected<measure::NetworkTimes>& times) { return times ? "" : times.error().text(); }

 private Q_SLOTS:
  void init() {
    measure::WorkerOptions options;
    options.worker_path = TW_BIN_DIR "/tw-worker";
    runner_ = std::move(*measure::network_runner(options));
  }

  void variants_run_by_turns() {
    for (const int cores : {1, 2}) {
      NetworkJob j = job({file("a.twx", good_kernel(), cores), file("b.twx", good_kernel(), cores)});
      j.outputs = true;
      j.rounds = 5;
      const auto times = runner_->run(j, {});
      QVERIFY2(times, error_of(times).c_str());
      QCOMPARE(times->variants.size(), size_t{2});
      const runtime::Executable e = network_of(good_kernel(), cores);
      const HostArray x = measure::random_inputs(e, j.seed).at("x");
      for (const measure::VariantTimes& v : times->variants) {
        QCOMPARE(v.runs_s.size(), size_t{5});
        QCOMPARE(v.calls_s.size(), size_t{1});
        QCOMPARE(v.calls_s[0].size(), size_t{5});
        for (int r = 0; r < 5; ++r) QVERIFY(v.runs_s[r] > 0 && v.calls_s[0][r] > 0);
        QCOMPARE(v.woke.size(), size_t{1});
        QCOMPARE(v.outputs.size(), size_t{1});
        for (int64_t i = 0; i < kSize; ++i) QCOMPARE(v.outputs[0].get(i), 2 * x.get(i));
      }
      j.outputs = false;
      j.seed = 2;
      const auto again = runner_->run(j, {});
      QVERIFY2(again && again->variants[0].outputs.empty(), error_of(again).c_str());
    }
  }

  void a_network_that_dies_is_an_error_and_the_worker_goes_on() {
    const std::string good = file("good.twx", good_kernel()), bad = file("bad.twx", crashing_kernel());
    const auto died = runner_->run(job({good, bad}), {});
    QVERIFY(!died && died.error().code == ErrorCode::infrastructure);
    QVERIFY2(error_of(died).find("SIGSEGV") != std::string::npos, error_of(died).c_str());
    QVERIFY(runner_->run(job({good}), {}).has_value());
  }

  void a_network_that_hangs_is_ended() {
    NetworkJob j = job({file("endless.twx", endless_kernel())});
    j.run_limit_s = 0.3;
    const auto hung = runner_->run(j, {});
    QVERIFY2(!hung && error_of(hung).find("more than 0.3 s") != std::string::npos, error_of(hung).c_str());
    std::stop_source source;
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      source.request_stop();
    });
    j.run_limit_s = 600;
    const auto stopped = runner_->run(j, source.get_token());
    stopper.join();
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
  }

  void files_that_are_none_are_named() {
    const auto missing = runner_->run(job({folder_.filePath("none.twx").toStdString()}), {});
    QVERIFY2(!missing && error_of(missing).find("none.twx") != std::string::npos, error_of(missing).c_str());
    runtime::Executable e = network_of(good_kernel(), 1);
    e.target = "cuda:a100";
    const std::string path = folder_.filePath("gpu.twx").toStdString();
    // A network for a GPU without one: refused by whoever saves or loads it, never run.
    if (runtime::save(e, path)) QVERIFY(!runner_->run(job({path}), {}));
  }

  void messages_are_not_trusted() {
    const NetworkJob j = job({"a", "b"});
    const auto back = measure::network_job_from_json(to_json(j));
    QVERIFY(back && back->files == j.files && back->rounds == j.rounds && back->block_s == j.block_s && back->seed == j.seed);
    for (const char* key : {"files", "rounds", "seed", "block_s", "device", "outputs", "run_limit_s"}) {
      Json broken = to_json(j);
      broken[key] = Json::object();
      QVERIFY2(!measure::network_job_from_json(broken), key);
    }
    measure::NetworkTimes times;
    times.variants.resize(2);
    for (auto& v : times.variants) {
      v.runs_s.assign(static_cast<size_t>(j.rounds), 1e-3);
      v.calls_s.assign(3, v.runs_s);
      v.woke = {false, true, false};
      v.outputs = {HostArray::make(kFloat32, {2, 3})};
    }
    const process::Frame frame = to_frame(times);
    const auto good = measure::network_times_from_frame(frame, j);
    QVERIFY2(good, error_of(good).c_str());
    QVERIFY(good->variants[1].woke[1] && good->variants[1].outputs[0].shape == (std::vector<int64_t>{2, 3}));
    const auto refused = [&](const std::function<void(process::Frame&)>& breaks) {
      process::Frame f = frame;
      breaks(f);
      return !measure::network_times_from_frame(f, j).has_value();
    };
    QVERIFY(refused([](process::Frame& f) { f.payload.pop_back(); }));
    QVERIFY(refused([](process::Frame& f) { f.payload.push_back(std::byte{0}); }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"].erase(0); }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"][0]["runs_s"][0] = -1; }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"][0]["calls_s"][2] = {1}; }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"][0]["woke"] = Json::array(); }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"][0]["outputs"][0]["shape"] = {-1, 4}; }));
    QVERIFY(refused([](process::Frame& f) { f.header["variants"][0]["outputs"][0]["dtype"] = "float7"; }));
    QVERIFY(refused([](process::Frame& f) { f.header = Json{{"error", "made up"}}; }));
  }
};

QTEST_APPLESS_MAIN(NetworkRunnerTest)
#include "network_runner_test.moc"
