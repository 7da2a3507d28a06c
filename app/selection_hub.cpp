// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection_hub.h"

#include <algorithm>

#include "app/services/playback_clock.h"

namespace tw::app {
namespace {
constexpr size_t kHistoryLimit = 200;
/// Edits of one filter that follow each other faster are undone at once.
constexpr int kMergeEditsMillis = 500;
enum CommandId { kFilterCommand = 1 };
}  // namespace

class SelectionHub::FilterCommand : public QUndoCommand {
 public:
  FilterCommand(SelectionHub& hub, QString name, QString text) : m_hub(hub), m_name(std::move(name)), m_before(hub.filter(m_name)), m_after(std::move(text)) {
    setText(tr("filter"));
    m_age.start();
  }
  void undo() override { put(m_before); }
  void redo() override { put(m_after); }
  int id() const override { return kFilterCommand; }
  bool mergeWith(const QUndoCommand* next) override {
    const auto* other = static_cast<const FilterCommand*>(next);
    if (other->m_name != m_name || m_age.hasExpired(kMergeEditsMillis)) return false;
    m_after = other->m_after;
    m_age.restart();
    return true;
  }

 private:
  void put(const QString& text) {
    m_hub.m_filters[m_name] = text;
    Q_EMIT m_hub.filterChanged(m_name);
  }
  SelectionHub& m_hub;
  QString m_name, m_before, m_after;
  QElapsedTimer m_age;
};

/// Puts another value in the place of one, and back.
template <class T>
class SelectionHub::SwapCommand : public QUndoCommand {
 public:
  SwapCommand(const QString& text, SelectionHub& hub, T SelectionHub::*place, T other, void (SelectionHub::*changed)())
      : QUndoCommand(text), m_hub(hub), m_place(place), m_other(std::move(other)), m_changed(changed) {}
  void undo() override { swap(); }
  void redo() override { swap(); }

