// SPDX-License-Identifier: Apache-2.0
#include "app/logs/page.h"

#include <cmath>
#include <ctime>

#include "engine/base/text.h"

namespace tw::logs {

const FileKind kWebPage{"a page", [](std::string_view beginning) { return beginning.starts_with("<!doctype html>"); }};

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string page_head(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
      ":root{{--fg:#1b1f24;--bg:#fff;--muted:#59636e;--line:#cdd3da;--a:#0067a3;--b:#b3261e}}\n"
      "@media(prefers-color-scheme:dark){{:root{{--fg:#e6eaef;--bg:#14181d;--muted:#9ea8b3;--line:#3d444d;--a:#63b3ed;--b:#ff8a80}}}}\n"
      "body{{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:60rem;margin:2rem auto;padding:0 1rem}}\n"
      "table{{border-collapse:collapse;margin:.6rem 0;font-size:14px}}td,th{{border-bottom:1px solid var(--line);padding:.2rem .8rem .2rem 0;text-align:left;"
      "vertical-align:top}}\n"
      ".numbers td{{white-space:nowrap}}.numbers td:not(:first-child),.numbers th:not(:first-child){{text-align:right}}\n"
      "small,.muted{{color:var(--muted)}}code,pre{{font-size:13px}}pre{{overflow-x:auto;border:1px solid var(--line);padding:.6rem}}summary{{cursor:pointer;margin:.6rem 0}}\n"
      "svg{{max-width:100%;height:auto}}.curve text{{font:11px system-ui,sans-serif;fill:var(--muted)}}.curve .grid{{stroke:var(--line)}}\n"
      ".trials{{fill:var(--muted);opacity:.6}}.failed{{stroke:var(--b);fill:none}}.best{{stroke:var(--a);stroke-width:2;fill:none}}\n"
      "</style></head><body>\n<h1>{0}</h1>\n",
      markup_text(title));
}

std::string page_row(std::span<const std::string> cells, const char* tag) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return out + "</tr>\n";
}

std::string page_time(double seconds) {
  if (!std::isfinite(seconds)) return "\u2014";
  std::string text = si_text(seconds, "s");
  if (text.ends_with("us")) text.replace(text.size() - 2, 1, "\u00B5");
  return text;
}

std::string date_text(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

std::string ratio_text(double ratio) { return std::isfinite(ratio) && ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-"; }

std::string page_end() { return "<p><small>Tilewright " TW_VERSION "</small></p>\n</body></html>\n"; }

}  // namespace tw::logs
