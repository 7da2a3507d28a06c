// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSize>
#include <QString>

namespace tw::app {

class MainWindow;

/// Drives the window without a user: opens, tunes, takes a picture, quits. Pictures of the manual are made this way.
class ScriptedRun : public QObject {
  Q_OBJECT
 public:
  struct Plan {
    bool waitForModel = false;  ///< a model is being opened
    qint64 trials = 0;          ///< tune this many; 0: do not
    QString tuner;              ///< empty: as in the controls
    quint64 seed = 1;
    int task = -1;          ///< 0-based task to select, -1: the first
    bool onlyTask = false;  ///< tune only that task
    qint64 trial = -1;      ///< trial to select before the picture
    QStringList panels;     ///< docks to bring to the front before the picture
    int compared = 0;       ///< so many of the newest sessions are put side by side
    double playedTo = -1;      ///< play those sessions, or the one that is shown, up to this part of their time; -1: none
    /// Entries of boxes to choose: the box's object name, `=`, the entry's number from 0.
    QStringList choices;
    QString against;          ///< compare the code with this: "default" or "best"; empty: with nothing
    QString picture;          ///< PNG to write; empty: none
    double afterSeconds = 3;  ///< from when the model is on screen (and the session started)
    QSize size{1600, 1000};
  };
  ScriptedRun(MainWindow& window, Plan plan, QObject* parent = nullptr);
  void start();

 private:
  void modelReady();
  void arrange();
  void takePicture();
  void quit(int code);
  MainWindow& m_window;
  Plan m_plan;
};

}  // namespace tw::app
