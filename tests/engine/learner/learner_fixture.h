// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <QtTest>
#include <cmath>
#include <filesystem>

#include "engine/cost/cost_model.h"
#include "engine/learner/networks.h"

/// What tests of the neural networks share. Where libtorch was there when this was built, the program must be there too.
namespace tw::learner_fixture {

#define TW_NEEDS_LEARNER \
  if (!std::filesystem::exists(TW_BIN_DIR "/tw-learner")) QSKIP("tw-learner is not built: libtorch is not here")

/// A candidate of some statements, with a tiled product if asked for. Its speed follows from its numbers.
inline cost::FeatureRows rows(Rng& rng, bool pattern, double* speed) {
  using namespace learner;
  const auto statements = static_cast<size_t>(rng.range(1, 4));
  cost::FeatureRows out{{}, statements + (pattern ? kPatternRows : 0)};
  out.values.assign(out.count * kRowColumns, 0);
  *speed = 1;
  for (size_t r = 0; r < out.count; ++r) {
    float* row = &out.values[r * kRowColumns];
    const bool step = r >= statements;
    row[0] = step;
    const size_t first = 1 + (step ? kStatementColumns : 0), columns = step ? kPatternColumns : kStatementColumns;
    for (size_t c = 0; c < columns; ++c) row[first + c] = static_cast<float>(rng.uniform_real() * 10);
    if (!step) *speed += std::exp(-0.1 * (row[5] - 4) * (row[5] - 4)) + 0.3 * std::sin(row[40]);
  }
  return out;
}

inline cost::Dataset dataset(int tasks, int samples, bool patterns, uint64_t seed) {
  Rng rng(seed);
  cost::Dataset data;
  for (int t = 0; t < tasks; ++t)
    for (int i = 0; i < samples; ++i) {
      double speed = 0;
      cost::FeatureRows r = rows(rng, patterns && i % 3 != 0, &speed);
      data.add(std::to_string(t), std::move(r), speed * (t + 1));
    }
  return data;
}

/// Candidates of Felix's rows, which are statements and nothing else; what is fast follows from a few of their numbers.
inline cost::Dataset felix_dataset(int tasks, int samples, uint64_t seed) {
  Rng rng(seed);
  cost::Dataset data;
  for (int t = 0; t < tasks; ++t)
    for (int i = 0; i < samples; ++i) {
      cost::FeatureRows r{{}, static_cast<size_t>(rng.range(1, 4))};
      double speed = 0.2;
      for (size_t row = 0; row < r.count; ++row) {
        std::vector<float> x(learner::kFelixRowColumns);
        for (float& v : x) v = static_cast<float>(rng.uniform_real() * 10);
        speed += std::exp(-0.1 * (x[5] - 4) * (x[5] - 4)) + 0.3 * std::sin(x[40] / 3);
        r.values.insert(r.values.end(), x.begin(), x.end());
      }
      data.add(std::to_string(t), std::move(r), 1000 * std::max(0.05, speed) * (t + 1));
    }
  return data;
}

/// A network's first weights, with a normaliser and statistics as data have them.
inline std::vector<float> weights(const learner::Network& network, uint64_t seed) {
  std::vector<float> out = network.initial(seed);
  Rng rng(seed);
  for (const learner::TensorSpec& t : network.tensors)
    for (size_t i = 0; (!t.learned || std::string_view(t.name).starts_with("norm.")) && i < t.elements(); ++i)
      out[network.offset(t.name) + i] = static_cast<float>(1 + rng.uniform_real());
  return out;
}

/// Kills one process: never a group of them, and never what has no number.
inline void end_process(int64_t pid) {
  if (pid > 1) ::kill(static_cast<pid_t>(pid), SIGKILL);
}

/// Processes that this one started, by the name of their program.
inline std::vector<pid_t> children(const std::string& program) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const QString name = QString::fromStdString(entry.path().filename().string());
    bool number = false;
    const int pid = name.toInt(&number);
    QFile file(QString::fromStdString((entry.path() / "stat").string()));
    if (!number || !file.open(QIODevice::ReadOnly)) continue;
    const QByteArray line = file.readAll();  // number (name) state parent
    const qsizetype end = line.lastIndexOf(')');
    const QList<QByteArray> rest = line.mid(end + 2).split(' ');
    if (line.mid(0, end).endsWith(QByteArray::fromStdString("(" + program)) && rest.size() > 1 && rest[1].toInt() == QCoreApplication::applicationPid()) out.push_back(pid);
  }
  return out;
}

}  // namespace tw::learner_fixture
