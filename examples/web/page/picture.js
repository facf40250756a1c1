// Draws a graph, and what a round has made of its nodes.

/** 64 colours between these, as r, g, b. */
function ramp(stops) {
  return Array.from({ length: 64 }, (_, i) => {
    const at = (i / 63) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    return stops[k].map((c, j) => Math.round(c + (stops[k + 1][j] - c) * (at - k)));
  });
}

function hue(turn) {
  const channel = (n) => {
    const k = (n + turn * 12) % 12;
    return Math.round(255 * (0.58 - 0.34 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const HEAT = ramp([[66, 38, 120], [128, 47, 130], [196, 64, 104], [240, 110, 70], [252, 176, 80], [250, 236, 150]]);
const HUES = Array.from({ length: 64 }, (_, i) => hue((i * 0.618034) % 1));
const LIGHT = ramp([[24, 44, 74], [35, 98, 140], [60, 170, 165], [190, 225, 130], [255, 245, 190]]);
const UNLIT = [25, 32, 46];
const WALL = [76, 88, 110];
const GROUND = [7, 9, 14];
const FRONT = [255, 255, 255];
const ALIVE = [255, 180, 84];

const asRank = new DataView(new ArrayBuffer(4));
/** The f32 with these bits. */
export function rank(bits) {
  asRank.setUint32(0, bits);
  return asRank.getFloat32(0);
}

/** Which colour a node has in a frame, and how large it is. */
function look(pass, graph, frame) {
  const { values, round, rounds } = frame;
  switch (pass) {
    case "bfs":
      return (v) => {
        if (values[v] > round) return { color: UNLIT, lit: false };
        if (values[v] === round && round < rounds - 1) return { color: FRONT, lit: true, size: 1.5 };
        return { color: HEAT[63 - Math.round((63 * values[v]) / Math.max(1, rounds - 1))], lit: true };
      };
    case "components":
      return (v) => ({ color: HUES[(values[v] * 2654435761) >>> 26], lit: true });
    case "pagerank":
      return (v) => {
        const times = rank(values[v]) * graph.nodes;
        const t = Math.max(0, Math.min(1, 0.32 + Math.log2(times) / 7));
        return { color: LIGHT[Math.round(63 * t)], lit: true, size: Math.max(0.6, Math.sqrt(times)) };
      };
    default:
      return (v) => (values[v] ? { color: ALIVE, lit: true } : { color: GROUND, lit: false });
  }
}

/** Where a graph lies on a canvas, in its own pixels. */
function place(canvas, graph) {
  const [w, h] = [canvas.width, canvas.height];
  if (graph.width) {
    const cell = Math.min(w / graph.width, h / graph.height);
    const [left, top] = [(w - cell * graph.width) / 2, (h - cell * graph.height) / 2];
    return { cell, left, top };
  }
  if (graph.kind === "rmat") {
    const side = Math.min(w, h);
    return { x: (v) => (w - side) / 2 + side * graph.x[v], y: (v) => (h - side) / 2 + side * graph.y[v], side };
  }
  const edge = 0.015 * w;
  return {
    x: (v) => edge + (w - 2 * edge) * graph.x[v],
    y: (v) => edge + (h - 2 * edge) * graph.y[v],
    side: Math.sqrt(w * h),
  };
}

/** The node or cell at a place of the page. */
export function nodeAt(canvas, graph, event) {
  const box = canvas.getBoundingClientRect();
  const x = ((event.clientX - box.left) * canvas.width) / box.width;
  const y = ((event.clientY - box.top) * canvas.height) / box.height;
  const at = place(canvas, graph);
  if (graph.width) {
    const [column, row] = [Math.floor((x - at.left) / at.cell), Math.floor((y - at.top) / at.cell)];
    const inside = column >= 0 && row >= 0 && column < graph.width && row < graph.height;
    return inside ? row * graph.width + column : undefined;
  }
  let [best, least] = [undefined, Infinity];
  for (let v = 0; v < graph.nodes; v++) {
    const d = (at.x(v) - x) ** 2 + (at.y(v) - y) ** 2;
    if (d < least) [best, least] = [v, d];
  }
  return best;
}

/** Makes a canvas as fine as the screen. */
export function fit(canvas) {
  const scale = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
}

const css = ([r, g, b], alpha = 1) => `rgba(${r}, ${g}, ${b}, ${alpha})`;

export function draw(canvas, pass, graph, frame, source) {
  const context = canvas.getContext("2d");
  context.fillStyle = css(GROUND);
  context.fillRect(0, 0, canvas.width, canvas.height);
  const of = look(pass, graph, frame);
  if (graph.width) drawCells(context, canvas, graph, of);
  else drawNodes(context, canvas, graph, of);
  if (pass === "bfs") ring(context, canvas, graph, source);
}

function drawCells(context, canvas, graph, of) {
  const { cell, left, top } = place(canvas, graph);
  const gap = cell > 5 ? Math.max(1, Math.round(cell / 12)) : 0;
  for (let v = 0; v < graph.nodes; v++) {
    const { color } = graph.walls?.[v] ? { color: WALL } : of(v);
    const [x, y] = [left + cell * (v % graph.width), top + cell * Math.floor(v / graph.width)];
    const [x0, y0] = [Math.round(x), Math.round(y)];
    context.fillStyle = css(color);
    context.fillRect(x0, y0, Math.round(x + cell) - x0 - gap, Math.round(y + cell) - y0 - gap);
  }
}

function drawNodes(context, canvas, graph, of) {
  const at = place(canvas, graph);
  const looks = Array.from({ length: graph.nodes }, (_, v) => of(v));
  // Edges in one path a colour.
  const dense = graph.edges.length / graph.nodes > 12;
  const paths = new Map();
  for (let e = 0; e < graph.edges.length; e += 2) {
    const [u, v] = [graph.edges[e], graph.edges[e + 1]];
    const to = looks[u].lit && looks[v].lit ? looks[v] : { color: UNLIT, lit: false };
    let found = paths.get(to.color);
    if (!found) paths.set(to.color, (found = { path: new Path2D(), lit: to.lit }));
    found.path.moveTo(at.x(u), at.y(u));
    found.path.lineTo(at.x(v), at.y(v));
  }
  context.lineWidth = Math.max(0.5, at.side / 1400);
  for (const [color, { path, lit }] of paths) {
    context.strokeStyle = css(color, dense ? (lit ? 0.09 : 0.16) : lit ? 0.55 : 0.9);
    context.stroke(path);
  }
  const radius = (0.21 * at.side) / Math.sqrt(graph.nodes);
  for (let v = 0; v < graph.nodes; v++) {
    context.fillStyle = css(looks[v].color);
    context.beginPath();
    context.arc(at.x(v), at.y(v), radius * (looks[v].size ?? 1), 0, 2 * Math.PI);
    context.fill();
  }
}

function ring(context, canvas, graph, source) {
  const at = place(canvas, graph);
  const [x, y, r] = graph.width
    ? [at.left + at.cell * ((source % graph.width) + 0.5), at.top + at.cell * (Math.floor(source / graph.width) + 0.5), at.cell]
    : [at.x(source), at.y(source), at.side / 90];
  context.lineWidth = Math.max(2, r / 4);
  context.strokeStyle = css([90, 220, 160]);
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.stroke();
}

/** A bar for each round; those up to the current one are bright. `bars` may be shorter than there are rounds. */
export function drawBars(canvas, bars, rounds, round) {
  const context = canvas.getContext("2d");
  const [w, h] = [canvas.width, canvas.height];
  context.clearRect(0, 0, w, h);
  const most = Math.max(1e-12, ...bars);
  const each = w / Math.max(1, rounds);
  for (let i = 0; i < rounds; i++) {
    const known = i < bars.length;
    const height = known ? Math.max(2, (h - 2) * Math.sqrt(bars[i] / most)) : 2;
    context.fillStyle = css(i === round ? FRONT : i < round ? ALIVE : [52, 64, 88]);
    context.fillRect(i * each, h - height, Math.max(1, each - (each > 3 ? 1 : 0)), height);
  }
}
