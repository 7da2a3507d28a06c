// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/loop_scene.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/tir/print.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

/// Steps that count as lately.
constexpr size_t kLately = 64;
/// Points of a picture along one side; of larger arrays several elements share one.
constexpr int64_t kMostPoints = 640;
/// Sets of a cache beside each other.
constexpr int64_t kSetsInRow = 256;
/// What share of an array's colour its elements have.
constexpr double kEver = 0.22, kInSecond = 0.45, kInFirst = 0.72;

QColor mixed(const QColor& a, const QColor& b, double share) {
  const auto part = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
  return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

/// The largest whole magnification of a picture that fits, or less than one.
QRectF fitted(const QSize& picture, const QRect& room) {
  double scale = std::min(1.0 * room.width() / picture.width(), 1.0 * room.height() / picture.height());
  if (scale > 1) scale = std::floor(scale);
  return {room.left() + 0.0, room.top() + 0.0, picture.width() * scale, picture.height() * scale};
}

QString kindText(tir::ForKind kind) {
  switch (kind) {
    case tir::ForKind::parallel:
      return LoopScene::tr("parallel");
    case tir::ForKind::vectorized:
      return LoopScene::tr("vector");
    case tir::ForKind::unrolled:
    case tir::ForKind::unrolled_explicit:
      return LoopScene::tr("unrolled");
    case tir::ForKind::serial:
      return {};
    default:
      return QString::fromLatin1(tir::thread_name(kind));
  }
}

}  // namespace

ArrayGrid::ArrayGrid(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t d : shape) elements *= d;
  m_columns = std::max<int64_t>(1, shape.empty() ? 1 : shape.back());
  const bool flat = shape.size() < 2 || m_columns > kMostPoints;
  if (flat && elements > 64) m_columns = std::max<int64_t>(16, (static_cast<int64_t>(std::sqrt(static_cast<double>(elements))) + 15) / 16 * 16);
  const int64_t rows = std::max<int64_t>(1, (elements + m_columns - 1) / m_columns);
  // Whole slices of the last two dimensions stay together.
  const int64_t slice = flat ? 1 : shape[shape.size() - 2];
  const auto panels = std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(static_cast<double>(rows) / static_cast<double>(m_columns))));
  m_rowsOfPanel = ((rows + panels - 1) / panels + slice - 1) / slice * slice;
  const int64_t used = (rows + m_rowsOfPanel - 1) / m_rowsOfPanel;
  m_shrink = std::max<int64_t>(1, (std::max(used * m_columns, m_rowsOfPanel) + kMostPoints - 1) / kMostPoints);
  m_width = static_cast<int>((used * m_columns + m_shrink - 1) / m_shrink);
  m_height = static_cast<int>((std::min(rows, m_rowsOfPanel) + m_shrink - 1) / m_shrink);
}

QPoint ArrayGrid::at(int64_t element) const {
  const int64_t row = element / m_columns, column = element % m_columns;
  return {static_cast<int>((row / m_rowsOfPanel * m_columns + column) / m_shrink), static_cast<int>(row % m_rowsOfPanel / m_shrink)};
}

LoopScene::LoopScene(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.loops.scene"));
  setAccessibleName(tr("Loops, arrays and caches"));
  setFocusPolicy(Qt::StrongFocus);
}

void LoopScene::setPlay(std::shared_ptr<const simulate::LoopPlay> play, const QString& title) {
  m_play = std::move(play);
  m_cursor.reset();
  m_title = title;
  m_lines.clear();
  m_grids.clear();
  m_arrays.clear();
  m_caches.clear();
  if (m_play) {
    m_cursor.emplace(m_play);
    const tir::AccessTrace& trace = m_play->trace();
    std::set<int> seen;
    for (size_t s = 0; s < trace.statements.size(); ++s) {
      int level = 0;
      for (const int loop : trace.statements[s].loops) {
        const tir::ForNode& n = *trace.loops[static_cast<size_t>(loop)].loop;
        const auto extent = ir::as_int(n.extent);
        if (seen.insert(loop).second)
          m_lines.push_back({loop, -1, level, tr("for %1 in %2").arg(QString::fromStdString(n.var->name), extent ? countText(*extent) : QStringLiteral("…"))});
        ++level;
      }
      const std::string text = tir::print(tir::Stmt(trace.statements[s].statement));
      m_lines.push_back({-1, static_cast<int>(s), level, QString::fromStdString(text.substr(0, text.find('\n')))});
    }
    for (const tir::Buffer& b : trace.arrays) {
      m_grids.emplace_back(b->shape);
      m_arrays.emplace_back(m_grids.back().size(), QImage::Format_RGB32);
    }
    for (const simulate::CacheLevel& l : m_play->levels()) {
      const int64_t width = std::min(l.sets(), kSetsInRow);
      m_caches.emplace_back(static_cast<int>(width), static_cast<int>((l.sets() + width - 1) / width * l.ways), QImage::Format_RGB32);
    }
  }
  m_stale = true;
  setAccessibleDescription(summary());
  update();
}

