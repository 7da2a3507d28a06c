// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

namespace tw::app {

/// Which threads a job runs on. Jobs of one lane start in order.
enum class Lane {
  work,      ///< lowering, compiling, importing, layout: two threads
  database,  ///< queries: one thread
  summary,   ///< queries that go through all trials of sessions, which others need not wait for: one thread
  network,   ///< whole networks compiled and run, for minutes: one thread
  farm,      ///< waiting for other machines to answer: one thread
};

/// Runs functions on worker threads and hands their results back on the GUI thread.
/// A result is dropped when its receiver is gone or its job was stopped. Bugs (InternalError) become errors of the job.
class JobRunner : public QObject {
  Q_OBJECT
 public:
  using Handle = std::shared_ptr<StopSource>;

  explicit JobRunner(QObject* parent = nullptr);
  /// Stops all jobs and waits for them.
  ~JobRunner() override;

  /// `work` runs on `lane` and may outlive `context`: it holds values and what lives as long as the program, never the caller. `done` runs on the GUI thread if
  /// `context` still lives and the job was not stopped.
  template <class T>
  Handle run(Lane lane, QObject* context, std::function<Expected<T>(StopToken)> work, std::function<void(Expected<T>)> done) {
    auto stop = std::make_shared<StopSource>();
    QPointer<QObject> receiver(context);  // made and looked at on the GUI thread only
    start(lane, stop, [this, stop, receiver, work = std::move(work), done = std::move(done)] {
      auto result = std::make_shared<std::optional<Expected<T>>>();
      if (std::optional<Error> bug = guarded([&] { result->emplace(work(stop->get_token())); })) result->emplace(*bug);
      deliver([stop, receiver, done, result] {
        if (receiver && !stop->stop_requested()) done(std::move(**result));
      });
    });
    return stop;
  }
  int running() const { return m_running; }

 Q_SIGNALS:
  void runningChanged(int jobs);

 private:
  void start(Lane lane, const Handle& handle, std::function<void()> body);
  void deliver(std::function<void()> call);
  /// Runs `body`; an exception comes back as an error.
  static std::optional<Error> guarded(const std::function<void()>& body);

  QThreadPool m_work, m_database, m_summary, m_network, m_farm;
  std::set<Handle> m_handles;  // GUI thread only
  int m_running = 0;
};

/// The newest of a series of jobs: starting another stops the one before, whose result is dropped.
class LatestJob {
 public:
  ~LatestJob() { stop(); }
  void replace(JobRunner::Handle next) {
    stop();
    m_handle = std::move(next);
  }
  void stop() {
    if (m_handle) m_handle->request_stop();
    m_handle.reset();
  }

 private:
  JobRunner::Handle m_handle;
};

}  // namespace tw::app
