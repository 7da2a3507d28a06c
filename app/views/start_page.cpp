// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/start_page.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/model_service.h"
#include "widgets/common/format.h"
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

/// Enter presses a button as Space does.
template <class Button>
class EnterPresses : public Button {
 public:
  using Button::Button;

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return this->click();
    Button::keyPressEvent(event);
  }
};

/// A title with a sentence below it, in a frame.
class Card : public EnterPresses<QPushButton> {
 public:
  Card(const QString& title, const QString& summary, QWidget* parent) : EnterPresses<QPushButton>(parent), m_summary(summary) {
    auto* box = new QVBoxLayout(this);
    box->setContentsMargins(12, 8, 12, 8);
    box->setSpacing(2);
    auto* name = heading(title, 1.1, this);
    auto* text = new QLabel(summary, this);
    m_note = new QLabel(this);
    m_note->hide();
    text->setForegroundRole(QPalette::PlaceholderText);
    for (QLabel* label : {name, text, m_note}) {
      label->setTextFormat(Qt::PlainText);
      label->setWordWrap(true);
      label->setAttribute(Qt::WA_TransparentForMouseEvents);
      box->addWidget(label);
    }
    box->setAlignment(Qt::AlignTop);  // a stretch would let the card itself take all the height that the page has left
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
  }
  /// A line below the sentence; none if it is empty.
  void setNote(const QString& note) {
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    setAccessibleDescription(note.isEmpty() ? m_summary : m_summary + QStringLiteral("; ") + note);
  }
  QSize sizeHint() const override { return layout()->totalSizeHint(); }
  QSize minimumSizeHint() const override { return layout()->totalMinimumSize(); }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return layout()->totalHeightForWidth(width); }

 private:
  QLabel* m_note;
  QString m_summary;
};

