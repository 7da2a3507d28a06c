// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/devices_view.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QSplitter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/services/farm_service.h"
#include "engine/farm/names.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/records/device_model.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

enum QueueColumn { QueueKind, QueueName, QueueWaiting, QueueOut, QueueAgain, QueueColumns };

/// A curve left of the number. Its bottom is half of the most: what differs by noise alone looks flat, what slows down is seen to.
class CurveDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const auto series = index.data(widgets::DeviceModel::SeriesRole).value<QList<double>>();
    const double most = series.isEmpty() ? 0 : *std::max_element(series.begin(), series.end());
    if (series.size() < 2 || most <= 0) return;
    const int number = option.fontMetrics.horizontalAdvance(index.data().toString()) + 3 * option.fontMetrics.averageCharWidth();
    const QRectF place = QRectF(option.rect).adjusted(4, 3, -number, -3);
    if (place.width() < 12) return;
    const auto at = [&](qsizetype i) {
      return QPointF(place.left() + place.width() * static_cast<double>(i) / static_cast<double>(series.size() - 1), place.bottom() - place.height() * std::clamp(2 * series[i] / most - 1, 0.0, 1.0));
    };
    QPainterPath path(at(0));
    for (qsizetype i = 1; i < series.size(); ++i) path.lineTo(at(i));
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const widgets::Theme& theme = widgets::themeOf(option.palette);
    painter->setPen(QPen(option.state.testFlag(QStyle::State_Selected) ? option.palette.color(QPalette::HighlightedText) : theme.accent, 1.4));
    painter->drawPath(path);
    painter->restore();
  }
};

/// Queues by urgency are called by numbers (farm/names.h).
QString queueText(const std::string& queue) {
  for (int priority = 0; priority < farm::kPriorities; ++priority)
    if (queue == farm::priority_queue(priority))
      return priority == 0 ? DevicesView::tr("urgent") : priority == 1 ? DevicesView::tr("usual") : DevicesView::tr("when idle");
  return QString::fromStdString(queue);
}

QString stateText(const farm::Presence& p) {
  const QString phase = p.phase == "idle"        ? DevicesView::tr("idle")
                        : p.phase == "measuring" ? DevicesView::tr("measuring")
                        : p.phase == "drained"   ? DevicesView::tr("drained")
                        : p.phase == "quarantined" ? DevicesView::tr("in quarantine") : QString::fromStdString(p.phase);
  return p.reason.empty() ? phase : DevicesView::tr("%1: %2", "what a device does, and why").arg(phase, QString::fromStdString(p.reason));
}

widgets::DeviceRow rowOf(const farm::Presence& p, const FarmService& farms) {
  widgets::DeviceRow row;
  row.device = QString::fromStdString(p.device), row.kind = QString::fromStdString(p.kind), row.target = QString::fromStdString(p.target);
  if (p.emulated) row.kind = DevicesView::tr("%1 (emulated)", "a kind of devices").arg(row.kind);
  row.state = stateText(p), row.trial = QString::fromStdString(p.trial);
  QStringList failures;
  for (const auto& [kind, count] : p.failures) failures << QStringLiteral("%1 %2").arg(widgets::countText(count), QString::fromStdString(kind));
  row.failures = failures.join(QStringLiteral(", "));
  row.perSecond = farms.rate(p.device), row.measured = p.measured, row.toSend = p.spooled;
  row.temperature = p.temperature_c, row.clock = p.clock_hz, row.freeBytes = static_cast<double>(p.free_bytes);
  for (const FarmService::Moment& m : farms.moments(p.device)) row.arithmetic << m.references.flop_per_s, row.memory << m.references.bytes_per_s;
  return row;
}

}  // namespace

