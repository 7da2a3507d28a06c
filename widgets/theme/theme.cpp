// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QWidget>
#include <algorithm>
#include <cmath>

#include "widgets/theme/outlined_style.h"

namespace tw::widgets {
namespace {

/// Okabe and Ito's colour-blind safe set, black replaced by grey. Source: "Color Universal Design", 2008.
const std::array<const char*, 8> kOkabeIto = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"};

double linear(double channel) { return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4); }

double luminance(const QColor& c) { return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF()); }

void finish(Theme& t) {
  for (size_t i = 0; i < t.series.size(); ++i) t.series[i] = withContrast(QColor(kOkabeIto[i]), t.base, 3.2);
  for (QColor* c : {&t.text, &t.mutedText, &t.accent, &t.error, &t.warning, &t.success}) *c = withContrast(withContrast(*c, t.base, 4.6), t.window, 4.6);
  for (QColor* c : {&t.codeKeyword, &t.codeType, &t.codeNumber, &t.codeString, &t.codeComment, &t.codeName, &t.codeLabel}) {
    for (const QColor& band : {t.base, t.linkBand, t.addedBand, t.removedBand}) *c = withContrast(*c, band, 4.6);
  }
  t.edge = withContrast(t.edge, t.base, 3.1);
}

Theme makeLight() {
  Theme t;
  t.window = QColor("#F3F4F6"), t.base = QColor("#FFFFFF"), t.alternateBase = QColor("#F7F8FA"), t.raised = QColor("#E9ECF0"), t.border = QColor("#CDD3DA");
  t.text = QColor("#1B1F24"), t.mutedText = QColor("#59636E"), t.accent = QColor("#0067A3"), t.accentText = QColor("#FFFFFF");
  t.selection = QColor("#0067A3"), t.selectionText = QColor("#FFFFFF");
  t.error = QColor("#B3261E"), t.warning = QColor("#8A5300"), t.success = QColor("#00694D");
  t.errorBanner = QColor("#FBE3E1"), t.warningBanner = QColor("#FFF1D1"), t.infoBanner = QColor("#DDEEF9");
  t.grid = QColor("#E4E7EB"), t.edge = QColor("#808A96"), t.linkBand = QColor("#FFF1C2"), t.currentBand = QColor("#E3EEF7");
  t.addedBand = QColor("#D3E8FB"), t.removedBand = QColor("#FDE0C4");
  t.codeKeyword = QColor("#7A2E8E"), t.codeType = QColor("#00607A"), t.codeNumber = QColor("#8A4B00"), t.codeString = QColor("#1E6B34");
  t.codeComment = QColor("#66707C"), t.codeName = QColor("#0B4F9E"), t.codeLabel = QColor("#9A1F5B");
  t.node = QColor("#E3EAF2"), t.nodeHeavy = QColor("#CFE3F5"), t.nodeLight = QColor("#EDF1E4"), t.nodeData = QColor("#F1E9DA");
  finish(t);
  return t;
}

Theme makeDark() {
  Theme t;
  t.dark = true;
  t.window = QColor("#1F2328"), t.base = QColor("#16191D"), t.alternateBase = QColor("#1B1F24"), t.raised = QColor("#2B3138"), t.border = QColor("#3D444D");
  t.text = QColor("#E6EAEF"), t.mutedText = QColor("#9EA8B3"), t.accent = QColor("#63B3ED"), t.accentText = QColor("#0B1116");
  t.selection = QColor("#1F6FA8"), t.selectionText = QColor("#FFFFFF");
  t.error = QColor("#FF8A80"), t.warning = QColor("#F5B84A"), t.success = QColor("#4CC9A0");
  t.errorBanner = QColor("#4A1F1E"), t.warningBanner = QColor("#45330F"), t.infoBanner = QColor("#17354A");
  t.grid = QColor("#2A3037"), t.edge = QColor("#7D8793"), t.linkBand = QColor("#4A3F14"), t.currentBand = QColor("#22303C");
  t.addedBand = QColor("#14375A"), t.removedBand = QColor("#51300E");
  t.codeKeyword = QColor("#D2A8FF"), t.codeType = QColor("#76D5E8"), t.codeNumber = QColor("#F2B36B"), t.codeString = QColor("#8FD19E");
  t.codeComment = QColor("#98A2AD"), t.codeName = QColor("#8CC4FF"), t.codeLabel = QColor("#FF9CC8");
  t.node = QColor("#2A333D"), t.nodeHeavy = QColor("#1F3C55"), t.nodeLight = QColor("#2D3624"), t.nodeData = QColor("#3B3222");
  finish(t);
  return t;
}

}  // namespace

const Theme& lightTheme() {
  static const Theme theme = makeLight();
  return theme;
}

const Theme& darkTheme() {
  static const Theme theme = makeDark();
  return theme;
}

const Theme& themeOf(const QPalette& palette) { return palette.color(QPalette::Window).lightness() < 128 ? darkTheme() : lightTheme(); }

const Theme& themeOf(const QWidget* widget) { return themeOf(widget->palette()); }

