// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/queue.h"

#include <sys/wait.h>

#include <QtTest>

#include "engine/base/file.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/spool.h"
#include "engine/farm/survey.h"
#include "tests/engine/farm/relay.h"
#include "tests/engine/farm/sim_farm.h"

using namespace tw;
using namespace tw::test;

namespace {

constexpr double kPatience = 60;
const std::shared_ptr<const std::vector<std::byte>> kObject = std::make_shared<const std::vector<std::byte>>(300'000, std::byte{7});

/// One job of the sessions' queue, as an agent takes it.
std::optional<farm::Delivered> take_one(farm::NatsClient& client) {
  const std::string inbox = client.new_inbox();
  farm::ask_for_one(client, farm::Names("test").jobs_stream("sim"), farm::priority_queue(1), inbox).value();
  const auto answer = client.next(std::chrono::steady_clock::now() + std::chrono::seconds(5)).value();
  return answer ? farm::delivered(*answer) : std::nullopt;
}

/// The same once the server has it: a job that was given back is there a moment later.
std::optional<farm::Delivered> take_next(farm::NatsClient& client) {
  const double until = Tenures::now_s() + kPatience;
  for (;;) {
    if (auto taken = take_one(client); taken || Tenures::now_s() > until) return taken;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Runs jobs through a queue until all are answered; `meanwhile` is told how many are.
Tally run_jobs(farm::Queue& queue, const farm::Queue::Options& o, int64_t first, int64_t count, const std::function<void(int64_t)>& meanwhile = {}) {
  Tally tally;
  const double until = Tenures::now_s() + kPatience;
  for (int64_t i = first; i < first + count; ++i) queue.put(sim_job(o.kind, o.session, i, *kObject), kObject, "", {}).value();
  while (static_cast<int64_t>(tally.times.size()) < count && Tenures::now_s() < until) {
    tally.take_all(queue.receive(0.2, {}));
    queue.settle().value();
    if (meanwhile) meanwhile(static_cast<int64_t>(tally.times.size()));
  }
  return tally;
}

}  // namespace

/// A session's side of a farm with a real server and simulated devices.
class QueueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    if (!farm::find_nats_server()) QSKIP("nats-server is not installed");
  }

  /// Several devices share the jobs; each is answered once, by a device of the kind.
  void each_once() {
    SimFarm farm;
    Tenures tenures;
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, &tenures), b(farm.file, "sim", "b", farm.folder(), 0.001, &tenures);
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    const Tally tally = run_jobs(queue, options, 0, 200);
    QVERIFY(tally.each_once(200));
    QCOMPARE(tally.wrong + tally.refused, 0);
    QCOMPARE(tenures.overlaps(), 0);
    std::set<std::string> devices;
    for (const Tenure& t : tenures.all()) devices.insert(t.device);
    QCOMPARE(devices.size(), size_t{2});
    QVERIFY(queue.is_here("a") && queue.is_here("b"));
    QCOMPARE(queue.waited_for(), size_t{0});
  }

