// The style sheet of the HTML page: light and dark, screen and paper, wide and narrow. Used by
// html.cpp. Must not know any data.
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

constexpr std::string_view sheet = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #16191d; --soft: #59616b; --rule: #d8dce1; --wash: #f5f6f8;
  --good: #17633a; --good-wash: #edf6f0; --bad: #a3211b; --bad-wash: #fcefee;
  --note: #775300; --note-wash: #fbf4e3; --link: #1d4f91;
  --s0: #1d5fb4; --s1: #c2570c; --s2: #17733f; --s3: #8a2c7e; --s4: #7a6500; --s5: #0a7a86;
  --s6: #b3261e; --s7: #59616b;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
    "DejaVu Sans", sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono",
    monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #131619; --ink: #e3e6ea; --soft: #9aa3ad; --rule: #2e343b; --wash: #1a1e22;
    --good: #79cf9c; --good-wash: #15251b; --bad: #ff938a; --bad-wash: #311a19;
    --note: #e3b665; --note-wash: #2a2314; --link: #8fb8ef;
    --s0: #7fb2f5; --s1: #f2a565; --s2: #79cf9c; --s3: #e39bd3; --s4: #d9c860; --s5: #6cc9d4;
    --s6: #ff938a; --s7: #a3adb8;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body {
  max-width: 70rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem;
  font: 400 1rem/1.55 var(--sans); font-variant-numeric: tabular-nums;
}
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, button:focus-visible, summary:focus-visible, input:focus-visible,
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: 1.9rem; font-weight: 650; letter-spacing: -0.015em; margin: 0.15rem 0 0.4rem; }
h2 {
  font-size: 1.2rem; font-weight: 650; margin: 3.2rem 0 0.9rem; padding-top: 1.1rem;
  border-top: 1px solid var(--rule);
}
h3 { font-size: 1rem; font-weight: 600; margin: 0; }
section > h3 { margin: 1.6rem 0 0.5rem; }
p { margin: 0 0 0.8rem; max-width: 46rem; }
code, .bits, .mono { font-family: var(--mono); font-size: 0.875em; }
h1, h3, td, dd, code { overflow-wrap: anywhere; }
.soft { color: var(--soft); }
p.soft { font-size: 0.9375rem; }
.kicker { color: var(--soft); font-size: 0.875rem; margin: 0; }
.good { --tone: var(--good); --tone-wash: var(--good-wash); }
.bad { --tone: var(--bad); --tone-wash: var(--bad-wash); }
.note { --tone: var(--note); --tone-wash: var(--note-wash); }
.mute { --tone: var(--soft); --tone-wash: transparent; }

.caveats { margin: 0 0 1.8rem; padding: 0; list-style: none; }
.caveats li {
  border: 1px solid var(--note); background: var(--note-wash); color: var(--note);
  padding: 0.55rem 0.9rem; font-weight: 600; border-radius: 3px;
}
.caveats li + li { margin-top: 0.4rem; }
.verdict {
  border-left: 4px solid var(--tone); background: var(--tone-wash); border-radius: 0 3px 3px 0;
  padding: 0.9rem 1.1rem; margin: 1.2rem 0 1.4rem; font-size: 1.125rem; font-weight: 550;
  max-width: none; line-height: 1.45;
}
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.4rem, 1fr)); gap: 1rem 1.2rem;
  margin: 0 0 1.6rem;
}
.figures div { border-top: 1px solid var(--rule); padding-top: 0.5rem; }
.figures dt { color: var(--soft); font-size: 0.8125rem; }
.figures dd { margin: 0; font-size: 1.125rem; font-weight: 550; }
nav { margin: 1.4rem 0 0.4rem; font-size: 0.9375rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.3rem; list-style: none; margin: 0;
  padding: 0; }

.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; font-size: 0.875rem; line-height: 1.4; }
th, td { text-align: left; vertical-align: top; padding: 0.36rem 0.75rem 0.36rem 0;
  border-bottom: 1px solid var(--rule); }
thead th, thead td { font-weight: 600; border-bottom-color: var(--soft); }
tbody th { font-weight: 500; }
td.right, th.right { text-align: right; }
.tag {
  display: inline-block; color: var(--tone); background: var(--tone-wash);
  border: 1px solid var(--tone); border-radius: 3px; padding: 0 0.4rem; font-size: 0.75rem;
  font-weight: 650; line-height: 1.45; white-space: nowrap;
}

