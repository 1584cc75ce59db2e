"use strict";
// Shows the object in #data: programs in columns. Lines that come from the same source line are linked.

(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key === "class") element.className = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  // The view. A column is "l3", the program at a level; "s3", the changes of a pass; "p3", the program after a pass;
  // or
  // "schedules". The view is stored in the URL, so that it can be shared.
  const levels = D.listings.map((l, i) => [l.title, i]).filter(([title]) => title);
  const state = { panes: [], line: 0, layout: "", at: "" };

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const panes = (given.get("panes") || "").split(",").filter(exists);
    state.panes = panes.length ? panes : usual();
    state.line = Number(given.get("line")) || 0;
    state.layout = given.get("layout") || "";
    state.at = given.get("at") || "";
  }

  function exists(pane) {
    const number = Number(pane.slice(1));
    if (pane === "schedules") return Boolean(D.schedules);
    return pane[0] === "l" ? D.listings[number]?.title : "sp".includes(pane[0]) && D.steps[number]?.runs.length;
  }

  // The default columns: the source, the tileas level and the last output.
  function usual() {
    const of = (title) => levels.find(([t]) => t === title);
    const found = [levels[0], of("nv_tileas"), of("PTX") || levels.at(-1)].filter(Boolean).map(([, i]) => `l${i}`);
    return [...new Set(found)];
  }

  function write() {
    const parts = new URLSearchParams({ panes: state.panes.join(",") });
    for (const key of ["line", "layout", "at"]) if (state[key]) parts.set(key, state[key]);
    history.replaceState(null, "", `#${parts}`);
  }

  // Source lines that some other line comes from. Only these are colored.
  const used = new Set(D.listings.slice(1).flatMap((l) => l.lines));

  // Short names of layouts. Without them, layouts would dominate most lines.
  const names = new Map();

  function nameOf(layout) {
    if (!names.has(layout)) names.set(layout, `#${names.size + 1}`);
    return names.get(layout);
  }

  // A line of text with clickable values and layouts.
  const TOKEN = new RegExp(`${Layouts.TYPE.source}|%[\\w$.-]+(?:#\\d+)?`, "g");

  function decorated(text) {
    if (!text.includes("%") && !text.includes("#nv_tileas.")) return [text];
    const parts = [];
    let end = 0;
    for (const found of text.matchAll(TOKEN)) {
      const isLayout = found[0][0] === "<";
      const start = found.index + (isLayout ? 1 : 0);
      parts.push(text.slice(end, start));
      end = found.index + found[0].length;
      const token = text.slice(start, end);
      const [type, layout] = token.split(/, (?=#nv_tileas)/);
      const short = isLayout ? { title: token, "data-short": `${type}, ${nameOf(layout)}` } : {};
      parts.push(make("span", { class: isLayout ? "layout" : "v", ...short }, token));
    }
    parts.push(text.slice(end));
    return parts;
  }

  function row(number, text, line, kind) {
    const element = make("div", { class: `l ${kind || ""}` }, make("i", {}, String(number)), make("span", {}, ...decorated(text)));
    if (line) {
      element.dataset.line = line;
      if (!kind && used.has(line)) element.style.setProperty("--tinted", `hsl(${line * 47 % 360} 60% 60% / calc(var(--tint) * .4))`);
    }
    return element;
  }

  function listing(index) {
    const { text, lines } = D.listings[index];
    const rows = text.map((t, i) => row(i + 1, D.strings[t], lines[i]));
    if (index === 0) {
      D.origins.forEach((origin, i) => origin && rows[i]?.append(make("em", {}, origin)));
      // A source line that nothing refers to is its own location.
      rows.forEach((r, i) => { if (!r.dataset.line) r.dataset.line = i + 1; });
    }
    const all = make("div");
    for (const [i, r] of rows.entries()) {
      const said = index === 0 ? D.remarks.filter((remark) => [remark.line, ...remark.others].includes(i + 1)) : [];
      all.append(r, ...said.map((remark) => make("div", { class: "note" }, `${remark.name}: ${remark.message}`)));
    }
    return all;
  }

  // The number of unchanged lines to show around a change.
  const CONTEXT = 3;

  function changed(index) {
    const { before, after, runs } = D.steps[index];
    const [old, now] = [D.listings[before], D.listings[after]];
    const all = make("div");
    let [i, j] = [0, 0];
    for (let k = 0; k < runs.length; k += 3) {
      const [same, removed, added] = runs.slice(k, k + 3);
      const first = k === 0 ? 0 : CONTEXT;
      const last = k + 3 >= runs.length ? 0 : CONTEXT;
      const rows = Array.from({ length: same }, (_, n) => row(j + n + 1, D.strings[now.text[j + n]], now.lines[j + n]));
      if (same > first + last + 1) {
        const hidden = rows.splice(first, same - first - last);
        const fold = make("div", { class: "fold", onclick: () => fold.replaceWith(...hidden) }, `${hidden.length} unchanged lines`);
        rows.splice(first, 0, fold);
      }
      all.append(...rows);
      for (let n = 0; n < removed; n++) all.append(row("−", D.strings[old.text[i + n]], old.lines[i + n], "removed"));
      for (let n = 0; n < added; n++) all.append(row(j + n + 1, D.strings[now.text[j + n]], now.lines[j + n], "added"));
      i += same + removed;
      j += same + added;
    }
    return all;
  }

  function content(pane) {
    if (pane === "schedules") return make("div", {}, ...D.schedules.split("\n").map((t, i) => row(i + 1, t, 0)));
    const number = Number(pane.slice(1));
    return pane[0] === "s" ? changed(number) : listing(pane[0] === "p" ? D.steps[number].after : number);
  }

  function chooser(position) {
    const option = (value, text) => make("option", { value, ...(state.panes[position] === value ? { selected: "" } : {}) }, text);
    const choose = make("select", { title: "the contents of this column", onchange: () => {
      state.panes[position] = choose.value;
      show();
    } });
    const programs = make("optgroup", { label: "programs" }, ...levels.map(([title, i]) => option(`l${i}`, title)));
    if (D.schedules) programs.append(option("schedules", "loop schedules"));
    const passes = D.steps.map((s, i) => [s, i]).filter(([s]) => s.runs.length);
    const group = (label, kind) => make("optgroup", { label }, ...passes.map(([s, i]) => option(`${kind}${i}`, s.pass)));
    choose.append(programs, group("changes of a pass", "s"), group("program after a pass", "p"));
    return choose;
  }

  function show() {
    const panes = state.panes.map((pane, position) => {
      const code = make("div", { class: "code" }, content(pane));
      const close = make("button", { title: "close", onclick: () => {
        state.panes.splice(position, 1);
        show();
      } }, "×");
      return make("section", { class: "pane" }, make("nav", {}, chooser(position), ...(state.panes.length > 1 ? [close] : [])), code);
    });
    $("panes").replaceChildren(...panes);
    document.querySelectorAll(".pass").forEach((p) => p.classList.toggle("shown", state.panes.includes(p.dataset.pane)));
    mark("pinned", state.line);
    write();
  }

  // Marks the lines that come from a source line.
  function mark(kind, line) {
    document.querySelectorAll(`.l.${kind}`).forEach((l) => l.classList.remove(kind));
    if (line) document.querySelectorAll(`.l[data-line="${line}"]`).forEach((l) => l.classList.add(kind));
  }

  function pin(line, except) {
    state.line = line;
    mark("pinned", line);
    mark("on", line);
    for (const code of document.querySelectorAll(".code")) {
      const first = code.querySelector(`.l[data-line="${line}"]`);
      if (first && code !== except) code.scrollTop = first.offsetTop - code.offsetTop - code.clientHeight / 3;
    }
    write();
  }

  function picture() {
    const layout = state.layout && Layouts.parse(`<${state.layout}`);
    const dialog = $("picture");
    if (!layout) return dialog.close();
    const held = Layouts.holders(layout);
    const canvas = make("canvas");
    const text = make("p", { id: "held" });
    const say = (coordinates) => { text.textContent = Layouts.describe(layout, held, coordinates); };
    const meaning = layout.shared
      ? "Colors show banks of shared memory, numbers show offsets in elements."
      : "Hues show warps and shades show lanes; T is the thread, r the register.";
    const close = make("button", { onclick: () => dialog.close() }, "close");
    dialog.replaceChildren(make("p", { class: "type" }, layout.text), make("p", {}, meaning), make("div", { class: "scroll" }, canvas), text, close);
    const under = Layouts.draw(canvas, layout, held);
    canvas.addEventListener("mousemove", (e) => say(under(e.offsetX, e.offsetY)));
    say(state.at ? state.at.split(",").map(Number) : layout.shape.map(() => 0));
    if (!dialog.open) dialog.showModal();
  }

  function facts() {
    $("title").textContent = D.input.split("/").pop();
    $("title").title = D.input;
    $("facts").textContent = [D.target, ...D.arguments, D.compiler].join("  ·  ");
    const rows = (k) => [
      ["threads", k.threads.filter((n, i) => i === 0 || n > 1).join(" × ")], ["registers", k.registers],
      ["shared memory", `${k.shared_memory} B`], ["stack", `${k.stack_frame} B`],
      ["spills", `${k.spill_stores + k.spill_loads} B`],
      ...(k.cluster.some((n) => n > 1) ? [["cluster", k.cluster.join(" × ")]] : []),
    ];
    for (const k of D.kernels) {
      $("kernels").append(make("h2", {}, k.name), make("table", {}, ...rows(k).map(([a, b]) => make("tr", {}, make("th", {}, a), make("td", {}, String(b))))));
    }
    let level = "";
    if (D.steps.length) $("passes").append(make("h2", {}, "Passes"));
    D.steps.forEach((s, i) => {
      if (s.level !== level) $("passes").append(make("h3", {}, `to ${level = s.level}`));
      const counts = s.runs.length ? `−${s.removed} +${s.added}` : "";
      const open = () => { if (s.runs.length) { state.panes[state.panes.length - 1] = `s${i}`; show(); } };
      $("passes").append(make("div", { class: s.runs.length ? "pass" : "pass same", "data-pane": `s${i}`, onclick: open }, make("span", {}, s.pass), make("span", {}, counts)));
    });
    if (D.remarks.length) $("remarks").append(make("h2", {}, "Remarks"));
    for (const r of D.remarks) {
      const lines = [r.line, ...r.others].filter(Boolean);
      const title = [r.sort, r.pass, r.section].filter(Boolean).join(", ");
      const where = lines.length ? ` (line${lines.length > 1 ? "s" : ""} ${lines.join(", ")})` : "";
      $("remarks").append(make("div", { class: "remark", title, onclick: () => r.line && pin(r.line) }, make("b", {}, r.name), ` ${r.message}${where}`));
    }
  }

  $("full").addEventListener("change", (e) => document.body.classList.toggle("full", e.target.checked));
  $("add").addEventListener("click", () => {
    const unseen = levels.map(([, i]) => `l${i}`).find((pane) => !state.panes.includes(pane));
    state.panes.push(unseen || "l0");
    show();
  });
  $("panes").addEventListener("mouseover", (e) => mark("on", e.target.closest(".l")?.dataset.line));
  $("panes").addEventListener("click", (e) => {
    const code = e.target.closest(".code");
    if (e.target.matches(".layout")) {
      [state.layout, state.at] = [e.target.textContent, ""];
      write();
      picture();
    } else if (e.target.matches(".v")) {
      const name = e.target.textContent.replace(/#\d+$/, "");
      const is = (v) => v.textContent.replace(/#\d+$/, "") === name;
      const on = e.target.classList.contains("on");
      code.querySelectorAll(".v").forEach((v) => v.classList.toggle("on", !on && is(v)));
    } else if (e.target.closest(".l")?.dataset.line) {
      pin(Number(e.target.closest(".l").dataset.line), code);
    }
  });
  $("picture").addEventListener("close", () => {
    [state.layout, state.at] = ["", ""];
    write();
  });
  window.addEventListener("hashchange", () => {
    read();
    show();
    picture();
  });

  read();
  facts();
  show();
  if (state.line) pin(state.line);
  picture();
})();
