// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/start_page.h"

#include <QCheckBox>
#include <QCommandLinkButton>
#include <QFileInfo>
#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/services/engine.h"
#include "widgets/common/scroll_page.h"

namespace tw::app {
namespace {

QLabel* heading(const QString& text, double scale, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * scale);
  font.setBold(true);
  label->setFont(font);
  return label;
}

}  // namespace

StartPage::StartPage(Services& services, QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("page.start"));
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  QWidget* page = widgets::addScrollPage(outer);
  page->setBackgroundRole(QPalette::Base);
  page->setAutoFillBackground(true);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(28, 22, 28, 22);
  box->setSpacing(8);
  box->addWidget(heading(tr("Tilewright"), 1.9, page));
  auto* intro = new QLabel(tr("Import a network, see its tuning tasks, tune them on this machine and read the code of every choice."), page);
  intro->setWordWrap(true);
  box->addWidget(intro);
  auto* open = new QToolButton(page);
  open->setDefaultAction(services.actions.get(QStringLiteral("file.open")));
  open->setObjectName(QStringLiteral("button.start.open"));
  open->setAccessibleName(open->defaultAction()->text());
  open->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  box->addWidget(open, 0, Qt::AlignLeft);
  box->addSpacing(10);
  box->addWidget(heading(tr("Bundled networks"), 1.15, page));
  m_tiny = new QCheckBox(tr("Small variants (few channels, small images; tuned in seconds)"), page);
  m_tiny->setObjectName(QStringLiteral("check.start.tiny"));
  m_tiny->setAccessibleName(m_tiny->text());
  box->addWidget(m_tiny);
  auto* grid = new QGridLayout;
  grid->setSpacing(6);
  int i = 0;
  for (const auto& model : services.engine.zoo()) {
    grid->addWidget(card(QString::fromLatin1(model.name), QString::fromUtf8(model.summary)), i / 2, i % 2);
    ++i;
  }
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  box->addLayout(grid);
  m_recentHost = new QWidget(page);
  m_recent = new QVBoxLayout(m_recentHost);
  m_recent->setContentsMargins(0, 10, 0, 0);
  box->addWidget(m_recentHost);
  box->addStretch();
}

QWidget* StartPage::card(const QString& name, const QString& summary) {
  auto* frame = new QFrame(this);
  frame->setFrameShape(QFrame::StyledPanel);
  auto* box = new QVBoxLayout(frame);
  box->setContentsMargins(2, 2, 2, 2);
  auto* button = new QCommandLinkButton(name, summary, frame);
  box->addWidget(button);
  button->setObjectName(QStringLiteral("card.") + name);
  button->setAccessibleName(tr("Open the bundled network %1").arg(name));
  button->setIcon(QIcon());
  button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  connect(button, &QCommandLinkButton::clicked, this, [this, name] { Q_EMIT zooChosen(name, m_tiny->isChecked()); });
  return frame;
}

void StartPage::setRecent(const QStringList& files) {
  while (QLayoutItem* item = m_recent->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  m_recentHost->setVisible(!files.isEmpty());
  if (files.isEmpty()) return;
  m_recent->addWidget(heading(tr("Recent files"), 1.15, m_recentHost));
  for (const QString& file : files) {
    auto* button = new QToolButton(m_recentHost);
    button->setText(QFileInfo(file).fileName() + QStringLiteral("   ") + QFileInfo(file).absolutePath());
    button->setAutoRaise(true);
    button->setAccessibleName(tr("Open %1").arg(file));
    connect(button, &QToolButton::clicked, this, [this, file] { Q_EMIT fileChosen(file); });
    m_recent->addWidget(button, 0, Qt::AlignLeft);
  }
}

}  // namespace tw::app