void LoopScene::seek(size_t steps) {
  if (!m_cursor) return;
  m_cursor->seek(steps);
  m_stale = true;
  update();
}

QColor LoopScene::colourOf(int array) const { return themeOf(this).categorical(array); }
QString LoopScene::nameOf(int array) const { return QString::fromStdString(m_play->trace().arrays[static_cast<size_t>(array)]->name); }

void LoopScene::makePictures() {
  m_stale = false;
  const Theme& theme = themeOf(this);
  const tir::AccessTrace& trace = m_play->trace();
  const size_t at = m_cursor->at(), count = m_arrays.size();
  // The level whose cache holds each element, 0 for none, 1 for the furthest; lines of nearer levels overwrite those of further ones.
  std::vector<std::vector<uint8_t>> level(count);
  for (size_t a = 0; a < count; ++a) level[a].assign(static_cast<size_t>(trace.arrays[a]->num_elements()), 0);
  m_held.assign(m_caches.size(), 0);
  for (size_t k = m_caches.size(); k-- > 0;) {
    const simulate::CacheLevel& cache = m_play->levels()[k];
    const auto lines = m_cursor->caches().lines(k);
    QImage& picture = m_caches[k];
    picture.fill(theme.base);
    std::vector<QRgb> colours(count);
    for (size_t a = 0; a < count; ++a) colours[a] = mixed(theme.base, colourOf(static_cast<int>(a)), kInFirst).rgb();
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] < 0) continue;
      ++m_held[k];
      const auto [array, first] = m_play->element_at(lines[i] * cache.line);
      if (array < 0) continue;
      const auto set = static_cast<int64_t>(i) / cache.ways;
      picture.setPixel(static_cast<int>(set % picture.width()), static_cast<int>(set / picture.width() * cache.ways + static_cast<int64_t>(i) % cache.ways),
                       colours[static_cast<size_t>(array)]);
      std::vector<uint8_t>& of = level[static_cast<size_t>(array)];
      const auto elements = cache.line / trace.arrays[static_cast<size_t>(array)]->dtype.bytes();
      for (int64_t e = first; e < std::min<int64_t>(first + elements, static_cast<int64_t>(of.size())); ++e)
        of[static_cast<size_t>(e)] = static_cast<uint8_t>(m_caches.size() - k);
    }
  }
  for (size_t a = 0; a < count; ++a) {
    const QColor colour = colourOf(static_cast<int>(a));
    const QRgb none = theme.base.rgb(), ever = mixed(theme.base, colour, kEver).rgb(), second = mixed(theme.base, colour, kInSecond).rgb(),
               nearest = mixed(theme.base, colour, kInFirst).rgb();
    const simulate::PlayArray& array = m_play->arrays()[a];
    const bool cached = array.home == simulate::PlayArray::Home::memory;
    QImage& picture = m_arrays[a];
    picture.fill(none);
    for (size_t e = 0; e < array.first_touch.size(); ++e) {
      const uint8_t held = level[a][e];
      const bool touched = array.first_touch[e] < at;
      if (!touched && held == 0) continue;
      const QRgb shade = held == m_caches.size() && held > 0 ? nearest : held > 0 ? second : cached ? ever : second;
      picture.setPixel(m_grids[a].at(static_cast<int64_t>(e)), shade);
    }
  }
  for (size_t s = at > kLately ? at - kLately : 0; s < at; ++s)
    for (size_t i = trace.steps[s].accesses; i < trace.steps[s + 1].accesses; ++i) {
      const tir::TracedAccess& access = trace.accesses[i];
      const auto a = static_cast<size_t>(access.array);
      const QRgb shade = s + 1 < at ? colourOf(access.array).rgb() : (access.is_store ? theme.error : theme.text).rgb();
      for (int lane = 0; lane < access.lanes; ++lane)
        if (const int64_t p = trace.positions[access.first + static_cast<size_t>(lane)]; p >= 0) m_arrays[a].setPixel(m_grids[a].at(p), shade);
    }
}