.prose-table td { overflow-wrap: break-word; }
.matrix { min-width: 100%; }
.matrix th, .matrix td { padding: 0.4rem 0.6rem; white-space: nowrap; overflow-wrap: normal; }
.matrix thead th[colspan] { text-align: left; border-left: 1px solid var(--rule); }
.matrix thead th, .matrix thead td { border-bottom-color: var(--rule); }
.matrix tbody th { position: sticky; left: 0; background: var(--paper); padding-left: 0;
  border-right: 1px solid var(--rule); }
.matrix .first { border-left: 1px solid var(--rule); }
.matrix td { color: var(--tone); background: var(--tone-wash); }
.matrix td.mute { color: var(--soft); }
.matrix td b { display: block; font-weight: 600; }
.matrix td span { display: block; font-size: 0.75rem; color: var(--soft); }
.matrix td a { display: block; color: inherit; text-decoration: none; }
.matrix td a b { text-decoration: underline; text-underline-offset: 0.2em; }
.matrix .format { display: block; color: var(--soft); font-weight: 400; font-size: 0.8125rem; }

.cluster { border: 1px solid var(--rule); border-left: 4px solid var(--tone); border-radius: 3px;
  padding: 0.9rem 1.1rem 1rem; margin: 0 0 1rem; break-inside: avoid; }
.cluster:target { box-shadow: 0 0 0 2px var(--link); }
.cluster h3 .tag { margin-right: 0.5rem; vertical-align: 0.06em; }
.cluster .kind { color: var(--soft); font-weight: 400; }
.cluster .tally { margin: 0.35rem 0 0.7rem; }
.cluster .witness { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr);
  gap: 0.4rem 2.2rem; align-items: start; }
.cluster dl { display: grid; grid-template-columns: max-content minmax(0, 1fr);
  gap: 0.15rem 1rem; margin: 0; font-size: 0.875rem; }
.cluster dt { color: var(--soft); }
.cluster dd { margin: 0; }
.bits th { font-family: var(--sans); font-size: 0.875rem; }
.bits td, .bits th { padding: 0.22rem 1.1rem 0.22rem 0; }
.bits td { white-space: nowrap; overflow-wrap: normal; }
.bits .pattern, .bits .value { display: block; }
.bits .pattern { color: var(--soft); }
.bits mark { background: none; color: var(--tone); font-weight: 700; text-decoration: underline;
  text-underline-offset: 0.18em; }
.bits tr.differs td { color: var(--tone); font-weight: 600; }
.bits tr.differs .pattern { font-weight: 400; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
  gap: 1.4rem 2rem; margin: 0.6rem 0 1.2rem; align-items: start; }
figure.chart { margin: 0; max-width: 40rem; min-width: 0; break-inside: avoid; }
.chart figcaption { font-size: 0.875rem; margin-bottom: 0.4rem; }
.chart figcaption b { color: var(--ink); font-weight: 600; }
.chart > svg { display: block; width: 100%; height: auto; }
.chart text { fill: var(--soft); font: 11px var(--sans); }
.chart .grid line { stroke: var(--rule); }
.chart .axis line, .chart .ticks line { stroke: var(--soft); }
.chart image { image-rendering: pixelated; }
.map .frame { fill: none; stroke: var(--rule); }
.map text { font-size: 9px; }
.s0 { --s: var(--s0); } .s1 { --s: var(--s1); } .s2 { --s: var(--s2); } .s3 { --s: var(--s3); }
.s4 { --s: var(--s4); } .s5 { --s: var(--s5); } .s6 { --s: var(--s6); } .s7 { --s: var(--s7); }
.series path { fill: none; stroke: var(--s); stroke-width: 1.75; stroke-linejoin: round; }
.series circle { fill: var(--s); stroke: var(--paper); stroke-width: 0.75; }
.series line { stroke: var(--s); stroke-width: 1.25; }
.series.s1 path, .series.s5 path { stroke-dasharray: 7 3; }
.series.s2 path, .series.s6 path { stroke-dasharray: 2 3; }
.series.s3 path, .series.s7 path { stroke-dasharray: 9 3 2 3; }
.series.dots path { stroke: none; }
.series.roof path { stroke: var(--ink); stroke-width: 2; stroke-dasharray: none; }
.series.roof circle { fill: var(--ink); }
.series.bars rect { fill: var(--s); fill-opacity: 0.35; }
.series.outline rect { fill: none; stroke: var(--s); stroke-width: 1.5; }
.series.outline.fine rect { stroke-width: 0.4; }
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; list-style: none; margin: 0.3rem 0;
  padding: 0; font-size: 0.8125rem; color: var(--soft); }