 private:
  void swap() {
    std::swap(m_hub.*m_place, m_other);
    Q_EMIT(m_hub.*m_changed)();
  }
  SelectionHub& m_hub;
  T SelectionHub::*m_place;
  T m_other;
  void (SelectionHub::*m_changed)();
};

template <class T>
void SelectionHub::put(Way way, const QString& text, T SelectionHub::*place, T value, void (SelectionHub::*changed)()) {
  if (value == this->*place) return;
  if (way == Way::chosen) return m_undo.push(new SwapCommand<T>(text, *this, place, std::move(value), changed));
  this->*place = std::move(value);
  Q_EMIT(this->*changed)();
}

SelectionHub::SelectionHub(QObject* parent) : QObject(parent), m_playback(new PlaybackClock(this)) {
  m_undo.setUndoLimit(200);
  m_record.setSingleShot(true);
  m_record.setInterval(0);
  connect(&m_record, &QTimer::timeout, this, &SelectionHub::record);
}

void SelectionHub::setModel(OpenModelPtr model) {
  // The history and what is put side by side speak of one model.
  m_record.stop();
  m_history.clear();
  m_at = -1;
  m_sinceEntry.invalidate();
  m_undo.clear();
  const int node = m_model && model && model->completes(*m_model) ? m_now.node : -1;
  const bool hadPlace = !m_now.place.isNull(), hadTray = !m_tray.empty(), hadCompared = !m_compared.empty();
  m_tray.clear();
  m_compared.clear();
  m_model = std::move(model);
  m_now = {};
  m_now.node = node;
  setCodeBase({}, Way::followed);
  Q_EMIT modelChanged();
  Q_EMIT nodeChanged();
  if (m_model && !m_model->tasks.empty())
    setTask(std::max(0, m_model->taskOfNode(node)), Way::followed);
  else
    Q_EMIT taskChanged();
  if (hadPlace) Q_EMIT placeChanged();
  if (hadTray) Q_EMIT trayChanged();
  if (hadCompared) Q_EMIT comparedSessionsChanged();
  record();
}

void SelectionHub::copySelection(const SelectionHub& other) {
  m_filters = other.m_filters;
  setModel(other.m_model);
  show(other.m_now);
  setCodeBase(other.m_base, Way::followed);
  record();
}

void SelectionHub::setNode(int node) {
  if (node == m_now.node) return;
  m_now.node = node;
  dropPlace();
  Q_EMIT nodeChanged();
  changed(Way::chosen);
  if (const int task = m_model ? m_model->taskOfNode(node) : -1; task >= 0) setTask(task);
}

void SelectionHub::setTask(int task, Way way) {
  const bool chosen = way == Way::chosen && m_model && task < static_cast<int>(m_model->tasks.size());
  if (chosen && task == m_now.task) Q_EMIT taskChosen();
  if (task == m_now.task || !m_model || task >= static_cast<int>(m_model->tasks.size())) return;
  m_now.task = task;
  m_now.trial = m_now.config = -1;
  m_now.edited = false;
  dropPlace();
  Q_EMIT taskChanged();
  changed(way);
  if (chosen) Q_EMIT taskChosen();
}

void SelectionHub::setSession(SessionId session, Way way) {
  m_sessionChosen = session && way == Way::chosen;
  if (session == m_now.session) return;
  m_now.session = session;
  const bool hides = session && m_now.trial >= 0 && m_now.trialSession != session;
  if (hides) m_now.trial = -1;
  Q_EMIT sessionChanged();
  if (hides) Q_EMIT trialChanged();
  changed(way);
}

void SelectionHub::setTrial(qint64 number) { setTrial({m_now.session ? m_now.session : m_now.trialSession, m_now.task, number}); }

void SelectionHub::setTrial(const TrialRef& trial) {
  if (trial.number >= 0 && m_now.session && trial.session != m_now.session) setSession({});
  setTask(trial.task);
  if (trial == trialRef()) return;
  m_now.trialSession = trial.session;
  m_now.trial = trial.number;
  m_now.edited = false;
  dropPlace();
  Q_EMIT trialChanged();
  changed(Way::chosen);
}

void SelectionHub::setConfigIndex(qint64 index) {
  m_now.config = index;
  m_now.edited = index >= 0;
  dropPlace();
  if (m_now.trial >= 0) {
    m_now.trial = -1;
    Q_EMIT trialChanged();
  }
  Q_EMIT configEdited();
  changed(Way::chosen);
}

void SelectionHub::noteConfigIndex(qint64 index) {
  if (index == m_now.config) return;
  m_now.config = index;
  m_now.edited = false;
  Q_EMIT configNoted();
  changed(Way::followed);
}

void SelectionHub::setPlace(widgets::CodePlace place) {
  if (place.isNull()) place = {};
  if (place == m_now.place) return;
  m_now.place = place;
  Q_EMIT placeChanged();
  changed(Way::chosen);
}

void SelectionHub::setCodeBase(const CodeBase& base, Way way) {
  put(way, tr("base of differences"), &SelectionHub::m_base, base, &SelectionHub::codeBaseChanged);
}

void SelectionHub::dropPlace() {
  if (m_now.place.isNull()) return;
  m_now.place = {};
  Q_EMIT placeChanged();
}

void SelectionHub::changed(Way way) {
  // What one click changes, directly or by what listens, is one entry.
  if (way == Way::chosen)
    m_record.start();
  else if (!m_record.isActive() && m_at >= 0)
    m_history[static_cast<size_t>(m_at)] = m_now;
}

void SelectionHub::record() {
  m_record.stop();
  if (!m_model || (m_at >= 0 && m_history[static_cast<size_t>(m_at)] == m_now)) return;
  m_history.resize(static_cast<size_t>(m_at + 1));
  // The first entry stays: it is where the model was entered.
  if (m_at > 0 && m_sinceEntry.isValid() && m_sinceEntry.elapsed() < m_mergeMillis) {
    m_history.back() = m_now;
  } else {
    m_history.push_back(m_now);
    if (m_history.size() > kHistoryLimit) m_history.erase(m_history.begin());
  }
  m_at = static_cast<int>(m_history.size()) - 1;
  m_sinceEntry.start();
  Q_EMIT historyChanged();
}

void SelectionHub::back() {
  record();
  if (canGoBack()) go(m_at - 1);
}

void SelectionHub::forward() {
  record();
  if (canGoForward()) go(m_at + 1);
}

void SelectionHub::go(int entry) {
  m_at = entry;
  m_sinceEntry.invalidate();
  show(m_history[static_cast<size_t>(entry)]);
  m_record.stop();
  m_history[static_cast<size_t>(entry)] = m_now;
  Q_EMIT historyChanged();
}

void SelectionHub::show(const Looked& next) {
  const Looked wanted = next, before = m_now;  // listeners may select further things
  m_now = wanted;
  if (wanted.session != before.session) Q_EMIT sessionChanged();
  if (wanted.task != before.task) Q_EMIT taskChanged();
  if (wanted.node != before.node) Q_EMIT nodeChanged();
  m_now = wanted;
  if (wanted.trial != before.trial || wanted.trialSession != before.trialSession) Q_EMIT trialChanged();
  if (wanted.edited && (wanted.config != before.config || !before.edited || wanted.task != before.task))
    Q_EMIT configEdited();
  else if (wanted.config != before.config)
    Q_EMIT configNoted();
  if (wanted.place != before.place) Q_EMIT placeChanged();
}

void SelectionHub::setFilter(const QString& name, const QString& text) {
  if (filter(name) != text) m_undo.push(new FilterCommand(*this, name, text));
}

void SelectionHub::setTray(std::vector<TrialRef> tray) {
  if (tray.size() > kTrayLimit) tray.erase(tray.begin(), tray.end() - kTrayLimit);
  put(Way::chosen, tr("compare tray"), &SelectionHub::m_tray, std::move(tray), &SelectionHub::trayChanged);
}

void SelectionHub::toggleTray(const TrialRef& trial) {
  std::vector<TrialRef> tray = m_tray;
  const auto it = std::find(tray.begin(), tray.end(), trial);
  if (it == tray.end())
    tray.push_back(trial);
  else
    tray.erase(it);
  setTray(std::move(tray));
}

void SelectionHub::setComparedSessions(std::vector<SessionId> sessions, Way way) {
  put(way, tr("compared sessions"), &SelectionHub::m_compared, std::move(sessions), &SelectionHub::comparedSessionsChanged);
}

}  // namespace tw::app