DevicesView::DevicesView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_farm(new QComboBox(this)),
      m_summary(new widgets::ElidedLabel(this)),
      m_model(new widgets::DeviceModel(this)),
      m_queues(new QStandardItemModel(0, QueueColumns, this)) {
  using widgets::DeviceModel;
  m_farm->setObjectName(QStringLiteral("combo.devices.farm"));
  m_farm->setAccessibleName(tr("Farm"));
  m_summary->setObjectName(QStringLiteral("label.devices.summary"));
  m_summary->setTextFormat(Qt::PlainText);
  auto* content = new QWidget(this);
  auto* split = new QSplitter(content);
  split->setObjectName(QStringLiteral("splitter.devices"));
  split->setChildrenCollapsible(false);
  const auto table = [&](const char* name, const QString& accessible, QAbstractItemModel* model) {
    auto* view = new QTreeView(split);
    view->setModel(model);
    view->setObjectName(QLatin1String(name));
    view->setAccessibleName(accessible);
    widgets::setUpTable(view);
    split->addWidget(view);
    return view;
  };
  m_table = table("table.devices", tr("Devices"), m_model);
  for (const int column : {DeviceModel::Arithmetic, DeviceModel::Memory}) m_table->setItemDelegateForColumn(column, new CurveDelegate(m_table));
  const int widths[] = {110, 76, 120, 110, 70, 80, 130, 130, 130, 60, 60, 76, 84, 200};
  for (int c = 0; c < DeviceModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  m_queues->setHorizontalHeaderLabels({tr("Kind"), tr("Queue"), tr("Wait"), tr("Out"), tr("Again")});
  const QString help[] = {tr("Kind of the devices that take jobs of this queue"), tr("How urgent its jobs are; or the one device that they are for, such as a task's finals"),
                          tr("Jobs that wait for a device"), tr("Jobs that a device has"), tr("Jobs that were handed out again, because a device was lost or did not answer in time")};
  for (int c = 0; c < QueueColumns; ++c) m_queues->setHeaderData(c, Qt::Horizontal, help[c], Qt::ToolTipRole);
  m_queueTable = table("table.devices.queues", tr("Queues of jobs"), m_queues);
  const int queueWidths[] = {76, 84, 48, 44, 56};
  for (int c = 0; c < QueueColumns; ++c) m_queueTable->header()->resizeSection(c, queueWidths[c]);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 0);
  split->setSizes({1000, 330});
  auto* line = new QHBoxLayout;
  line->setContentsMargins(6, 2, 6, 0);
  line->addWidget(m_farm);
  line->addWidget(m_summary, 1);
  makeCommands();
  line->addWidget(m_tell);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(2);
  inner->addLayout(line);
  inner->addWidget(split, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  connect(m_farm, &QComboBox::activated, this, [this](int i) { m_services.farms.choose(m_farm->itemData(i).toString().toStdString()); });
  connect(&services.farms, &FarmService::farmsChanged, this, &DevicesView::showFarms);
  connect(&services.farms, &FarmService::surveyed, this, &DevicesView::showSurvey);
  showFarms();
}

void DevicesView::makeCommands() {
  const std::map<std::string, QString> titles = {{"drain", tr("&Drain")},     {"resume", tr("&Resume")},   {"quarantine", tr("&Quarantine\u2026")},
                                                 {"release", tr("Re&lease")}, {"recycle", tr("Re&cycle")}, {"self-test", tr("&Self-test")}};
  m_tell = new QToolButton(this);
  m_tell->setObjectName(QStringLiteral("button.devices.tell"));
  m_tell->setText(tr("Device"));
  m_tell->setAccessibleName(tr("What the device in focus is told"));
  m_tell->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(m_tell);
  menu->setToolTipsVisible(true);
  m_tell->setMenu(menu);
  for (const farm::DeviceCommand& c : farm::device_commands()) {
    const auto title = titles.find(c.name);
    auto* action = new QAction(title == titles.end() ? QString::fromUtf8(c.name) : title->second, this);
    action->setObjectName(QStringLiteral("action.devices.") + QLatin1String(c.name));
    action->setToolTip(QString::fromUtf8(c.help));
    connect(action, &QAction::triggered, this, [this, name = std::string(c.name)] { command(name); });
    menu->addAction(action);
    m_table->addAction(action);
    m_commands[c.name] = action;
  }
  widgets::offerActions(m_table);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &DevicesView::showCommands);
}

const farm::Presence* DevicesView::current() const {
  const auto& survey = m_services.farms.survey();
  const int row = m_table->currentIndex().row();
  return survey && row >= 0 && row < static_cast<int>(survey->devices.size()) ? &survey->devices[static_cast<size_t>(row)] : nullptr;
}

void DevicesView::showCommands() {
  const farm::Presence* p = current();
  for (const auto& [name, action] : m_commands) {
    const bool drained = p && p->phase == "drained", held = p && p->phase == "quarantined";
    const bool fits = name == "resume" ? drained : name == "release" ? held : name == "drain" ? !drained && !held : name == "quarantine" ? !held : true;
    action->setEnabled(p && fits);
  }
  m_tell->setEnabled(p);
  m_tell->setToolTip(p ? tr("Tells %1 to take no jobs, to take them again, or to look at itself").arg(QString::fromStdString(p->device)) : tr("Choose a device in the table first"));
}