.legend svg { width: 1.5rem; height: 0.7rem; margin-right: 0.4rem; }
.legend.heat svg { width: 0.7rem; }
.numbers { font-size: 0.8125rem; margin: 0.3rem 0 0.8rem; }
.numbers summary { font-weight: 500; color: var(--soft); }
.numbers .scroll { max-height: 28rem; overflow-y: auto; }
.caution { border-left: 4px solid var(--note); background: var(--note-wash); color: var(--note);
  padding: 0.4rem 0.8rem; }
.kill { color: var(--tone); font-weight: 600; white-space: nowrap; }
code.small { font-size: 0.75rem; }
figure { margin: 0.9rem 0 0; max-width: 28rem; }
figcaption { color: var(--soft); font-size: 0.8125rem; }
svg.lanes { display: block; width: 100%; height: auto; color: var(--tone); }
svg.lanes .axis { fill: var(--soft); font: 9px var(--sans); }
svg.lanes line { stroke: var(--rule); }
.repro { display: flex; gap: 0.6rem; align-items: flex-start; margin-top: 0.9rem; }
.repro code { flex: 1; min-width: 0; background: var(--wash); border: 1px solid var(--rule);
  border-radius: 3px; padding: 0.45rem 0.65rem; white-space: pre-wrap; }
button { font: inherit; font-size: 0.8125rem; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 3px; padding: 0.35rem 0.7rem; cursor: pointer; }
button:hover { background: var(--wash); }
.needs-script { display: none; }
.scripted .needs-script { display: initial; }

.pairs { display: grid; grid-template-columns: minmax(9rem, max-content) minmax(0, 1fr);
  gap: 0.2rem 1.6rem; margin: 0 0 1.2rem; font-size: 0.9375rem; }
.pairs dt { color: var(--soft); }
.pairs dd { margin: 0; }
summary { cursor: pointer; font-weight: 550; }
details > *:not(summary) { margin-top: 0.9rem; }
.cases { min-width: 100%; }
.cases td.text { min-width: 22rem; }
input[type="search"] { font: inherit; font-size: 0.9375rem; color: inherit;
  background: var(--paper); border: 1px solid var(--soft); border-radius: 3px;
  padding: 0.35rem 0.6rem; width: min(28rem, 100%); }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--rule);
  color: var(--soft); font-size: 0.8125rem; }
footer p { margin: 0 0 0.3rem; }

@media (max-width: 44rem) {
  body { padding: 1.2rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  h2 { margin-top: 2.4rem; }
  .verdict { font-size: 1.0625rem; padding: 0.75rem 0.9rem; }
  .figures { grid-template-columns: 1fr 1fr; }
  .cluster { padding: 0.8rem 0.85rem 0.9rem; }
  .cluster .witness { grid-template-columns: minmax(0, 1fr); gap: 0.8rem; }
  .repro { flex-direction: column; }
  .repro code { width: 100%; }
  .pairs { grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0.2rem 1rem; }
  .prose-table, .prose-table tbody, .prose-table tr, .prose-table th, .prose-table td {
    display: block; text-align: left; border: 0; padding: 0; }
  .prose-table thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px;
    overflow: hidden; }
  .prose-table tr { border-bottom: 1px solid var(--rule); padding: 0.5rem 0; }
  .prose-table td.right { text-align: left; }
  .prose-table td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
}
/* The matrices of all operations have their columns below each other. */
@media screen and (min-width: 44rem) {
  .matrix { min-width: 0; }
  .matrix tbody th, .matrix thead td:first-child { min-width: 11rem; }
  .matrix tbody td { min-width: 5.5rem; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --wash: #fff;
    --good: #0f4d2a; --bad: #8c1510; --note: #5e4100; --link: #000;
    --good-wash: #fff; --bad-wash: #fff; --note-wash: #fff; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav, button, .scripted .needs-script { display: none; }
  .scroll, .numbers .scroll { overflow: visible; max-height: none; }
  .charts { grid-template-columns: 1fr 1fr; gap: 0.8rem 1.2rem; }
  .cases td.text { min-width: 0; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .matrix { min-width: 0; }
  .matrix tbody th { position: static; }
  .matrix thead th { writing-mode: vertical-rl; }
  .matrix th, .matrix td { padding: 0.2rem 0.3rem; font-size: 7.5pt; }
  .verdict, .caveats li { border-width: 1px 1px 1px 4px; border-style: solid; }
  h2 { break-after: avoid; margin-top: 1.6rem; }
  tr { break-inside: avoid; }
}
)css";

}  // namespace

std::string_view style_sheet() {
    return sheet;
}

}  // namespace mx::reports::html
