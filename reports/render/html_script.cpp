// The script of the HTML page. It only adds comfort: without it the page says the same. Used by
// html.cpp. Must not know any data but what the page shows.
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

constexpr std::string_view text = R"js(
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const select = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      select(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  for (const button of document.querySelectorAll("button.copy"))
    button.addEventListener("click", () => copy(button));

  const filter = document.querySelector("#case-filter");
  if (filter) {
    const rows = [...document.querySelectorAll("#case-rows > tr")];
    const shown = document.querySelector("#case-shown");
    const all = document.querySelector("#case-all");
    let cell = "";
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      let count = 0;
      for (const row of rows) {
        const content = row.textContent.toLowerCase();
        row.hidden = (cell && row.dataset.cell !== cell) ||
          !words.every((word) => content.includes(word));
        if (!row.hidden) count += 1;
      }
      all.hidden = !cell;
      shown.textContent = count + " of " + rows.length + " shown";
    };
    const choose = (chosen) => {
      cell = chosen;
      filter.closest("details").open = true;
      apply();
    };
    filter.addEventListener("input", apply);
    all.addEventListener("click", () => choose(""));
    for (const link of document.querySelectorAll("a[data-cell]"))
      link.addEventListener("click", () => choose(link.dataset.cell));
    apply();
  }

  // Paper shows what a click would.
  const folded = () => document.querySelectorAll("details.numbers:not([open])");
  window.addEventListener("beforeprint", () => {
    for (const part of folded()) part.dataset.opened = part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of document.querySelectorAll("details[data-opened]")) {
      part.open = false;
      delete part.dataset.opened;
    }
  });

  root.dataset.clusters = String(document.querySelectorAll("article.cluster").length);
  root.dataset.ready = "1";
})();
)js";

}  // namespace

std::string_view script() {
    return text;
}

}  // namespace mx::reports::html
