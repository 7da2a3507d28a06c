// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>
#include <vector>

namespace tw::app {

/// The words of the manual's glossary, each with its sentence. What the pointer rests on and has no tooltip of its own says what the words in it mean.
class Glossary : public QObject {
  Q_OBJECT
 public:
  /// Reads the manual's page and listens to the application.
  explicit Glossary(QObject* parent = nullptr);
  struct Word {
    QString word, sentence;
  };
  const std::vector<Word>& words() const { return m_words; }
  /// Those that stand in a text, in its order.
  std::vector<Word> wordsIn(const QString& text) const;
  /// The same of what is under the pointer.
  std::vector<Word> wordsUnderPointer() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::vector<Word> m_words;
};

}  // namespace tw::app
