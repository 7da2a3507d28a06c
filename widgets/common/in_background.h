// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QtConcurrent>

namespace tw::widgets {

/// Runs `work` on a thread of the pool and gives what it returns to `done` on the context's thread, unless the context is gone by then. QFuture::then with a
/// context is not for that: up to Qt 6.4 it crashes where the context went while the work was done.
template <class Work, class Done>
void inBackground(QObject* context, Work work, Done done) {
  auto* watcher = new QFutureWatcher<std::invoke_result_t<Work>>(context);
  QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, done = std::move(done)]() mutable {
    watcher->deleteLater();
    done(watcher->future().takeResult());
  });
  watcher->setFuture(QtConcurrent::run(std::move(work)));
}

}  // namespace tw::widgets
