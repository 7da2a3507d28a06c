// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <map>
#include <optional>

#include "app/services/engine.h"
#include "app/services/job_runner.h"

namespace tw::app {

/// The farms of this machine and how one of them is: what `tw farm status` and `tw farm devices` say, asked again and again as long as somebody looks, with what
/// the devices said before.
class FarmService : public QObject {
  Q_OBJECT
 public:
  static constexpr int kAskMillis = 2000;
  static constexpr size_t kMoments = 120;  ///< that are kept of each device

  /// What a device said at one time.
  struct Moment {
    double at_s = 0;  ///< Unix time of the answer
    int64_t measured = 0;
    measure::References references;
  };

  FarmService(Engine& engine, JobRunner& jobs, QObject* parent = nullptr);
  /// Looks which farms there are; waits for no machine.
  void refresh();
  /// Asks the chosen farm at once and from then on, or no longer.
  void setWatched(bool watched);
  /// Another farm, by its name.
  void choose(const std::string& farm);
  /// Tells a device of the chosen farm to do something (farm::device_commands).
  void command(const std::string& device, const std::string& command, const std::string& reason = {});

  const std::vector<farm::FarmFile>& farms() const { return m_farms; }
  /// Null if there is none.
  const farm::FarmFile* farm() const;
  /// Nothing before the first answer, and after one that failed.
  const std::optional<farm::Survey>& survey() const { return m_survey; }
  /// Why the farm does not answer; empty if it does.
  const QString& problem() const { return m_problem; }
  /// Of a device of the chosen farm, ascending; begun anew where its agent was.
  const std::deque<Moment>& moments(const std::string& device) const;
  /// Trials a second of a device over what is kept of it; negative while that is not known.
  double rate(const std::string& device) const;

 Q_SIGNALS:
  /// Other farms, or kinds of devices.
  void farmsChanged();
  /// Another farm, an answer, or that there is none.
  void surveyed();
  /// A device did not do what it was told, as a sentence.
  void failed(const QString& message);

 private:
  struct History {
    std::string boot;
    std::deque<Moment> moments;
  };
  void ask();
  void take(farm::Survey survey);
  void forget();

  Engine& m_engine;
  JobRunner& m_jobs;
  QTimer m_timer;
  LatestJob m_job;
  std::vector<farm::FarmFile> m_farms;
  std::string m_chosen = farm::kDefaultFarm;
  std::optional<farm::Survey> m_survey;
  QString m_problem;
  std::map<std::string, History> m_history;
  bool m_watched = false;
};

}  // namespace tw::app
