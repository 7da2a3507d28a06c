// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/icons.h"

#include <QAction>
#include <QHash>
#include <QPainter>
#include <QSvgRenderer>

#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

/// Bodies of 16x16 drawings; `C` stands for the colour.
const QHash<QString, QByteArray>& drawings() {
  static const QHash<QString, QByteArray> table = {
      {QStringLiteral("file.open"),
       R"(<path d="M1.5 13.5v-10h4.5l1.5 2h5.5v2M1.5 13.5l2.5-6h11l-2.5 6z" fill="none" stroke="C" stroke-width="1.3" stroke-linejoin="round"/>)"},
      {QStringLiteral("file.workspace"),
       R"(<ellipse cx="8" cy="3.5" rx="5.5" ry="2" fill="none" stroke="C" stroke-width="1.3"/><path d="M2.5 3.5v9c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2v-9M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2" fill="none" stroke="C" stroke-width="1.3"/>)"},
      {QStringLiteral("go.back"), R"(<path d="M14 8H3M7 3.5L2.5 8 7 12.5" fill="none" stroke="C" stroke-width="1.5" stroke-linejoin="round"/>)"},
      {QStringLiteral("go.forward"), R"(<path d="M2 8h11M9 3.5L13.5 8 9 12.5" fill="none" stroke="C" stroke-width="1.5" stroke-linejoin="round"/>)"},
      {QStringLiteral("tune.start"), R"(<path d="M4 2.5l9 5.5-9 5.5z" fill="C"/>)"},
      {QStringLiteral("tune.task"), R"(<path d="M6 3.5l7.5 4.5L6 12.5z" fill="C"/><path d="M2.5 3v10" stroke="C" stroke-width="1.6"/>)"},
      {QStringLiteral("tune.pause"), R"(<path d="M4 3h3v10H4zM9 3h3v10H9z" fill="C"/>)"},
      {QStringLiteral("tune.cancel"), R"(<rect x="3.5" y="3.5" width="9" height="9" rx="1" fill="C"/>)"},
      {QStringLiteral("playback.back"), R"(<path d="M13 2.5L5.5 8 13 13.5z" fill="C"/><path d="M3.5 3v10" stroke="C" stroke-width="1.6"/>)"},
      {QStringLiteral("playback.forward"), R"(<path d="M3 2.5l7.5 5.5L3 13.5z" fill="C"/><path d="M12.5 3v10" stroke="C" stroke-width="1.6"/>)"},
      {QStringLiteral("playback.close"), R"(<path d="M3.5 3.5l9 9M12.5 3.5l-9 9" stroke="C" stroke-width="1.5"/>)"},
      {QStringLiteral("trial.best"),
       R"(<path d="M8 1.8l1.9 4 4.3.5-3.2 3 .9 4.3L8 11.4l-3.9 2.2.9-4.3-3.2-3 4.3-.5z" fill="none" stroke="C" stroke-width="1.3" stroke-linejoin="round"/>)"},
      {QStringLiteral("graph.zoomIn"),
       R"(<circle cx="7" cy="7" r="4.5" fill="none" stroke="C" stroke-width="1.4"/><path d="M10.4 10.4L14 14M5 7h4M7 5v4" stroke="C" stroke-width="1.4"/>)"},
      {QStringLiteral("graph.zoomOut"),
       R"(<circle cx="7" cy="7" r="4.5" fill="none" stroke="C" stroke-width="1.4"/><path d="M10.4 10.4L14 14M5 7h4" stroke="C" stroke-width="1.4"/>)"},
      {QStringLiteral("graph.fit"),
       R"(<path d="M2 5.5V2h3.5M10.5 2H14v3.5M14 10.5V14h-3.5M5.5 14H2v-3.5" fill="none" stroke="C" stroke-width="1.4"/><rect x="5" y="5" width="6" height="6" fill="none" stroke="C" stroke-width="1.2"/>)"},
  };
  return table;
}

constexpr double kDisabledContrast = 3;  ///< seen as what it is, in both themes, and still told from one that can be pressed

QPixmap render(const QByteArray& body, const QColor& color) {
  QByteArray svg = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">)" + body + "</svg>";
  svg.replace("\"C\"", '"' + color.name().toLatin1() + '"');
  QSvgRenderer renderer(svg);
  QPixmap pixmap(48, 48);
  pixmap.fill(Qt::transparent);
  QPainter p(&pixmap);
  renderer.render(&p);
  return pixmap;
}

}  // namespace

QIcon themedIcon(const QString& action, const Theme& theme) {
  const auto it = drawings().find(action);
  if (it == drawings().end()) return {};
  QIcon icon;
  icon.addPixmap(render(*it, theme.text), QIcon::Normal);
  icon.addPixmap(render(*it, withContrast(theme.border, theme.window, kDisabledContrast)), QIcon::Disabled);
  return icon;
}

void setActionIcons(const QList<QAction*>& actions, const Theme& theme) {
  for (QAction* action : actions) action->setIcon(themedIcon(action->objectName().mid(static_cast<int>(qstrlen("action."))), theme));
}

}  // namespace tw::widgets
