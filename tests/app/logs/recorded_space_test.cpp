// SPDX-License-Identifier: Apache-2.0
#include "app/logs/recorded_space.h"

#include <QtTest>
#include <cmath>

#include "db/session_workspace.h"
#include "engine/api/explain.h"
#include "engine/base/json.h"
#include "engine/te/source.h"
#include "engine/tune/candidate.h"

using namespace tw;
using namespace tw::logs;

namespace {

constexpr const char* kTarget = "llvm -mcpu=x86-64 -num-cores=1";
constexpr const char* kText = R"(A: float32[16, 16] = placeholder()
B: float32[16, 16] = compute(i, j)
    A[i, j] + float32(1)
outputs(B)

schedule
define_knob(tile, [1, 2, 4])
define_knob(lanes, [1, 8])
jo, ji = split(B.j, lanes)
io, ii = split(B.i, tile)
vectorize(ji) if lanes == 8
)";

constexpr const char* kCache = R"({
"device_name": "NVIDIA A100-PCIE-40GB",
"kernel_name": "two words",
"problem_size": [4096, 4096],
"tune_params_keys": ["block_size_x", "share", "f"],
"tune_params": {"block_size_x": [16, 32, 48], "share": [false, true], "f": [0.5, "a b"]},
"objective": "time",
"cache": {
"16,false,0.5": {"block_size_x": 16, "share": false, "f": 0.5, "time": 0.5, "times": [0.5, 0.6], "compile_time": 300.0, "benchmark_time": 2.0},
"32,true,a": {"block_size_x": 32, "share": true, "f": "a b", "time": "RuntimeFailedConfig"},
"16,true,a": {"block_size_x": 16, "share": true, "f": "a b", "time": "InvalidConfig"},
"48,true,0.5": {"block_size_x": 48, "share": true, "f": 0.5, "time": 1e20},
"48,false,0.5": {"block_size_x": 48, "share": false, "f": 0.5, "time": 0.25},
)";

}  // namespace

class RecordedSpaceFileTest : public QObject {
  Q_OBJECT
  QTemporaryDir dir_;

  std::string file(const char* name, const std::string& text) {
    QFile f(dir_.filePath(QLatin1String(name)));
    if (!f.open(QIODevice::WriteOnly)) return {};
    f.write(QByteArray::fromStdString(text));
    return f.fileName().toStdString();
  }
  static records::Record trial(const records::Task& task, const std::string& space, int64_t index, double seconds) {
    records::Record r;
    r.task_key = task.key;
    r.candidate = index < 0 ? tune::default_candidate(task) : *api::candidate_at(task, space, index);
    r.result.status = seconds > 0 ? records::Status::ok : records::Status::run_crash;
    if (seconds > 0) r.result.samples_s = {seconds}, r.result.sample_flags = {false};
    r.result.verified = seconds > 0;
    return r;
  }

  struct Stored {
    std::shared_ptr<db::Database> db;
    records::Task task;
    SessionId session;
    TaskId id;
  };
  Stored stored(const char* name) {
    Stored s;
    s.db = *db::Database::open(dir_.filePath(QLatin1String(name)).toStdString());
    s.task = records::make_task("add", *te::parse_dag(kText), *parse_target(kTarget));
    const ModelId model = *s.db->put_model("add", "add.te", "key", Json{{"text", kText}});
    s.id = *s.db->put_task(s.task);
    if (!s.db->link_task(model, s.id, 1, records::Weights::unknown)) qFatal("no link");
    s.session = *s.db->begin_session(model, "grid", kTarget, Json{{"device", "local"}}, Json{{"cpu", "A processor"}});
    return s;
  }

