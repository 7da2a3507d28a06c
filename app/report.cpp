// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QString>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/json.h"
#include "widgets/common/format.h"
#include "widgets/records/time_kind.h"
#include "widgets/tuning/status_text.h"

namespace tw::app {
namespace {

constexpr int kWidth = 860, kHeight = 240, kLeft = 64, kBottom = 28;

/// All that is told of one task.
struct TaskStory {
  db::TaskRow task;
  int weight = 1;
  std::vector<double> seconds;  ///< per trial, infinity for failures
  std::map<records::Status, int> failures;
  double best = std::numeric_limits<double>::infinity();  ///< of the session: verified trials before others, as everywhere
};

struct ReportTexts {
  Q_DECLARE_TR_FUNCTIONS(Report)
};

QString html(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString row(const QStringList& cells, const char* tag = "td") {
  QString out = QStringLiteral("<tr>");
  for (const QString& cell : cells) out += QStringLiteral("<%1>%2</%1>").arg(QLatin1String(tag), cell);
  return out + QStringLiteral("</tr>\n");
}

QString number(double v) { return QString::number(v, 'f', 1); }

/// All trials as points and the best so far as a line, time against the trial's number, on a logarithmic scale.
QString curve(const TaskStory& story) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const double s : story.seconds) {
    if (std::isfinite(s)) low = std::min(low, s), high = std::max(high, s);
  }
  if (high <= 0) return QStringLiteral("<p>%1</p>\n").arg(ReportTexts::tr("No trial of this task succeeded."));
  if (high < low * 1.01) high = low * 1.01;
  const double n = static_cast<double>(std::max<size_t>(story.seconds.size(), 2));
  const auto x = [&](size_t i) { return kLeft + static_cast<double>(i) / (n - 1) * (kWidth - kLeft - 8); };
  const auto y = [&](double s) { return 8 + (1 - std::log(s / low) / std::log(high / low)) * (kHeight - kBottom - 16); };
  QString points, line, failures;
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < story.seconds.size(); ++i) {
    const double s = story.seconds[i];
    if (!std::isfinite(s)) {
      failures += QStringLiteral("M%1 %2l4 4m0 -4l-4 4").arg(number(x(i) - 2), number(kHeight - kBottom - 6));
      continue;
    }
    points += QStringLiteral("<circle cx='%1' cy='%2' r='1.6'/>").arg(number(x(i)), number(y(s)));
    if (s >= best) continue;
    line += line.isEmpty() ? QStringLiteral("M%1 %2").arg(number(x(i)), number(y(s))) : QStringLiteral("H%1V%2").arg(number(x(i)), number(y(s)));
    best = s;
  }
  line += QStringLiteral("H%1").arg(number(x(story.seconds.size() - 1)));
  QString svg = QStringLiteral("<svg viewBox='0 0 %1 %2' role='img' aria-label='%3'>\n")
                    .arg(kWidth)
                    .arg(kHeight)
                    .arg(ReportTexts::tr("Time of every trial and best so far"));
  for (const double s : {low, std::sqrt(low * high), high}) {
    svg += QStringLiteral("<line class='grid' x1='%1' x2='%2' y1='%3' y2='%3'/><text x='%4' y='%5' text-anchor='end'>%6</text>\n")
               .arg(kLeft)
               .arg(kWidth - 8)
               .arg(number(y(s)))
               .arg(kLeft - 6)
               .arg(number(y(s) + 4), widgets::secondsText(s).toHtmlEscaped());
  }
  svg += QStringLiteral("<g class='trials'>%1</g>\n<path class='failed' d='%2'/>\n<path class='best' d='%3'/>\n").arg(points, failures, line);
  svg += QStringLiteral("<text x='%1' y='%2'>1</text><text x='%3' y='%2' text-anchor='end'>%4</text>\n</svg>\n")
             .arg(kLeft)
             .arg(kHeight - 8)
             .arg(kWidth - 8)
             .arg(ReportTexts::tr("trial %1").arg(story.seconds.size()));
  return svg;
}

