// SPDX-License-Identifier: Apache-2.0
#include "engine/api/in_place.h"

#include "engine/target/target.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using namespace tw::api;

namespace {

using Kind = runtime::Slot::Kind;

runtime::Call call(const std::string& symbol, std::vector<int> arrays, const std::string& key) {
  runtime::Call c;
  c.symbol = c.name = symbol;
  c.slots = std::move(arrays);
  c.task_key = key;
  return c;
}

/// in -> a (weights w) -> change -> b -> out; c reads a's result as it is.
runtime::Executable made_up(int64_t weight_bytes) {
  const auto array = [](const char* name, int64_t bytes) { return runtime::ArgSpec{name, kFloat32, {bytes / 4}, {}}; };
  runtime::Executable e;
  e.target = "znver4";
  e.slots = {{Kind::input, array("x", 64), -1, nullptr},        {Kind::constant, array("w", weight_bytes), -1, nullptr},
             {Kind::intermediate, array("a", 64), 0, nullptr},  {Kind::intermediate, array("a2", 64), 64, nullptr},
             {Kind::output, array("y", 64), -1, nullptr},       {Kind::output, array("z", 64), -1, nullptr}};
  e.calls = {call("a", {0, 1, 2}, "ka"), call("change", {2, 3}, ""), call("b", {3, 4}, "kb"), call("c", {2, 5}, "kc")};
  for (runtime::Call& c : e.calls) c.flops = 1e6;  // nothing is bound by memory
  return e;
}

bool says(const CallInPlace& c, const char* words) { return c.reason.find(words) != std::string::npos; }

}  // namespace

class InPlaceTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void layout_changes_belong_to_who_writes_and_who_reads() {
    const auto changes = layout_changes(made_up(64));
    QCOMPARE(changes.size(), size_t{1});
    QCOMPARE(changes[0].call, 1);
    QCOMPARE(changes[0].neighbours, (std::vector<int>{0, 2}));  // c reads what was there before
    const auto places = calls_in_place(made_up(64), std::vector<double>{1e-5, 4e-6, 1e-5, 1e-5}, {});
    QCOMPARE(places[0].layouts_s, 2e-6);
    QCOMPARE(places[2].layouts_s, 2e-6);
    QCOMPARE(places[3].layouts_s, 0.0);
    QVERIFY(says(places[2], "2.00 us of layout changes") && places[3].reason.empty());
    // An input of the network is written by nobody.
    runtime::Executable e = made_up(64);
    e.calls[1].slots = {0, 3};
    QCOMPARE(layout_changes(e)[0].neighbours, (std::vector<int>{2}));
  }

  void reasons_are_given_where_they_are_known() {
    runtime::Executable e = made_up(int64_t{64} << 20);
    for (auto& c : e.calls) c.alone_s = 1e-5;
    e.calls[0].alone_weights = e.calls[2].alone_weights = "warm";
    const std::vector<double> slow{2e-5, 0, 2e-5, 1.05e-5};
    auto places = calls_in_place(e, slow, {});
    QVERIFY(says(places[0], "weights come from memory"));
    QVERIFY(places[2].reason.empty());  // has no weights
    QVERIFY(places[3].reason.empty());  // hardly differs
    e.calls[0].alone_weights = "cold";
    QVERIFY(calls_in_place(e, slow, {})[0].reason.empty());
    places = calls_in_place(e, slow, {true, false, true, true});
    QVERIFY(says(places[0], "woken") && says(places[2], "woken") && places[3].reason.empty());
    runtime::Executable small = made_up(64);
    small.calls[0].alone_s = 1e-5;
    small.calls[0].alone_weights = "cold";
    QVERIFY(says(calls_in_place(small, std::vector<double>{5e-6, 0, 0, 0}, {})[0], "stay in the caches"));
    // Nothing is said of what was never measured alone.
    QVERIFY(calls_in_place(made_up(64), std::vector<double>{1, 0, 1, 1}, {true, true, true, true})[0].reason.empty());
  }

  void kernels_that_mostly_move_read_what_others_wrote() {
    runtime::Executable e = made_up(64);
    e.calls[2].alone_s = 1e-5;
    e.calls[2].flops = 16;
    QVERIFY(says(calls_in_place(e, std::vector<double>{1, 0, 2e-5, 1}, {})[2], "other kernels wrote"));
    QVERIFY(calls_in_place(e, std::vector<double>{1, 0, 5e-6, 1}, {})[2].reason.empty());
    e.calls[2].flops = 1e6;
    QVERIFY(calls_in_place(e, std::vector<double>{1, 0, 2e-5, 1}, {})[2].reason.empty());
  }

  void schedules_made_for_layouts_around_them_are_named() {
    runtime::Executable e = made_up(64);
    e.calls[2].space = "rule";
    e.calls[2].alone_s = 1e-5;
    e.artifact.kernels = {{"b", {{"a2", kFloat32, {16}, {{0, 0}, {0, 4}}}, {"y", kFloat32, {16}, {}, false, true}}}};
    QVERIFY(says(calls_in_place(e, std::vector<double>{1, 0, 2e-5, 1}, {})[2], "layouts around it"));
    e.artifact.kernels[0].args[0].layout.clear();
    QVERIFY(calls_in_place(e, std::vector<double>{1, 0, 2e-5, 1}, {})[2].reason.empty());
  }
};

QTEST_APPLESS_MAIN(InPlaceTest)
#include "in_place_test.moc"
