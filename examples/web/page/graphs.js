// Graphs to draw: each has positions from 0 to 1, edges as sources and targets by turns, and what may be drawn.

/** Numbers from 0 up to below 1, the same for the same seed (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A grid of cells that are linked to those beside them; walls are linked to nothing. */
export function grid(width, height, walls) {
  const edges = [];
  const link = (u, v) => {
    if (!walls[u] && !walls[v]) edges.push(u, v, v, u);
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const v = y * width + x;
      if (x + 1 < width) link(v, v + 1);
      if (y + 1 < height) link(v, v + width);
    }
  }
  return { kind: "grid", nodes: width * height, edges: Uint32Array.from(edges), width, height, walls };
}

/** Walls with gaps: long lines, across and down. */
export function walls(width, height, seed) {
  const next = random(seed);
  const below = (n) => Math.floor(next() * n);
  const cells = new Uint8Array(width * height);
  for (let line = 0; line < (width + height) / 5; line++) {
    const [long, along] = [5 + below(height / 2), next() < 0.5 ? 1 : width];
    let at = below(width * height);
    for (let step = 0; step < long && at < cells.length; step++, at += along) {
      if (along === 1 && step > 0 && at % width === 0) break;
      cells[at] = 1;
    }
  }
  return cells;
}

/** Points that are linked to the points near them. */
export function points(count, seed) {
  const next = random(seed);
  const [x, y] = [new Float32Array(count), new Float32Array(count)];
  for (let v = 0; v < count; v++) {
    x[v] = next();
    y[v] = next();
  }
  const reach = Math.sqrt(1.55 / count); // near the share of links at which one component begins to take most points
  const across = Math.max(1, Math.floor(1 / reach));
  const boxes = Array.from({ length: across * across }, () => []);
  const box = (c) => Math.min(across - 1, Math.floor(c * across));
  for (let v = 0; v < count; v++) boxes[box(y[v]) * across + box(x[v])].push(v);
  const edges = [];
  for (let v = 0; v < count; v++) {
    for (let j = Math.max(0, box(y[v]) - 1); j <= Math.min(across - 1, box(y[v]) + 1); j++) {
      for (let i = Math.max(0, box(x[v]) - 1); i <= Math.min(across - 1, box(x[v]) + 1); i++) {
        for (const u of boxes[j * across + i]) {
          if (u !== v && Math.hypot(x[u] - x[v], y[u] - y[v]) < reach) edges.push(v, u);
        }
      }
    }
  }
  return { kind: "points", nodes: count, edges: Uint32Array.from(edges), x, y };
}

/** A graph with a few hubs: each edge picks a quarter of the matrix, again and again (Chakrabarti, Zhan, Faloutsos). */
export function rmat(scale, edgeFactor, seed) {
  const next = random(seed);
  const nodes = 1 << scale;
  const edges = new Uint32Array(2 * edgeFactor * nodes);
  for (let e = 0; e < edges.length; e += 2) {
    let [from, to] = [0, 0];
    for (let bit = 0; bit < scale; bit++) {
      const r = next();
      from = 2 * from + (r >= 0.76 ? 1 : 0);
      to = 2 * to + ((r >= 0.57 && r < 0.76) || r >= 0.95 ? 1 : 0);
    }
    // Both ways by turns, so that searches go far.
    [edges[e], edges[e + 1]] = (e / 2) % 2 ? [from, to] : [to, from];
  }
  // Hubs in the middle of a sunflower.
  const degree = new Uint32Array(nodes);
  for (const v of edges) degree[v]++;
  const order = Array.from({ length: nodes }, (_, v) => v).sort((u, v) => degree[v] - degree[u] || u - v);
  const [x, y] = [new Float32Array(nodes), new Float32Array(nodes)];
  order.forEach((v, place) => {
    const [r, turn] = [0.49 * Math.sqrt((place + 0.5) / nodes), place * Math.PI * (3 - Math.sqrt(5))];
    x[v] = 0.5 + r * Math.cos(turn);
    y[v] = 0.5 + r * Math.sin(turn);
  });
  return { kind: "rmat", nodes, edges, x, y, hub: order[0] };
}

/** A board for the Game of Life: no edges, as the pass knows its neighbours. */
export function board(width, height, cells) {
  return { kind: "board", nodes: width * height, edges: new Uint32Array(), width, height, cells };
}

/** Some life. */
export function life(width, height, seed) {
  const next = random(seed);
  const cells = new Uint32Array(width * height);
  for (let i = 0; i < cells.length; i++) cells[i] = next() < 0.22 ? 1 : 0;
  return cells;
}

/** Every edge in both directions. */
export function bothWays(edges) {
  const both = new Uint32Array(2 * edges.length);
  for (let e = 0; e < edges.length; e += 2) {
    both.set([edges[e], edges[e + 1], edges[e + 1], edges[e]], 2 * e);
  }
  return both;
}