constexpr const char* kNetwork = "network";  ///< of the card of a bundled network, its name
constexpr int kColumns = 3;    ///< of cards
constexpr int kColumn = 1180;  ///< pixels that lines of text and cards keep to

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
  auto* middle = new QHBoxLayout(page);
  auto* column = new QWidget(page);
  column->setMaximumWidth(kColumn);
  middle->addWidget(column, 1);
  auto* box = new QVBoxLayout(column);
  box->setContentsMargins(28, 22, 28, 22);
  box->setSpacing(8);
  box->addWidget(heading(tr("Tilewright"), 1.9, column));
  auto* intro = new QLabel(tr("Import a network, see its tuning tasks, tune them on this machine and read the code of every choice."), column);
  intro->setWordWrap(true);
  box->addWidget(intro);
  // What was begun comes first.
  m_back = card(QStringLiteral("back"), tr("Back"), tr("To the model that is open."));
  box->addWidget(m_back);
  connect(m_back, &QPushButton::clicked, this, &StartPage::backAsked);
  const auto showBack = [this, &hub = services.hub] {
    static_cast<Card*>(m_back)->setNote(hub.model() ? hub.model()->name : QString());
    m_back->setVisible(hub.model() != nullptr);
  };
  connect(&services.hub, &SelectionHub::modelChanged, this, showBack);
  showBack();
  m_resume = card(QStringLiteral("resume"), tr("Resume"), tr("A session was interrupted; all of its trials are stored. Go on with it."));
  box->addWidget(m_resume);
  QAction* resume = services.actions.get(QStringLiteral("tune.resume"));
  connect(m_resume, &QPushButton::clicked, resume, &QAction::trigger);
  connect(resume, &QAction::enabledChanged, m_resume, &QWidget::setVisible);
  m_resume->setVisible(resume->isEnabled());
  m_recentHost = new QWidget(column);
  m_recent = new QVBoxLayout(m_recentHost);
  m_recent->setContentsMargins(0, 6, 0, 0);
  box->addWidget(m_recentHost);
  box->addSpacing(10);
  auto* cards = new QGridLayout;
  cards->setSpacing(8);
  const auto begin = [&](const char* id, const QString& title, const QString& summary, const std::function<void()>& run, int at) {
    auto* button = card(QLatin1String(id), title, summary);
    connect(button, &QPushButton::clicked, this, run);
    cards->addWidget(button, at / kColumns, at % kColumns);
    cards->setColumnStretch(at % kColumns, 1);
  };
  const auto action = [&services](const char* name) { return [act = services.actions.get(QLatin1String(name))] { act->trigger(); }; };
  begin("learn", tr("Learn"), tr("Lessons in the window, from what a schedule is to how tuners walk a space; the manual is under Help."), action("help.lessons"), 0);
  begin("open", tr("Explore or tune a network"), tr("An ONNX file or a program that PyTorch exported."), action("file.open"), 1);
  begin("compare", tr("Compare tuners"), tr("Several tuners with several seeds on one task of a small bundled network."), [this] { Q_EMIT compareAsked(); }, 2);
  begin("import", tr("Import"), tr("Trials that AutoTVM or Ansor logged, without TVM."), action("file.import"), 3);
  begin("campaign", tr("Study operators"), tr("How speed follows from tiles, threads, sizes and devices; two campaigns come along with their results."), [this] { Q_EMIT campaignsAsked(); }, 4);
  box->addLayout(cards);
  box->addSpacing(10);
  box->addWidget(heading(tr("Bundled networks"), 1.15, column));
  m_tiny = new QCheckBox(tr("Small variants (few channels, small images; tuned in seconds)"), column);
  m_tiny->setObjectName(QStringLiteral("check.start.tiny"));
  m_tiny->setAccessibleName(m_tiny->text());
  box->addWidget(m_tiny);
  auto* grid = new QGridLayout;
  grid->setSpacing(6);
  int i = 0;
  for (const auto& model : services.engine.zoo()) {
    const QString name = QString::fromLatin1(model.name);
    auto* button = card(name, name, QString::fromUtf8(model.summary));
    button->setAccessibleName(tr("Open the bundled network %1").arg(name));
    button->setProperty(kNetwork, name);
    connect(button, &QPushButton::clicked, this, [this, name] { Q_EMIT zooChosen(name, m_tiny->isChecked()); });
    grid->addWidget(button, i / kColumns, i % kColumns);
    ++i;
  }
  for (int c = 0; c < kColumns; ++c) grid->setColumnStretch(c, 1);
  box->addLayout(grid);
  box->addStretch();
  connect(m_tiny, &QCheckBox::toggled, this, &StartPage::showNotes);
}

void StartPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showNotes();
}

void StartPage::showNotes() {
  for (auto* button : findChildren<QPushButton*>()) {
    const QString name = button->property(kNetwork).toString();
    if (name.isEmpty()) continue;
    const auto [bytes, seconds] = ModelService::zooFile(name, m_tiny->isChecked());
    QStringList parts;
    if (bytes > 0) parts << tr("%1 on this machine").arg(widgets::bytesText(static_cast<double>(bytes)));
    if (bytes > 0 && seconds > 0) parts << tr("its graph was there after %1").arg(widgets::secondsText(seconds));
    static_cast<Card*>(button)->setNote(parts.join(QStringLiteral(", ")));
  }
}

QPushButton* StartPage::card(const QString& id, const QString& title, const QString& summary) {
  auto* button = new Card(title, summary, this);
  button->setObjectName(QStringLiteral("card.") + id);
  button->setAccessibleName(title);
  button->setNote({});
  return button;
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
    auto* button = new EnterPresses<QToolButton>(m_recentHost);
    button->setObjectName(QStringLiteral("card.recent"));
    button->setFocusPolicy(Qt::StrongFocus);
    button->setText(QFileInfo(file).fileName() + QStringLiteral("   ") + QFileInfo(file).absolutePath());
    button->setAutoRaise(true);
    button->setAccessibleName(tr("Open %1").arg(file));
    connect(button, &QToolButton::clicked, this, [this, file] { Q_EMIT fileChosen(file); });
    m_recent->addWidget(button, 0, Qt::AlignLeft);
  }
}

}  // namespace tw::app