void DevicesView::command(const std::string& name) {
  const farm::Presence* p = current();
  if (!p) return;
  if (name != "quarantine") return m_services.farms.command(p->device, name);
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("dialog.devices.quarantine"));
  dialog->setWindowTitle(tr("Quarantine"));
  dialog->setLabelText(tr("Why %1 takes no jobs until it is released").arg(QString::fromStdString(p->device)));
  dialog->setTextValue(tr("by hand"));
  connect(dialog, &QInputDialog::textValueSelected, this,
          [this, device = p->device](const QString& reason) { m_services.farms.command(device, "quarantine", reason.trimmed().toStdString()); });
  dialog->open();
}

void DevicesView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_services.farms.setWatched(true);
}

void DevicesView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_services.farms.setWatched(false);
}

void DevicesView::showFarms() {
  m_farm->clear();
  for (const farm::FarmFile& f : m_services.farms.farms()) m_farm->addItem(QString::fromStdString(f.farm), QString::fromStdString(f.farm));
  if (const farm::FarmFile* farm = m_services.farms.farm()) m_farm->setCurrentIndex(m_farm->findData(QString::fromStdString(farm->farm)));
  m_farm->setEnabled(m_farm->count() > 1);
  showSurvey();
}

void DevicesView::showSurvey() {
  const QString help = tr("A server with a queue, and the devices that take jobs from it");
  if (const farm::FarmFile* farm = m_services.farms.farm()) {
    const QString place = tr("It listens at %1:%2, %3").arg(QString::fromStdString(farm->address)).arg(farm->port).arg(farm->fingerprint.empty() ? tr("not encrypted") : tr("encrypted"));
    m_farm->setToolTip(help + QStringLiteral("\n") + place);
  } else {
    m_farm->setToolTip(help);
  }
  const auto& survey = m_services.farms.survey();
  std::vector<widgets::DeviceRow> rows;
  int measuring = 0;
  for (const farm::Presence& p : survey ? survey->devices : std::vector<farm::Presence>()) {
    rows.push_back(rowOf(p, m_services.farms));
    measuring += p.phase == "measuring" ? 1 : 0;
  }
  const int answering = static_cast<int>(rows.size());
  m_model->setDevices(std::move(rows));
  showQueues();
  if (survey) {
    int64_t waiting = 0, out = 0;
    for (const farm::QueueState& q : survey->queues) waiting += q.length.waiting, out += q.length.handed_out;
    m_summary->setText(tr("%n device(s)", nullptr, answering) + tr(", %1 of them measuring; %2 jobs wait, %3 are handed out; %4 results wait for their sessions")
                                                                   .arg(widgets::countText(measuring), widgets::countText(waiting), widgets::countText(out), widgets::countText(survey->results)));
  }
  showCommands();
  showState();
}

void DevicesView::showQueues() {
  const auto& survey = m_services.farms.survey();
  const auto queues = survey ? survey->queues : std::vector<farm::QueueState>();
  m_queues->setRowCount(static_cast<int>(queues.size()));
  for (size_t i = 0; i < queues.size(); ++i) {
    const farm::QueueState& q = queues[i];
    const QString texts[] = {QString::fromStdString(q.kind), queueText(q.queue), widgets::countText(q.length.waiting), widgets::countText(q.length.handed_out),
                             widgets::countText(q.length.handed_out_again)};
    for (int c = 0; c < QueueColumns; ++c) {
      const QModelIndex at = m_queues->index(static_cast<int>(i), c);
      m_queues->setData(at, texts[c]);
      if (c >= QueueWaiting) m_queues->setData(at, QVariant(Qt::AlignRight | Qt::AlignVCenter), Qt::TextAlignmentRole);
      m_queues->itemFromIndex(at)->setEditable(false);
    }
  }
}

void DevicesView::showState() {
  const FarmService& farms = m_services.farms;
  const farm::FarmFile* farm = farms.farm();
  if (!farm)
    return m_state->showEmpty(tr("No farm"), tr("Other machines and boards can measure for sessions here. The command `tw farm up` makes a farm and prints the one line that a device needs; its devices then stand here, "
                                                "and beside the target in the run bar."));
  if (!farms.problem().isEmpty()) return m_state->showEmpty(tr("The farm %1 does not answer").arg(QString::fromStdString(farm->farm)), farms.problem());
  if (!farms.survey()) return m_state->showEmpty(tr("Asking the devices\u2026"), {});
  if (farms.survey()->devices.empty() && farms.survey()->queues.empty())
    return m_state->showEmpty(tr("No device answers"), tr("The command `tw farm line` prints what a device of the farm %1 needs.").arg(QString::fromStdString(farm->farm)));
  m_state->showContent();
}

}  // namespace tw::app