 private Q_SLOTS:
  /// What a workspace has of a space is what its file gives back: times, failures, points that are missing, the default schedule.
  void written_and_read() {
    const Stored s = stored("a.twdb");
    QVERIFY(s.db->put_trials(s.session, s.id, {trial(s.task, "own", -1, 9e-6), trial(s.task, "own", 0, 8e-6), trial(s.task, "own", 4, 0), trial(s.task, "own", 5, 1.23456e-6)}));
    const SessionId later = *s.db->begin_session(s.db->sessions()->front().model, "grid", kTarget, Json{{"device", "local"}}, Json{{"cpu", "A processor"}});
    QVERIFY(s.db->put_trials(later, s.id, {trial(s.task, "own", 0, 4e-6)}));
    const auto rows = s.db->tasks();
    const auto text = recorded_space_text(*s.db, rows->front(), "own", "added");
    QVERIFY2(text, text ? "" : text.error().text().c_str());
    const auto again = read_recorded_space(file("a.twspace", *text));
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    QCOMPARE(again->task.key, s.task.key);
    QCOMPARE(again->name, std::string("added"));
    QCOMPARE(again->where, std::string("A processor"));
    QVERIFY(!again->opaque);
    QCOMPARE(again->size, int64_t{6});
    QCOMPARE(again->records.size(), size_t{4});
    QCOMPARE(again->records[0].candidate.index, int64_t{0});
    QCOMPARE(again->records[0].result.seconds(), 4e-6);  // the newer trial
    QVERIFY(again->records[0].candidate.steps == api::candidate_at(s.task, "own", 0)->steps);
    QCOMPARE(again->records[1].candidate.index, int64_t{4});
    QCOMPARE(again->records[1].result.status, records::Status::run_crash);
    QVERIFY(std::abs(again->records[2].result.seconds() - 1.235e-6) < 1e-12);
    QVERIFY(again->records[3].candidate.is_default());
    QCOMPARE(again->records[3].result.seconds(), 9e-6);
    QVERIFY(!recorded_space_text(*s.db, rows->front(), "another", "x"));
  }

  /// Knobs that have changed since are other points: the file is refused, and a default schedule that is another one by now is left out.
  void refuses_what_has_changed() {
    const Stored s = stored("b.twdb");
    QVERIFY(s.db->put_trials(s.session, s.id, {trial(s.task, "own", -1, 9e-6), trial(s.task, "own", 1, 8e-6)}));
    Json json = *parse_json(*recorded_space_text(*s.db, s.db->tasks()->front(), "own", "b"));
    const auto error = [&](const Json& changed) {
      const auto read = read_recorded_space(file("b.twspace", dump_json(changed)));
      return read ? std::string() : read.error().message;
    };
    QCOMPARE(error(json), std::string());
    Json other = json;
    other["text"] = QString::fromLatin1(kText).replace(QLatin1String("[1, 8]"), QLatin1String("[1, 4]")).toStdString();
    QVERIFY(error(other).find("Expected the knobs of 'own' as they were") == 0);
    other = json, other["points"] = Json::array({17});
    QVERIFY(error(other).find("Expected points below 6, found 17") == 0);
    other = json, other["us"] = Json::array({0});
    QVERIFY(error(other).find("Expected a failure for point 1 without a time") == 0);
    other = json, other["us"] = Json::array({1, 2});
    QVERIFY(error(other).find("Expected as many times as points, found 2 and 1") == 0);
    other = json, other["tilewright_space"] = 2;
    QVERIFY(error(other).find("of version 1 at most, found 2") != std::string::npos);
    other = json, other.erase("space");
    QVERIFY(error(other).find("'space'") != std::string::npos);
    other = json, other["default"]["identity"] = "0";
    const auto without = read_recorded_space(file("b.twspace", dump_json(other)));
    QVERIFY(without && without->records.size() == 1);
  }

  /// A cache file of Kernel Tuner, of which the end is not written yet.
  void kernel_tuners_cache() {
    const std::string path = file("kt.json", kCache);
    QVERIFY(is_recorded_space(path));
    const auto space = read_recorded_space(path);
    QVERIFY2(space, space ? "" : space.error().text().c_str());
    QVERIFY(space->opaque);
    QCOMPARE(space->where, std::string("NVIDIA A100-PCIE-40GB"));
    QCOMPARE(space->task.name, std::string("two_words"));
    QCOMPARE(space->size, int64_t{12});
    QCOMPARE(space->records.size(), size_t{5});
    std::map<int64_t, const records::Record*> by_index;
    for (const records::Record& r : space->records) by_index[r.candidate.index] = &r;
    // The first knob varies fastest: block_size_x + 3 share + 6 f.
    QCOMPARE(by_index.at(0)->result.seconds(), 0.5e-3);
    QCOMPARE(by_index.at(0)->result.build_s, 0.3);
    QCOMPARE(by_index.at(2)->result.seconds(), 0.25e-3);
    QCOMPARE(by_index.at(5)->result.status, records::Status::run_crash);
    QCOMPARE(by_index.at(9)->result.status, records::Status::lower_fail);
    QCOMPARE(by_index.at(10)->result.status, records::Status::run_crash);
    const auto whole = read_recorded_space(file("kt2.json", std::string(kCache).substr(0, std::string(kCache).rfind(',')) + "\n}\n}\n"));
    QVERIFY(whole && whole->records.size() == 5 && whole->task.key == space->task.key);
    std::string wrong = kCache;
    wrong.replace(wrong.find("{\"block_size_x\": 48"), 19, "{\"block_size_x\": 49");
    const auto refused = read_recorded_space(file("kt3.json", wrong));
    QVERIFY(!refused && refused.error().message.find("for 'block_size_x' in entry '48,true,0.5', found 49") != std::string::npos);
  }

