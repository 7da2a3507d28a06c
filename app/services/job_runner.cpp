// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/job_runner.h"

#include <exception>

namespace tw::app {

JobRunner::JobRunner(QObject* parent) : QObject(parent) {
  m_work.setMaxThreadCount(2);
  m_database.setMaxThreadCount(1);
  m_summary.setMaxThreadCount(1);
  m_network.setMaxThreadCount(1);
  m_farm.setMaxThreadCount(1);
}

JobRunner::~JobRunner() {
  for (const Handle& handle : m_handles) handle->request_stop();
  for (QThreadPool* pool : {&m_work, &m_database, &m_summary, &m_network, &m_farm}) pool->clear();
  for (QThreadPool* pool : {&m_work, &m_database, &m_summary, &m_network, &m_farm}) pool->waitForDone();
}

void JobRunner::start(Lane lane, const Handle& handle, std::function<void()> body) {
  m_handles.insert(handle);
  Q_EMIT runningChanged(++m_running);
  (lane == Lane::work       ? m_work
   : lane == Lane::database ? m_database
   : lane == Lane::summary  ? m_summary
   : lane == Lane::network  ? m_network
                            : m_farm)
      .start([this, handle, body = std::move(body)] {
        body();
        deliver([this, handle] {
          m_handles.erase(handle);
          Q_EMIT runningChanged(--m_running);
        });
      });
}

void JobRunner::deliver(std::function<void()> call) { QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection); }

std::optional<Error> JobRunner::guarded(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& e) {
    return Error(ErrorCode::internal, e.what());
  }
  return std::nullopt;
}

}  // namespace tw::app
