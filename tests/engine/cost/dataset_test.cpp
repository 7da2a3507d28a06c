// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/dataset.h"

#include <QtTest>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::cost;

class DatasetTest : public QObject {
  Q_OBJECT

  static Dataset numbered(int tasks, int samples) {
    Dataset data;
    for (int i = 0; i < samples; ++i)
      for (int t = 0; t < tasks; ++t) data.add(std::to_string(t), {{static_cast<float>(1000 * t + i)}}, i + 1);
    return data;
  }
  static std::multiset<float> first_values(const Dataset& data) {
    std::multiset<float> out;
    for (const Dataset::Task& t : data.tasks())
      for (const Dataset::Sample& s : t.samples) out.insert(s.rows.values[0]);
    return out;
  }

  /// Points of the task's template with a time for each, and what else a database holds.
  static std::vector<records::Record> measured(const records::Task& task, int count) {
    const space::Template* t = space::find_template(*task.dag, task.target);
    const space::ConfigSpace space = t->space(*task.dag, task.target);
    std::vector<records::Record> records;
    for (int64_t i = 0; i < space.size() && static_cast<int>(records.size()) < count; i += 61) {
      const auto schedule = t->apply(task.dag, task.target, *space.get(i));
      if (!schedule) continue;
      records::Record r;
      r.task_key = task.key;
      r.candidate = {t->name, i, space.get(i)->json_text(), schedule->steps()};
      r.result.status = records::Status::ok;
      r.result.samples_s = {1e-3 * static_cast<double>(records.size() + 1)};
      records.push_back(std::move(r));
    }
    return records;
  }

 private Q_SLOTS:
  void labels_are_relative_to_each_tasks_fastest() {
    Dataset data;
    data.add("a", {{1}}, 50);
    data.add("b", {{2, 3}}, 0);
    data.add("a", {{4, 5, 6, 7}, 2}, 200);
    data.add("a", {{8}}, 0);
    QCOMPARE(data.size(), size_t{4});
    QCOMPARE(data.tasks().size(), size_t{2});
    QCOMPARE(data.labels(), (std::vector<double>{0.25, 1, 0, 0}));
    QCOMPARE(data.group_sizes(), (std::vector<size_t>{3, 1}));
    const FeatureMatrix x = data.matrix();
    QCOMPARE(x.rows(), size_t{5});
    QCOMPARE(x.columns(), size_t{2});
    QCOMPARE(x.data()[8], 2.0F);  // the only sample of b comes last
  }

  void samples_are_dealt_out_within_each_task() {
    const Dataset data = numbered(3, 20);
    Rng rng(1);
    const Dataset::Split split = data.split_samples(0.25, rng);
    for (const Dataset::Task& t : split.test.tasks()) QCOMPARE(t.samples.size(), size_t{5});
    for (const Dataset::Task& t : split.train.tasks()) QCOMPARE(t.samples.size(), size_t{15});
    QCOMPARE(split.test.tasks().size(), size_t{3});
    std::multiset<float> both = first_values(split.train);
    both.merge(first_values(split.test));
    QVERIFY(both == first_values(data));
    // Labels stay relative to the whole task's fastest, in whichever part it is.
    for (const Dataset* part : {&split.train, &split.test})
      for (const Dataset::Task& t : part->tasks()) QCOMPARE(t.fastest, 20.0);
    Rng again(1), other(2);
    QVERIFY(first_values(data.split_samples(0.25, again).test) == first_values(split.test));
    QVERIFY(first_values(data.split_samples(0.25, other).test) != first_values(split.test));
  }

  void tasks_are_dealt_out_whole() {
    const Dataset data = numbered(10, 4);
    Rng rng(1);
    const Dataset::Split split = data.split_tasks(0.3, rng);
    QCOMPARE(split.test.tasks().size(), size_t{3});
    QCOMPARE(split.train.tasks().size(), size_t{7});
    QCOMPARE(split.test.size(), size_t{12});
    std::set<std::string> keys;
    for (const Dataset* part : {&split.train, &split.test})
      for (const Dataset::Task& t : part->tasks()) QVERIFY(keys.insert(t.key).second);
    QCOMPARE(data.split_tasks(0, rng).test.size(), size_t{0});
    QCOMPARE(data.split_tasks(1, rng).train.size(), size_t{0});
  }

  void records_become_samples() {
    const records::Task a = tune::fixture::dense(64, 64, 64), b = tune::fixture::dense(32, 64, 64);
    std::vector<records::Record> of_a = measured(a, 6);
    const std::vector<records::Record> of_b = measured(b, 3);
    QVERIFY(of_a.size() == 6 && of_b.size() == 3);
    of_a[1].result.status = records::Status::run_crash;  // tells of the candidate
    of_a[2].result.status = records::Status::infra;      // does not
    of_a[3].candidate.space = "no such template";        // loops but no knobs
    of_a[4].candidate = {"default", -1, {}, of_a[4].candidate.steps};
    of_a[5].candidate.steps = {schedule::ComputeInlineStep{99}};
    const std::vector<records::TaskRecords> tasks{{a, of_a}, {b, of_b}};
    WorkerPool pool(2), alone(1);
    const Dataset loops = Dataset::of_records(*find_feature("itervar"), tasks, pool);
    QCOMPARE(loops.group_sizes(), (std::vector<size_t>{4, 3}));
    QCOMPARE(loops.tasks()[0].key, a.key);
    QCOMPARE(loops.tasks()[0].samples[1].speed, 0.0);
    QCOMPARE(loops.tasks()[1].samples[1].speed, 1 / 2e-3);
    const Dataset knobs = Dataset::of_records(*find_feature("knob"), tasks, pool);
    QCOMPARE(knobs.group_sizes(), (std::vector<size_t>{3, 3}));  // knobs need no lowering, but a point
    const Dataset serial = Dataset::of_records(*find_feature("itervar"), tasks, alone);
    for (size_t t = 0; t < 2; ++t)
      for (size_t i = 0; i < serial.tasks()[t].samples.size(); ++i) QVERIFY(serial.tasks()[t].samples[i].rows == loops.tasks()[t].samples[i].rows);
    StopSource stop;
    stop.request_stop();
    QCOMPARE(Dataset::of_records(*find_feature("knob"), tasks, pool, stop.get_token()).size(), size_t{0});
  }
};

QTEST_APPLESS_MAIN(DatasetTest)
#include "dataset_test.moc"