  /// The server is killed in the midst, twice, the second time with everything that it kept; a device goes and another comes.
  void survives_the_server() {
    SimFarm farm;
    Tenures tenures;
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.005, &tenures);
    auto b = std::make_unique<SimDevice>(farm.file, "sim", "b", farm.folder(), 0.005, &tenures);
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    int events = 0;
    const Tally tally = run_jobs(queue, options, 0, 300, [&](int64_t done) {
      if (events == 0 && done > 40) farm.kill_server(false), ++events;
      // Results that were on their way come in a burst: the second time only after the first was noticed.
      if (events == 1 && done > 100 && queue.counts().reconnected >= 1) farm.kill_server(true), ++events;
      if (events == 2 && done > 180) b = std::make_unique<SimDevice>(farm.file, "sim", "c", farm.folder(), 0.005, &tenures), ++events;
    });
    QCOMPARE(events, 3);
    QVERIFY2(tally.each_once(300), qPrintable(QString("%1 of 300").arg(tally.times.size())));
    QCOMPARE(tally.wrong + tally.refused, 0);
    QCOMPARE(tenures.overlaps(), 0);
    QVERIFY(queue.counts().reconnected >= 2);
  }

  /// A session that was killed before it settled finds its results when it is there again, and nothing is measured twice.
  void survives_the_session() {
    SimFarm farm;
    Tenures tenures;
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, &tenures);
    const auto options = farm.session();
    {
      farm::Queue queue(options);
      queue.open().value();
      for (int64_t i = 0; i < 20; ++i) queue.put(sim_job("sim", "session", i, *kObject), kObject, "", {}).value();
      size_t heard = 0;
      while (heard < 10) heard += queue.receive(0.2, {}).value().size();
    }
    farm::Queue queue(options);
    queue.open().value();
    const Tally tally = run_jobs(queue, options, 0, 20);
    QVERIFY(tally.each_once(20));
    QCOMPARE(tenures.all().size(), size_t{20});
  }

  /// A device that goes without a word loses its lease, and another one gets the job; one that is stopped gives it back at once.
  void leases_run_out() {
    SimFarm farm;
    Tenures tenures;
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    queue.put(sim_job("sim", "session", 1, *kObject), kObject, "", {}).value();
    QVERIFY(queue.receive(0.3, {}).value().empty());
    // Somebody takes the job and is never heard of again.
    auto client = std::move(farm::NatsClient::connect(farm.file.agent("sim").value().endpoint("gone"), 5).value());
    const auto taken = take_next(*client);
    QVERIFY(taken && taken->deliveries == 1);
    QVERIFY(!take_one(*client));
    const double from = Tenures::now_s();
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, &tenures);
    std::vector<farm::Result> results;
    while (results.empty() && Tenures::now_s() < from + 20) results = queue.receive(0.5, {}).value();
    QCOMPARE(results.size(), size_t{1});
    QCOMPARE(results[0].deliveries, 2);
    QCOMPARE(results[0].device, std::string("a"));
  }

  /// A lease is kept by signs of life for as long as the work takes.
  void leases_are_kept() {
    SimFarm farm;
    Tenures tenures;
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, &tenures), b(farm.file, "sim", "b", farm.folder(), 0.001, &tenures);
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    farm::Job job = sim_job("sim", "session", 1, *kObject);
    job.measure["factor"] = 3000;  // three leases
    queue.put(job, kObject, "", {}).value();
    std::vector<farm::Result> results;
    while (results.empty()) results = queue.receive(0.5, {}).value();
    QCOMPARE(results[0].deliveries, 1);
    QCOMPARE(tenures.all().size(), size_t{1});
  }

  /// Over a line with 50 ms each way and losses, a device has its next jobs there before it is done: one after the other, a job takes seven round trips.
  void a_slow_line() {
    SimFarm farm;
    Tenures tenures;
    Relay relay(farm.file.port, {.delay_s = 0.05, .loss = 0.01});
    farm::FarmFile far = farm.file;
    far.port = relay.port();
    auto options = farm.session();
    options.lease_s = farm::kLeaseSeconds;
    options.reconcile_s = 30;
    SimDevice a(far, "sim", "a", farm.folder(), 0.05, &tenures, farm::kLeaseSeconds);
    farm::Queue queue(options);
    queue.open().value();
    constexpr int64_t kJobs = 60;
    Tally tally;
    for (int64_t i = 0; i < kJobs; ++i) {
      auto code = std::make_shared<std::vector<std::byte>>(50'000);
      std::memcpy(code->data(), &i, sizeof i);  // another one for each, as candidates have
      queue.put(sim_job("sim", "session", i, *code), code, "", {}).value();
    }
    const double from = Tenures::now_s();
    while (static_cast<int64_t>(tally.times.size()) < kJobs && Tenures::now_s() < from + kPatience) {
      tally.take_all(queue.receive(0.2, {}));
      queue.settle().value();
    }
    QVERIFY(tally.each_once(kJobs));
    QCOMPARE(tally.wrong + tally.refused, 0);
    double busy = 0;
    for (const Tenure& t : tenures.all()) busy += t.to_s - t.from_s;
    const double share = busy / (Tenures::now_s() - from);
    QVERIFY2(share > 0.25, qPrintable(QString("the device measured %1 of the time").arg(share)));
  }

  /// What was spooled is there after the agent's death, what was sent is not, and what was half written is neither.
  void spool() {
    const process::TemporaryFolder folder = std::move(process::TemporaryFolder::create().value());
    const auto entry = [](const std::string& identity, size_t bytes) { return farm::Spool::Entry{identity, "to", "done", std::string(bytes, 'r')}; };
    {
      farm::Spool spool = std::move(farm::Spool::open(folder.path()).value());
      for (const char* identity : {"a.1", "b.1", "c.1"}) QVERIFY(spool.add(entry(identity, 5000), [] {}).get().has_value());
      spool.remove("a.1");
      QVERIFY(spool.add(entry("d.1", 10), [] {}).get().has_value());  // where a longer one was
      spool.remove("b.1");
    }
    {
      farm::Spool spool = std::move(farm::Spool::open(folder.path()).value());
      QCOMPARE(spool.entries().size(), size_t{2});
      for (const farm::Spool::Entry& e : spool.entries()) QCOMPARE(e.result.size(), size_t{e.identity == "c.1" ? 5000u : 10u});
      QVERIFY(spool.add(entry("e.1", 7000), [] {}).get().has_value());
    }
    int damaged = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path()))
      if (std::filesystem::file_size(file) > 4000) std::filesystem::resize_file(file, 3000), ++damaged;
    QCOMPARE(damaged, 3);  // one of them is of a result that went, and the short one stands in it now
    const farm::Spool spool = std::move(farm::Spool::open(folder.path()).value());
    QCOMPARE(spool.entries().size(), size_t{1});
    QCOMPARE(spool.entries()[0].identity, std::string("d.1"));
  }

  /// A job that is handed out again and again without an answer is answered as poison.
  void poison() {
    SimFarm farm;
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    queue.put(sim_job("sim", "session", 1, *kObject), kObject, "", {}).value();
    QVERIFY(queue.receive(0.3, {}).value().empty());
    auto client = std::move(farm::NatsClient::connect(farm.file.agent("sim").value().endpoint("dies"), 5).value());
    for (int i = 0; i < farm::kMostDeliveries; ++i) {
      const auto taken = take_next(*client);
      QVERIFY(taken);
      client->publish(taken->message.reply, "-NAK").value();
      client->flush(5).value();
    }
    Tenures tenures;
    SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, &tenures);
    std::vector<farm::Result> results;
    while (results.empty()) results = queue.receive(0.5, {}).value();
    QVERIFY2(results[0].refused.starts_with("Poison"), results[0].refused.c_str());
    QVERIFY(tenures.all().empty());
  }

  /// A device can be drained, quarantined for longer than its agent's life, and released.
  void control() {
    SimFarm farm;
    Tenures tenures;
    auto a = std::make_unique<SimDevice>(farm.file, "sim", "a", farm.folder(), 0.001, &tenures);
    const auto tell = [&](const char* command) {
      for (;;) {
        const auto answer = farm::tell_device(farm.file, "a", Json{{"command", command}, {"reason", "it smokes"}});
        if (answer) return farm::presence_from_json(*answer).value();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    };
    QCOMPARE(tell("drain").phase, std::string("drained"));
    QCOMPARE(tell("resume").phase, std::string("idle"));
    QCOMPARE(tell("quarantine").reason, std::string("it smokes"));
    a.reset();
    a = std::make_unique<SimDevice>(farm.file, "sim", "a", farm.folder(), 0.001, &tenures);
    QCOMPARE(tell("status").phase, std::string("quarantined"));
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    queue.put(sim_job("sim", "session", 1, *kObject), kObject, "", {}).value();
    QVERIFY(queue.receive(1.5, {}).value().empty());
    QCOMPARE(tell("release").phase, std::string("idle"));
    std::vector<farm::Result> results;
    while (results.empty()) results = queue.receive(0.5, {}).value();
    const farm::Survey survey = farm::survey(farm.file).value();
    QCOMPARE(survey.devices.size(), size_t{1});
    QCOMPARE(survey.devices[0].measured, int64_t{1});
    QVERIFY(!farm::tell_device(farm.file, "nobody", Json{{"command", "status"}}));
    QVERIFY(!farm::tell_device(farm.file, "a", Json{{"command", "dance"}}));
  }

  /// Of a group one alone hears of a job, and nobody who has left it.
  void wakes_one() {
    SimFarm farm;
    const std::string subject = farm::Names("test").wake("sim");
    const auto agent = [&] { return std::move(farm::NatsClient::connect(farm.file.agent("sim").value().endpoint("x"), 5).value()); };
    auto a = agent(), b = agent(), gone = agent();
    const auto left = gone->subscribe(subject, "idle");
    QVERIFY(left && gone->unsubscribe(*left));
    for (auto* c : {a.get(), b.get()}) QVERIFY(c->subscribe(subject, "idle").has_value());
    for (auto* c : {a.get(), b.get(), gone.get()}) QVERIFY(c->flush(5).has_value());
    auto session = std::move(farm::NatsClient::connect(farm.file.session().endpoint("tw"), 5).value());
    for (int i = 0; i < 20; ++i) QVERIFY(session->publish(subject, "p1").has_value());
    QVERIFY(session->flush(5).has_value());
    int heard = 0;
    for (auto* c : {a.get(), b.get()}) {
      QVERIFY(c->flush(5).has_value());
      while (c->has_message()) heard += c->next(std::chrono::steady_clock::now()).value()->payload == "p1";
    }
    QCOMPARE(heard, 20);
    QVERIFY(gone->flush(5) && !gone->has_message());
  }

  /// What an agent of one kind may not do, the server refuses.
  void rights() {
    SimFarm farm;
    const farm::FarmFile file = farm::farm_up("test", "other").value();
    const auto options = farm.session();
    farm::Queue queue(options);
    queue.open().value();
    const farm::Names names("test");
    const auto as_other = [&] { return std::move(farm::NatsClient::connect(file.agent("other").value().endpoint("x"), 5).value()); };
    const auto refused = [&](farm::NatsClient& c, const std::string& subject) {
      const auto r = c.request(subject, "x", 1);
      return !r && r.error().code == ErrorCode::invalid_argument;
    };
    QVERIFY(refused(*as_other(), "$JS.API.CONSUMER.MSG.NEXT." + names.jobs_stream("sim") + ".p1"));
    QVERIFY(refused(*as_other(), names.result("sim", "session")));
    QVERIFY(refused(*as_other(), names.job("other", "p1")));
    QVERIFY(refused(*as_other(), "$JS.API.STREAM.DELETE." + names.results_stream()));
    QVERIFY(refused(*as_other(), names.artefact(std::string(64, 'a'), "0")));
    auto listener = as_other();
    QVERIFY(listener->subscribe("tw.test.>").has_value());
    const auto heard = listener->flush(2);
    QVERIFY(!heard && heard.error().code == ErrorCode::invalid_argument);
    farm::Access stranger = file.agent("other").value();
    stranger.password = "guess";
    QVERIFY(!farm::NatsClient::connect(stranger.endpoint("x"), 5));
    stranger.user.clear(), stranger.password.clear();
    QVERIFY(!farm::NatsClient::connect(stranger.endpoint("x"), 5));
  }
};

QTEST_APPLESS_MAIN(QueueTest)
#include "queue_test.moc"