  /// Lists of knobs and times, as the tests of tuners hold them: null is a point that a filter rejects, 0 a failure.
  void plain_spaces() {
    const auto space = read_recorded_space(file("p.json", R"({"name": "p", "where": "here", "knobs": [{"name": "a", "kind": "ot", "candidates": [1, 2, 4]}], "us": [10, null, 0]})"));
    QVERIFY2(space, space ? "" : space.error().text().c_str());
    QCOMPARE(space->records.size(), size_t{2});
    QCOMPARE(space->records[0].result.seconds(), 10e-6);
    QCOMPARE(space->records[1].candidate.index, int64_t{2});
    QCOMPARE(space->records[1].result.status, records::Status::build_fail);
    const auto size = [&](const char* text) {
      const auto read = read_recorded_space(file("q.json", text));
      return read ? std::string() : read.error().message;
    };
    QVERIFY(size(R"({"name": "p", "where": "here", "knobs": [{"name": "a", "kind": "ot", "candidates": [1, 2]}], "us": [1]})").find("Expected 2 times") == 0);
    QVERIFY(size(R"({"name": "p", "where": "here", "knobs": [{"name": "a", "kind": "sp", "candidates": [[1]]}], "us": [1]})").find("Expected knobs of kind 'ot'") == 0);
    QVERIFY(size("[1]").find("Expected a recorded space") == 0);
    for (const char* name : {"conv2d_64x28x28", "dense_64x384x384", "depthwise_conv2d_192x28x28"}) {
      const auto held = read_recorded_space(std::string(TW_TESTS_DIR "/engine/tune/spaces/") + name + ".json");
      QVERIFY2(held && held->records.size() > 300, name);
    }
  }

  /// A space in a workspace is what a log claims: a second time there is nothing new, and a device answers from it.
  void entered_once() {
    const auto space = read_recorded_space(file("kt.json", kCache));
    const auto db = *db::Database::open(dir_.filePath(QStringLiteral("c.twdb")).toStdString());
    const auto entered = enter_recorded_space(*db, *space, Json::object(), {});
    QVERIFY2(entered, entered ? "" : entered.error().text().c_str());
    QCOMPARE(entered->stored, int64_t{5});
    QCOMPARE(entered->failures, int64_t{3});
    const auto again = enter_recorded_space(*db, *space, Json::object(), {});
    QVERIFY(again && again->stored == 0 && !again->session);
    QCOMPARE(db->sessions()->front().kind, db::TimeKind::claimed);
    const auto from_workspace = trials_in_file(*db, db->path(), {space->task}, {});
    const auto from_file = trials_in_file(*db, dir_.filePath(QStringLiteral("kt.json")).toStdString(), {space->task}, {});
    QVERIFY(from_workspace && from_file);
    QVERIFY((*from_workspace)->points(space->task.key, "own") == (*from_file)->points(space->task.key, "own"));
    QCOMPARE((*from_file)->size(), size_t{5});
    records::Task other = space->task;
    other.key = "other";
    const auto none = trials_in_file(*db, dir_.filePath(QStringLiteral("kt.json")).toStdString(), {other}, {});
    QVERIFY(!none && none.error().code == ErrorCode::not_found);
  }

  void names() {
    QVERIFY(!is_recorded_space(file("x.json", "{\"name\": 1}")));
    QVERIFY(!is_recorded_space(dir_.filePath(QStringLiteral("nothing")).toStdString()));
    QCOMPARE(*space_file("here.twspace"), std::string("here.twspace"));
    const auto unknown = space_file("space:nothing");
    QVERIFY(!unknown && unknown.error().message.find("'nothing'") != std::string::npos);
  }

  void those_that_come_with_the_program() {
    const std::vector<std::string> all = bundled_spaces();
    QVERIFY(all.size() >= 3);
    for (const std::string& name : all) {
      const auto space = read_recorded_space(*space_file(std::string(kSpaceByName) + name));
      QVERIFY2(space, space ? name.c_str() : space.error().text().c_str());
      QCOMPARE(space->name, name);
      QVERIFY(space->records.size() >= 200);
    }
  }
};

QTEST_APPLESS_MAIN(RecordedSpaceFileTest)
#include "recorded_space_test.moc"