QString head(const QString& title) {
  return QStringLiteral(
             "<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>%1</title>\n<style>\n"
             ":root{--fg:#1b1f24;--bg:#fff;--muted:#59636e;--line:#cdd3da;--a:#0067a3;--b:#b3261e}\n"
             "@media(prefers-color-scheme:dark){:root{--fg:#e6eaef;--bg:#14181d;--muted:#9ea8b3;--line:#3d444d;--a:#63b3ed;--b:#ff8a80}}\n"
             "body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:900px;margin:2em auto;padding:0 1em}\n"
             "table{border-collapse:collapse;margin:.6em 0}td,th{border-bottom:1px solid var(--line);padding:.2em .8em .2em "
             "0;text-align:left;vertical-align:top}\n"
             "td.n,th.n{text-align:right}small,.muted{color:var(--muted)}code{font-size:13px}\n"
             "svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--muted)}.grid{stroke:var(--line)}\n"
             ".trials{fill:var(--muted);opacity:.6}.failed{stroke:var(--b);fill:none}.best{stroke:var(--a);stroke-width:2;fill:none}\n"
             "</style></head><body>\n")
      .arg(title.toHtmlEscaped());
}

QString jsonTable(const Json& json) {
  QString out = QStringLiteral("<table>\n");
  for (const auto& [name, value] : json.items()) out += row({html(name), QStringLiteral("<code>%1</code>").arg(html(dump_json(value)))});
  return out + QStringLiteral("</table>\n");
}

/// Notes and tags of the nouns that the report speaks of.
QString notes(const std::vector<db::MarkRow>& marks, const std::vector<std::pair<std::string, QString>>& nouns) {
  QString rows;
  for (const auto& [noun, title] : nouns) {
    for (const db::MarkRow& mark : marks) {
      if (mark.noun != noun) continue;
      QStringList tags;
      for (const std::string& tag : mark.tags) tags << QLatin1Char('#') + html(tag);
      rows += row({title.toHtmlEscaped(), html(mark.note).replace(QLatin1Char('\n'), QStringLiteral("<br>")), tags.join(QLatin1Char(' '))});
    }
  }
  return rows.isEmpty() ? QString() : QStringLiteral("<h2>%1</h2>\n<table>\n%2</table>\n").arg(ReportTexts::tr("Notes"), rows);
}

Expected<TaskStory> tell(db::Database& database, SessionId session, const db::ModelTaskRow& entry, StopToken stop) {
  TaskStory story;
  story.task = entry.task;
  story.weight = entry.weight;
  constexpr int64_t kPage = 4096;
  double unverified = story.best;
  for (TrialId after; !stop.stop_requested();) {
    TW_TRY(const auto rows, database.trials(session, entry.task.id, after, kPage, true));
    for (const db::TrialRow& r : rows) {
      const records::MeasureResult& result = r.record.result;
      const double s = result.ok() && !result.censored ? result.decided_s() : std::numeric_limits<double>::infinity();
      story.seconds.push_back(s);
      if (!result.ok()) ++story.failures[result.status];
      if (!result.verified) unverified = std::min(unverified, s);
      if (result.verified) story.best = std::min(story.best, s);
    }
    if (static_cast<int64_t>(rows.size()) < kPage) break;
    after = rows.back().id;
  }
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "The report was cancelled");
  if (!std::isfinite(story.best)) story.best = unverified;
  return story;
}

QString speedUp(const db::TaskCounts& c) {
  return std::isfinite(c.default_s) && std::isfinite(c.best_s) ? widgets::numberText(c.default_s / c.best_s, 3) + QString(QChar(0x00D7)) : widgets::dashText();
}

}  // namespace