double contrastRatio(const QColor& a, const QColor& b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QColor withContrast(QColor color, const QColor& background, double ratio) {
  const bool darken = luminance(background) > 0.18;
  float h = 0, s = 0, l = 0;
  color.getHslF(&h, &s, &l);
  while (contrastRatio(color, background) < ratio && l > 0 && l < 1) {
    l = std::clamp(l + (darken ? -0.01f : 0.01f), 0.0f, 1.0f);
    color = QColor::fromHslF(std::max(h, 0.0f), s, l);
  }
  return color;
}

std::vector<ContrastRule> contrastRules(const Theme& t) {
  std::vector<ContrastRule> rules;
  const auto text = [&](const char* name, const QColor& fg, const QColor& bg) { rules.push_back({name, fg, bg, 4.5}); };
  for (const QColor& bg : {t.window, t.base, t.alternateBase}) {
    text("text", t.text, bg), text("muted text", t.mutedText, bg), text("error", t.error, bg);
    text("warning", t.warning, bg), text("success", t.success, bg), text("accent", t.accent, bg);
  }
  text("text on raised", t.text, t.raised), text("selected text", t.selectionText, t.selection), text("accent text", t.accentText, t.accent);
  for (const QColor& bg :
       {t.errorBanner, t.warningBanner, t.infoBanner, t.node, t.nodeHeavy, t.nodeLight, t.nodeData, t.linkBand, t.currentBand, t.addedBand, t.removedBand}) {
    text("text on fill", t.text, bg);
  }
  for (const QColor& fg : {t.codeKeyword, t.codeType, t.codeNumber, t.codeString, t.codeComment, t.codeName, t.codeLabel}) {
    text("code", fg, t.base), text("code on link band", fg, t.linkBand), text("code on added", fg, t.addedBand), text("code on removed", fg, t.removedBand);
  }
  for (const QColor& fg : t.series) rules.push_back({"series", fg, t.base, 3.0});
  rules.push_back({"edge", t.edge, t.base, 3.0});
  return rules;
}

QPalette paletteFor(const Theme& t) {
  QPalette p;
  p.setColor(QPalette::Window, t.window), p.setColor(QPalette::WindowText, t.text);
  p.setColor(QPalette::Base, t.base), p.setColor(QPalette::AlternateBase, t.alternateBase), p.setColor(QPalette::Text, t.text);
  p.setColor(QPalette::Button, t.raised), p.setColor(QPalette::ButtonText, t.text), p.setColor(QPalette::BrightText, t.error);
  p.setColor(QPalette::ToolTipBase, t.raised), p.setColor(QPalette::ToolTipText, t.text), p.setColor(QPalette::PlaceholderText, t.mutedText);
  p.setColor(QPalette::Highlight, t.selection), p.setColor(QPalette::HighlightedText, t.selectionText);
  p.setColor(QPalette::Link, t.accent), p.setColor(QPalette::LinkVisited, t.accent);
  p.setColor(QPalette::Light, t.dark ? t.raised.lighter(130) : QColor(Qt::white)), p.setColor(QPalette::Midlight, t.raised);
  p.setColor(QPalette::Mid, t.border), p.setColor(QPalette::Dark, t.border.darker(t.dark ? 140 : 120)), p.setColor(QPalette::Shadow, QColor(Qt::black));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, t.dark ? QColor("#6C7681") : QColor("#8A939D"));
  }
  return p;
}

QFont codeFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setStyleHint(QFont::Monospace);
  font.setPointSize(std::max(9, QApplication::font().pointSize() - 1));
  return font;
}

const char* themeChoiceName(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::light:
      return "light";
    case ThemeChoice::dark:
      return "dark";
    case ThemeChoice::system:
      break;
  }
  return "system";
}

ThemeChoice themeChoiceFromName(const QString& name) {
  if (name == QLatin1String("light")) return ThemeChoice::light;
  if (name == QLatin1String("dark")) return ThemeChoice::dark;
  return ThemeChoice::system;
}

namespace {
double g_typeScale = 1;
}

double typeScale() { return g_typeScale; }

void setBigType(bool big) {
  static const double system = QApplication::font().pointSizeF();
  QFont font = QApplication::font();
  g_typeScale = big ? kBigType : 1;
  font.setPointSizeF(system * g_typeScale);
  QApplication::setFont(font);
}

void applyTheme(ThemeChoice choice) {
  bool dark = choice == ThemeChoice::dark;
  if (choice == ThemeChoice::system) {
    QApplication::setPalette(QPalette());  // back to the platform's own colours, so that they can be read
    dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  }
  // Once: colours come from the palette, and another style takes every widget apart and dresses it anew.
  if (!qobject_cast<OutlinedStyle*>(QApplication::style())) QApplication::setStyle(new OutlinedStyle);
  const QPalette palette = paletteFor(dark ? darkTheme() : lightTheme());
  QApplication::setPalette(palette);
  // Qt tells existing windows only while its event loop runs.
  for (QWidget* window : QApplication::topLevelWidgets()) window->setPalette(palette);
}

}  // namespace tw::widgets
