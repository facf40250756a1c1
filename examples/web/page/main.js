// The page: what is chosen and drawn, and the rounds that follow from it.

import * as graphs from "./graphs.js";
import { GENERATIONS, Show, about, open } from "./machines.js";
import { draw, drawBars, fit, nodeAt } from "./picture.js";

const by = (id) => document.getElementById(id);
const [canvas, bars] = [by("canvas"), by("bars")];
const DRAW = { grid: "draw walls", board: "draw cells" };
const SEARCH = {
  grid: "drag the ring to search from elsewhere",
  points: "click a point to search from there",
  rmat: "click a node to search from there",
};

/** What the address asks for: `#pass=bfs&graph=grid&machine=cpu&seed=1&round=40`. */
const asked = new URLSearchParams(location.hash.slice(1));
const state = {
  pass: asked.get("pass") ?? "bfs",
  kind: asked.get("graph") ?? (asked.get("pass") === "life" ? "board" : "grid"),
  machine: asked.get("machine"),
  seed: Number(asked.get("seed") ?? 1),
  tab: "source",
  round: 0,
  playing: false,
};
let machines, graph, source, show, frame;

/** One thing after another: a session runs one run at a time. */
let busy = Promise.resolve();
function then(task) {
  busy = busy.then(task).catch(fail);
  return busy;
}

function fail(error) {
  state.playing = false;
  by("error").textContent = error.message ?? String(error);
  by("error").hidden = false;
  throw error;
}

function pressed(id, value) {
  for (const button of by(id).children) button.setAttribute("aria-pressed", String(button.dataset.value === value));
}