Expected<QByteArray> sessionReport(db::Database& database, SessionId id, StopToken stop) {
  TW_TRY(const auto sessions, database.sessions());
  const auto session = std::find_if(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id == id; });
  if (session == sessions.end()) return Error(ErrorCode::not_found, "The session is not in the workspace", "session " + std::to_string(id.value));
  TW_TRY(const auto models, database.models());
  const auto model = std::find_if(models.begin(), models.end(), [&](const db::ModelRow& m) { return m.id == session->model; });
  if (model == models.end()) return Error(ErrorCode::not_found, "The session's model is not in the workspace", "session " + std::to_string(id.value));
  TW_TRY(const auto tasks, database.tasks_of(session->model));
  TW_TRY(const auto marks, database.marks());
  std::vector<TaskStory> stories;
  for (const db::ModelTaskRow& entry : tasks) {
    TW_TRY(TaskStory story, tell(database, id, entry, stop));
    if (!story.seconds.empty()) stories.push_back(std::move(story));
  }

  const QString title = ReportTexts::tr("Session %1 of %2").arg(id.value).arg(QString::fromStdString(model->name));
  QString page = head(title) + QStringLiteral("<h1>%1</h1>\n<table>\n").arg(title.toHtmlEscaped());
  const auto date = [](double s) { return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(s * 1000)).toString(Qt::ISODate); };
  page += row({ReportTexts::tr("Model"), html(model->name) + QStringLiteral(" <small>%1</small>").arg(html(model->content_key))});
  page +=
      row({ReportTexts::tr("Tuner"), html(session->tuner)}) + row({ReportTexts::tr("Target"), QStringLiteral("<code>%1</code>").arg(html(session->target))});
  if (const widgets::TimeKind kind = session->kind; kind == widgets::TimeKind::replayed)
    page += row({ReportTexts::tr("Times"),
                 ReportTexts::tr("replayed from trials recorded before (%1), not measured again").arg(html(session->options.value("device", "")))});
  else if (const auto target = parse_target(session->target); kind == widgets::TimeKind::simulated && target && target->gpu)
    page += row({ReportTexts::tr("Times"), ReportTexts::tr("simulated by a formula of %1, not measured").arg(html(target->gpu->description))});
  page += row({ReportTexts::tr("State"), html(session->state)}) + row({ReportTexts::tr("Started"), date(session->started_s)});
  if (session->ended_s > session->started_s) page += row({ReportTexts::tr("Duration"), widgets::durationText(session->ended_s - session->started_s)});
  page +=
      row({ReportTexts::tr("Trials"), widgets::countText(session->trials)}) + row({ReportTexts::tr("Program"), html("Tilewright " + session->code_version)});
  page += QStringLiteral("</table>\n<h2>%1</h2>\n<table>\n").arg(ReportTexts::tr("Tasks"));
  page += row({ReportTexts::tr("Task"), ReportTexts::tr("Runs per inference"), ReportTexts::tr("Trials"), ReportTexts::tr("Failed"),
               ReportTexts::tr("Best of the session"), ReportTexts::tr("Best of the task"), ReportTexts::tr("Default schedule"), ReportTexts::tr("Speed-up")},
              "th");
  std::vector<std::pair<std::string, QString>> nouns = {{"model:" + model->content_key, ReportTexts::tr("Model")},
                                                        {"session:" + std::to_string(id.value), ReportTexts::tr("Session")}};
  for (const TaskStory& s : stories) {
    int failed = 0;
    for (const auto& [status, count] : s.failures) failed += count;
    const db::TaskCounts& standing = s.task.of_kind[static_cast<size_t>(session->kind)];  // over all sessions of this kind
    page += row({html(s.task.name), QString::number(s.weight), widgets::countText(static_cast<qint64>(s.seconds.size())), widgets::countText(failed),
                 widgets::secondsText(s.best), widgets::secondsText(standing.best_s), widgets::secondsText(standing.default_s), speedUp(standing)});
    nouns.emplace_back("task:" + s.task.key, QString::fromStdString(s.task.name));
  }
  page += QStringLiteral("</table>\n");
  page += notes(marks, nouns);
  for (const TaskStory& s : stories) {
    page += QStringLiteral("<h2>%1</h2>\n<p class='muted'><code>%2</code></p>\n").arg(html(s.task.name), html(s.task.key)) + curve(s);
    if (s.failures.empty()) continue;
    page += QStringLiteral("<table>\n");
    for (const auto& [status, count] : s.failures) page += row({widgets::statusText(status).toHtmlEscaped(), widgets::countText(count)});
    page += QStringLiteral("</table>\n");
  }
  page += QStringLiteral("<h2>%1</h2>\n").arg(ReportTexts::tr("Options")) + jsonTable(session->options);
  page += QStringLiteral("<h2>%1</h2>\n").arg(ReportTexts::tr("Machine")) + jsonTable(session->host);
  page += QStringLiteral("<p><small>Tilewright %1</small></p>\n</body></html>\n").arg(QStringLiteral(TW_VERSION));
  return page.toUtf8();
}

}  // namespace tw::app
