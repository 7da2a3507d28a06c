// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/progress.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::lesson;

class ProgressTest : public QObject {
  Q_OBJECT
  static Handed sample() { return {"Learner \"one\"", {{"tiles", "Tiles", {{"open", StepState::done, 1, 2, "=1+1", 1.7e9}, {"knob", StepState::skipped, 0, 0, "", 0}}, 1.6e9}}}; }

 private Q_SLOTS:
  void thereAndBack() {
    const auto back = read_handed(handed_text(sample()));
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QCOMPARE(handed_text(*back), handed_text(sample()));
    QCOMPARE(back->lessons[0].steps[0].wrong, 2);
    QCOMPARE(back->lessons[0].begun_s, 1.6e9);
    QVERIFY(back->lessons[0].steps[1].state == StepState::skipped);
  }
  void finishedCountsStepsOfTheLesson() {
    Lesson lesson;
    lesson.steps.resize(2);
    lesson.steps[0].id = "open";
    lesson.steps[1].id = "other";
    LessonRecord record = sample().lessons[0];
    QCOMPARE(record.finished(lesson), 1);
    record.at("other").state = StepState::shown;
    QCOMPARE(record.finished(lesson), 2);
    QCOMPARE(record.steps.size(), size_t{3});
  }
  void tables() {
    const std::string csv = handed_csv({sample()});
    QVERIFY2(csv.find("\"Learner \"\"one\"\"\",\"tiles\",\"open\",done,1,2,\"'=1+1\",1700000000\n") != std::string::npos, csv.c_str());  // no formula
  }
  void badFiles() {
    const auto refused = [](const char* text, ErrorCode code) {
      const auto read = read_handed(text);
      QVERIFY2(!read, text);
      QVERIFY2(read.error().code == code, read.error().text().c_str());
    };
    refused("", ErrorCode::parse_error);
    refused("[]", ErrorCode::parse_error);
    refused("{\"lessons\": []}", ErrorCode::parse_error);
    refused("{\"tilewright_lessons\": 2, \"lessons\": []}", ErrorCode::version);
    refused("{\"tilewright_lessons\": \"1\", \"lessons\": []}", ErrorCode::version);
    refused("{\"tilewright_lessons\": 1, \"lessons\": {}}", ErrorCode::parse_error);
    refused("{\"tilewright_lessons\": 1, \"lessons\": [{\"lesson\": \"a\"}]}", ErrorCode::parse_error);
    refused("{\"tilewright_lessons\": 1, \"lessons\": [{\"lesson\": \"a\", \"steps\": [{\"step\": \"s\", \"state\": \"won\"}]}]}", ErrorCode::parse_error);
    const auto odd = read_handed("{\"tilewright_lessons\": 1, \"learner\": 7, \"lessons\": [{\"lesson\": \"a\", \"steps\": [{\"step\": \"s\", \"state\": \"done\", \"hints\": 1e300, \"wrong\": -4}]}]}");
    QVERIFY(odd && odd->lessons[0].begun_s == 0);  // as it was handed in by an earlier version
    QVERIFY(odd->learner.empty() && odd->lessons[0].steps[0].hints == 1'000'000 && odd->lessons[0].steps[0].wrong == 0);
  }
};

QTEST_APPLESS_MAIN(ProgressTest)
#include "progress_test.moc"