void LoopScene::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) m_stale = true;  // pictures are in the theme's colours
}

QSize LoopScene::sizeHint() const { return {760, 460}; }
QSize LoopScene::minimumSizeHint() const { return {300, 220}; }

void LoopScene::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (!m_play) return;
  if (m_stale) makePictures();
  const int line = fontMetrics().height() + 4;
  const QRect whole = rect().adjusted(6, 4, -6, -4);
  QFont bold = font();
  bold.setBold(true);
  p.setFont(bold);
  p.setPen(theme.text);
  const QString step = m_cursor->at() == 0 ? tr("before the first of %1 steps").arg(countText(static_cast<qint64>(m_play->size())))
                                           : tr("step %1 of %2").arg(countText(static_cast<qint64>(m_cursor->at())), countText(static_cast<qint64>(m_play->size())));
  const QString head = m_title.isEmpty() ? step : QStringLiteral("%1: %2").arg(m_title, step);
  p.drawText(QRect(whole.left(), whole.top(), whole.width(), line), Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(bold).elidedText(head, Qt::ElideRight, whole.width()));
  p.setFont(font());
  const QRect body = whole.adjusted(0, line + 2, 0, 0);
  const int text = std::min(420, body.width() * 45 / 100);
  const int countLines = static_cast<int>(m_arrays.size()) + 1;
  const int counts = std::min(body.height() / 2, countLines * line + 6);
  paintProgram(p, QRect(body.left(), body.top(), text - 10, body.height() - counts - 6));
  paintCounts(p, QRect(body.left(), body.bottom() - counts, text - 10, counts));
  const QRect pictures(body.left() + text, body.top(), body.width() - text, body.height());
  const int legend = paintLegend(p, pictures);
  const int caches = std::max(3 * line, (pictures.height() - legend) * 26 / 100);
  paintArrays(p, pictures.adjusted(0, 0, 0, -caches - legend - 6));
  paintCaches(p, QRect(pictures.left(), pictures.bottom() - caches - legend, pictures.width(), caches));
}

void LoopScene::paintProgram(QPainter& p, const QRect& place) {
  const Theme& theme = themeOf(this);
  const int line = fontMetrics().height() + 4;
  const int fit = std::max(1, place.height() / line);
  const tir::AccessTrace& trace = m_play->trace();
  std::vector<std::optional<int64_t>> turns(trace.loops.size());
  int now = -1;
  if (m_cursor->at() > 0) {
    const tir::TraceStep& step = trace.steps[m_cursor->at() - 1];
    now = step.statement;
    const std::vector<int>& loops = trace.statements[static_cast<size_t>(now)].loops;
    for (size_t k = 0; k < loops.size(); ++k) turns[static_cast<size_t>(loops[k])] = trace.turns[step.turns + k];
  }
  const auto current = std::find_if(m_lines.begin(), m_lines.end(), [&](const Line& l) { return l.statement == now && now >= 0; });
  const int at = current == m_lines.end() ? 0 : static_cast<int>(current - m_lines.begin());
  const int first = std::clamp(at - fit + 2, 0, std::max(0, static_cast<int>(m_lines.size()) - fit));
  for (int i = first; i < std::min(first + fit, static_cast<int>(m_lines.size())); ++i) {
    const Line& l = m_lines[static_cast<size_t>(i)];
    const QRect row(place.left(), place.top() + (i - first) * line, place.width(), line);
    const int indent = std::min(l.level * 12, place.width() / 2);
    QString text = l.text;
    bool active = l.statement >= 0 && l.statement == now;
    if (active) p.fillRect(row, theme.currentBand);
    if (l.loop >= 0) {
      const tir::TracedLoop& loop = trace.loops[static_cast<size_t>(l.loop)];
      if (const QString kind = kindText(loop.loop->for_kind); !kind.isEmpty()) text += QStringLiteral(" (%1)").arg(kind);
      if (const auto turn = turns[static_cast<size_t>(l.loop)]) {
        active = true;
        text += loop.lanes ? tr(", all at once") : QStringLiteral(": %1").arg(countText(*turn));
      }
    }
    p.setPen(active ? theme.text : theme.mutedText);
    const QRect room = row.adjusted(indent + 2, 0, 0, 0);
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
  }
}