const time = (ms) => (ms < 1 ? `${(1000 * ms).toFixed(0)} µs` : ms < 100 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(0)} ms`);
const number = (n) => n.toLocaleString("en");

/** Another graph of the kind; `empty`: without walls, or without life. */
function newGraph(empty = false) {
  const aspect = Math.min(2.6, Math.max(0.6, canvas.clientWidth / canvas.clientHeight));
  const height = 56;
  const width = Math.round(height * aspect);
  source = 0;
  if (state.kind === "grid") {
    const walls = empty ? new Uint8Array(width * height) : graphs.walls(width, height, state.seed);
    source = Math.floor(height / 2) * width + Math.floor(width / 3);
    walls[source] = 0;
    graph = graphs.grid(width, height, walls);
  } else if (state.kind === "points") {
    graph = graphs.points(4000, state.seed);
    source = middle(graph);
  } else if (state.kind === "rmat") {
    graph = graphs.rmat(11, 8, state.seed);
    source = graph.edges[0];
  } else {
    const cells = empty ? new Uint32Array(width * height) : graphs.life(width, height, state.seed);
    graph = graphs.board(width, height, cells);
  }
}

function middle({ nodes, x, y }) {
  const off = (v) => (x[v] - 0.5) ** 2 + (y[v] - 0.5) ** 2;
  return Array.from({ length: nodes }, (_, v) => v).reduce((a, b) => (off(b) < off(a) ? b : a));
}

/** Runs what is chosen to its end, and shows a round of it. */
async function run(round) {
  by("error").hidden = true;
  show?.close();
  show = undefined;
  show = new Show(machines[state.machine], state.pass, graph, source);
  const { rounds, ms } = await show.whole();
  by("nodes").textContent = number(graph.nodes);
  by("edges").textContent = number(show.edges);
  by("rounds").textContent = number(rounds);
  by("run-time").textContent = time(ms);
  by("measured").textContent = state.pass === "life" ? `a run of ${GENERATIONS} generations` : "the first run; it may have compiled shaders";
  await go(round === "last" && state.pass !== "life" ? show.last : Math.min(Number(round) || 0, show.last));
  if (state.tab === "decisions") showTab();
}

/** Shows a round. */
async function go(round) {
  state.round = Math.max(0, Math.min(round, show.last));
  frame = await show.frame(state.round);
  paint();
}

function paint() {
  if (!frame) return;
  fit(canvas);
  fit(bars);
  draw(canvas, state.pass, graph, frame, source);
  const endless = show.last === Infinity;
  const shown = endless ? Math.max(200, show.frames.length) : show.last + 1;
  drawBars(bars, show.bars, shown, state.round);
  by("round").textContent = endless ? `generation ${number(state.round)}` : `round ${number(state.round)} of ${number(show.last)}`;
}

/** Median of runs to the end. */
async function measure() {
  const times = [];
  for (let until = performance.now() + 1000; times.length < 5 || (performance.now() < until && times.length < 50); ) {
    times.push((await show.whole()).ms);
    await new Promise((resume) => setTimeout(resume));
  }
  times.sort((a, b) => a - b);
  by("run-time").textContent = time(times[times.length >> 1]);
  by("measured").textContent = `median of ${times.length} runs, ${time(times[0])} to ${time(times.at(-1))}`;
  if (state.tab === "decisions") showTab();
}

let before;
function play(now) {
  if (!state.playing) return;
  requestAnimationFrame(play);
  const rate = show?.last === Infinity ? 20 : Math.max(5, Math.min(60, (show?.last ?? 0) / 7));
  if (playing.waits || !show || now - before < 1000 / rate) return;
  before = now;
  if (state.round >= show.last) return playing(false);
  playing.waits = true;
  then(() => go(state.round + 1)).finally(() => (playing.waits = false));
}

function playing(on) {
  state.playing = on;
  by("play").textContent = on ? "❚❚" : "▶";
  if (on) {
    before = 0;
    requestAnimationFrame(play);
  }
}

const WORDS = [
  ["comment", /\/\/.*/y],
  ["attribute", /#\[[^\]]*\]/y],
  ["keyword", /\b(?:pub|mod|struct|fn|let|mut|if|else|for|in|as|const|use)\b/y],
  ["type", /\b(?:[A-Z]\w*|u32|f32|bool)\b/y],
  ["number", /\b\d[\w.]*/y],
  ["", /\w+|\s+|./y],
];

/** Rust with colours. */
function colored(text) {
  const pre = document.createElement("pre");
  for (let at = 0; at < text.length; ) {
    for (const [kind, pattern] of WORDS) {
      pattern.lastIndex = at;
      const found = pattern.exec(text)?.[0];
      if (!found) continue;
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = found;
      pre.append(span);
      at += found.length;
      break;
    }
  }
  return pre;
}

function showTab() {
  pressed("tabs", state.tab);
  const { source, plan, picture } = about(state.pass);
  const plain = (text) => Object.assign(document.createElement("pre"), { textContent: text });
  if (state.tab === "picture") {
    const image = Object.assign(document.createElement("div"), { className: "svg", innerHTML: picture });
    by("shown").replaceChildren(image);
  } else {
    const text = { source: () => colored(source), plan: () => plain(plan), decisions: () => plain(show?.explain() ?? "") };
    by("shown").replaceChildren(text[state.tab]());
  }
}

function showMachine() {
  pressed("machines", state.machine);
  by("machines").querySelector("[data-value=gpu]").disabled = !machines.gpu;
  const on = machines.why[state.machine];
  const other = machines.gpu ? "WebGPU is there, too" : machines.why.gpu;
  by("why").textContent = state.machine === "gpu" ? `WebGPU: ${on}` : `CPU: ${on}; ${other}`;
}

/** Goes on with another choice. */
function choose(change, { keep = false, round = 0, then_play = true } = {}) {
  then(async () => {
    playing(false);
    Object.assign(state, change);
    if (change.pass) state.kind = change.pass === "life" ? "board" : state.kind === "board" ? "grid" : state.kind;
    if (change.kind) state.pass = change.kind === "board" ? "life" : state.pass === "life" ? "bfs" : state.pass;
    if (!keep) newGraph();
    pressed("passes", state.pass);
    pressed("graphs", state.kind);
    by("clear").disabled = !(state.kind in DRAW);
    const hints = [DRAW[state.kind], state.pass === "bfs" && SEARCH[state.kind]];
    by("hint").textContent = hints.filter(Boolean).join("; ");
    by("hint").hidden = !by("hint").textContent;
    showMachine();
    showTab();
    await run(round);
    playing(then_play);
  });
}

const clicked = (id, go) => by(id).addEventListener("click", (event) => event.target.dataset.value && go(event.target.dataset.value));
clicked("passes", (pass) => choose({ pass }, { keep: pass !== "life" && state.pass !== "life" }));
clicked("graphs", (kind) => choose({ kind }));
clicked("machines", (machine) => choose({ machine }, { keep: true }));
clicked("tabs", (tab) => {
  state.tab = tab;
  showTab();
});
by("anew").addEventListener("click", () => choose({ seed: state.seed + 1 }));
by("clear").addEventListener("click", () => {
  then(() => {
    newGraph(true);
    return run("last");
  });
});
by("measure").addEventListener("click", () => {
  playing(false);
  then(measure);
});
by("play").addEventListener("click", () => {
  if (!state.playing && state.round >= show.last) then(() => go(0));
  playing(!state.playing);
});
window.addEventListener("resize", paint);

/** What a pointer draws, until it is lifted. */
let pen;
let late = false;

function changed() {
  if (late) return;
  late = true;
  then(async () => {
    late = false;
    if (graph.kind === "grid") graph = graphs.grid(graph.width, graph.height, graph.walls);
    if (graph.kind === "board") graph = graphs.board(graph.width, graph.height, graph.cells);
    await run("last");
  });
}

function touch(event) {
  const v = nodeAt(canvas, graph, event);
  if (v === undefined) return;
  if (pen === "source") {
    if (graph.walls?.[v] || source === v) return;
    source = v;
  } else {
    const cells = graph.walls ?? graph.cells;
    if (cells[v] === pen || (state.pass === "bfs" && v === source)) return;
    cells[v] = pen;
  }
  changed();
}

canvas.addEventListener("pointerdown", (event) => {
  const v = nodeAt(canvas, graph, event);
  if (v === undefined) return;
  playing(false);
  canvas.setPointerCapture(event.pointerId);
  if (graph.kind === "board") {
    // What is drawn goes on from what is seen.
    graph = graphs.board(graph.width, graph.height, Uint32Array.from(frame.values));
    pen = 1 - graph.cells[v];
  } else if (graph.kind === "grid" && !near(v)) {
    pen = 1 - graph.walls[v];
  } else if (state.pass === "bfs") {
    pen = "source";
  } else {
    return;
  }
  touch(event);
});
canvas.addEventListener("pointermove", (event) => pen !== undefined && touch(event));
canvas.addEventListener("pointerup", () => {
  if (pen !== undefined && graph.kind !== "board") then(() => go(0)).then(() => playing(true));
  pen = undefined;
});

/** Whether a cell is the source of a search, or beside it. */
function near(v) {
  const { width } = graph;
  const [x, y] = [(v % width) - (source % width), Math.floor(v / width) - Math.floor(source / width)];
  return state.pass === "bfs" && Math.max(Math.abs(x), Math.abs(y)) <= 1;
}

bars.addEventListener("pointerdown", (event) => {
  bars.setPointerCapture(event.pointerId);
  scrub(event);
});
bars.addEventListener("pointermove", (event) => event.buttons && scrub(event));

function scrub(event) {
  playing(false);
  const shown = show.last === Infinity ? Math.max(200, show.frames.length) : show.last + 1;
  const known = show.last === Infinity ? show.frames.length - 1 : show.last;
  const box = bars.getBoundingClientRect();
  const round = Math.floor((shown * (event.clientX - box.left)) / box.width);
  if (!late) {
    late = true;
    then(() => {
      late = false;
      return go(Math.min(round, known));
    });
  }
}

machines = await open().catch(fail);
state.machine = machines[state.machine] ? state.machine : machines.gpu ? "gpu" : "cpu";
const round = asked.get("round");
choose({}, { round: round ?? 0, then_play: round === null });
await busy;
document.documentElement.dataset.ready = "";