void LoopScene::paintCounts(QPainter& p, const QRect& place) {
  const Theme& theme = themeOf(this);
  const int line = fontMetrics().height() + 4;
  const Table counts = table();
  const bool gpu = counts.columns.size() > 8;
  // Name, reads, writes, then what was found in the nearest cache and in memory, or what warps cost.
  const QStringList heads = gpu ? QStringList{tr("array"), tr("reads"), tr("writes"), tr("sectors"), tr("banks")}
                                : QStringList{tr("array"), tr("reads"), tr("writes"), tr("%1 hits").arg(QString::fromStdString(m_play->levels().front().name)), tr("from memory")};
  const int first = place.width() * 24 / 100, other = (place.width() - first) / 4;
  const auto cell = [&](int row, int column, const QString& text, const QColor& colour) {
    const QRect room(place.left() + (column == 0 ? 16 : first + (column - 1) * other), place.top() + row * line, (column == 0 ? first - 16 : other) - 4, line);
    p.setPen(colour);
    p.drawText(room, (column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
  };
  for (int c = 0; c < heads.size(); ++c) cell(0, c, heads[c], theme.mutedText);
  for (int a = 0; a < static_cast<int>(m_arrays.size()); ++a) {
    if ((a + 2) * line > place.height() + line / 2) break;
    const simulate::PlayCounts sum = m_play->sum(m_cursor->counts(), -1, a);
    p.fillRect(QRect(place.left() + 2, place.top() + (a + 1) * line + 4, 10, line - 8), colourOf(a));
    cell(a + 1, 0, nameOf(a), theme.text);
    cell(a + 1, 1, countText(sum.loads), theme.text);
    cell(a + 1, 2, countText(sum.stores), theme.text);
    const bool memory = m_play->arrays()[static_cast<size_t>(a)].home == simulate::PlayArray::Home::memory;
    const QString dash(QChar(0x2014));
    if (gpu) {
      cell(a + 1, 3, sum.sectors > 0 ? countText(sum.sectors) : dash, theme.text);
      cell(a + 1, 4, sum.wavefronts > 0 ? countText(sum.wavefronts) : dash, theme.text);
    } else {
      cell(a + 1, 3, sum.lookups > 0 ? tr("%1 %").arg(100 * sum.hit_share(0), 0, 'f', 1) : memory ? dash : tr("registers"), theme.text);
      cell(a + 1, 4, sum.lookups > 0 ? countText(sum.held.back()) : dash, theme.text);
    }
  }
}

void LoopScene::paintArrays(QPainter& p, const QRect& place) {
  const Theme& theme = themeOf(this);
  const int line = fontMetrics().height() + 2, count = static_cast<int>(m_arrays.size());
  if (count == 0 || place.height() < 2 * line) return;
  const int columns = std::min(count, std::max(1, static_cast<int>(std::ceil(std::sqrt(1.3 * count * place.width() / std::max(1, place.height()))))));
  const int rows = (count + columns - 1) / columns;
  const int width = place.width() / columns, height = place.height() / rows;
  for (int a = 0; a < count; ++a) {
    const QRect cell(place.left() + a % columns * width, place.top() + a / columns * height, width - 8, height - 4);
    const tir::Buffer& b = m_play->trace().arrays[static_cast<size_t>(a)];
    QStringList shape;
    for (const int64_t d : b->shape) shape << QString::number(d);
    const simulate::PlayArray::Home home = m_play->arrays()[static_cast<size_t>(a)].home;
    const QString where = home == simulate::PlayArray::Home::registers ? tr(", registers") : home == simulate::PlayArray::Home::shared ? tr(", shared memory") : QString();
    p.setPen(theme.text);
    // Where there is no room for all of it, the name says most.
    QString title = QStringLiteral("%1 [%2]%3").arg(nameOf(a), shape.join(QStringLiteral(", ")), where);
    if (fontMetrics().horizontalAdvance(title) > cell.width()) title = nameOf(a);
    p.drawText(QRect(cell.left(), cell.top(), cell.width(), line), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(title, Qt::ElideMiddle, cell.width()));
    const QImage& picture = m_arrays[static_cast<size_t>(a)];
    const QRectF room = fitted(picture.size(), cell.adjusted(0, line, 0, 0));
    if (room.isEmpty()) continue;
    p.drawImage(room, picture);
    p.setPen(theme.border);
    p.drawRect(room.adjusted(-0.5, -0.5, 0.5, 0.5));
  }
}

void LoopScene::paintCaches(QPainter& p, const QRect& place) {
  const Theme& theme = themeOf(this);
  const int line = fontMetrics().height() + 2, count = static_cast<int>(m_caches.size());
  for (int k = 0; k < count; ++k) {
    const int width = place.width() / count;
    const QRect cell(place.left() + k * width, place.top(), width - 8, place.height() - 2);
    const simulate::CacheLevel& level = m_play->levels()[static_cast<size_t>(k)];
    p.setPen(theme.text);
    p.drawText(QRect(cell.left(), cell.top(), cell.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
               fontMetrics().elidedText(tr("%1, %2: %3 of %4 lines, %5 made room")
                                            .arg(QString::fromStdString(level.name), bytesText(static_cast<double>(level.bytes)), countText(m_held[static_cast<size_t>(k)]),
                                                 countText(level.sets() * level.ways), countText(m_cursor->caches().evictions(static_cast<size_t>(k)))),
                                        Qt::ElideRight, cell.width()));
    const QRectF room(cell.left(), cell.top() + line, cell.width(), std::max(4, cell.height() - line));
    p.drawImage(room, m_caches[static_cast<size_t>(k)]);
    p.setPen(theme.border);
    p.drawRect(room.adjusted(-0.5, -0.5, 0.5, 0.5));
  }
}

int LoopScene::paintLegend(QPainter& p, const QRect& place) {
  const Theme& theme = themeOf(this);
  const int line = fontMetrics().height() + 4;
  const QColor sample = colourOf(0);
  const std::pair<QString, QColor> all[] = {{tr("read now"), theme.text},
                                            {tr("written now"), theme.error},
                                            {tr("lately"), sample},
                                            {tr("in L1"), mixed(theme.base, sample, kInFirst)},
                                            {tr("in L2"), mixed(theme.base, sample, kInSecond)},
                                            {tr("ever"), mixed(theme.base, sample, kEver)}};
  int x = place.left();
  for (const auto& [text, colour] : all) {
    const int width = fontMetrics().horizontalAdvance(text);
    if (x + 14 + width > place.right()) break;
    const QRect box(x, place.bottom() - line + 5, 10, line - 8);
    p.fillRect(box, colour);
    p.setPen(theme.border);
    p.drawRect(box);
    p.setPen(theme.mutedText);
    p.drawText(QRect(x + 14, place.bottom() - line, width + 2, line), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += width + 26;
  }
  return line;
}

QString LoopScene::summary() const {
  if (!m_play) return tr("No loops");
  const simulate::PlayCounts all = m_play->sum(m_play->totals(), -1, -1);
  return tr("%1 steps, %2 elements read and written, %3 lines looked up, %4 of them from memory")
      .arg(countText(static_cast<qint64>(m_play->size())), countText(all.elements()), countText(all.lookups), countText(all.held.back()));
}

Table LoopScene::table() const {
  Table t;
  if (!m_play) return t;
  t.columns = {tr("array"), tr("elements read"), tr("elements written"), tr("lines looked up")};
  for (const simulate::CacheLevel& l : m_play->levels()) t.columns << tr("lines found in %1").arg(QString::fromStdString(l.name));
  t.columns << tr("lines from memory");
  const bool gpu = !m_play->trace().steps.empty() && m_play->size() > 0 && m_play->trace().steps.front().warp >= 0;
  if (gpu) t.columns << tr("accesses by warps") << tr("sectors") << tr("wavefronts of shared memory");
  for (int a = 0; a < static_cast<int>(m_arrays.size()); ++a) {
    const simulate::PlayCounts c = m_play->sum(m_cursor->counts(), -1, a);
    QStringList row{nameOf(a), QString::number(c.loads), QString::number(c.stores), QString::number(c.lookups)};
    for (const int64_t h : c.held) row << QString::number(h);
    if (gpu) row << QString::number(c.warp_accesses) << QString::number(c.sectors) << QString::number(c.wavefronts);
    t.rows.push_back(std::move(row));
  }
  return t;
}

}  // namespace tw::widgets
