// Compares what passes give with what a few lines of JavaScript give. Runs under Node and in a page.

import { Machine, Runner } from "./vyre_web.js";
import * as graphs from "./graphs.js";
import { Show } from "./machines.js";
import { rank } from "./picture.js";

const UNSEEN = 0xffffffff;

function equal(actual, expected, what) {
  const same = actual.length === expected.length && expected.every((value, i) => actual[i] === value);
  if (!same) throw new Error(`${what}: ${Array.from(actual).slice(0, 20)}, and not ${Array.from(expected).slice(0, 20)}`);
}

/** Targets by source. */
function out({ nodes, edges }) {
  const targets = Array.from({ length: nodes }, () => []);
  for (let e = 0; e < edges.length; e += 2) targets[edges[e]].push(edges[e + 1]);
  return targets;
}

function search(graph, source) {
  const targets = out(graph);
  const dist = new Array(graph.nodes).fill(UNSEEN);
  dist[source] = 0;
  let rounds = 0;
  for (let front = [source]; front.length > 0; rounds++) {
    const next = [];
    for (const u of front) {
      for (const v of targets[u]) {
        if (dist[v] === UNSEEN) {
          dist[v] = rounds + 1;
          next.push(v);
        }
      }
    }
    front = next;
  }
  return { dist, rounds };
}

/** The least node of each node's component. */
function components(graph) {
  const label = Array.from({ length: graph.nodes }, (_, v) => v);
  const find = (v) => (label[v] === v ? v : (label[v] = find(label[v])));
  for (let e = 0; e < graph.edges.length; e += 2) {
    const [a, b] = [find(graph.edges[e]), find(graph.edges[e + 1])];
    label[Math.max(a, b)] = Math.min(a, b);
  }
  return label.map((_, v) => find(v));
}

/** Ranks after so many rounds. */
function pagerank(graph, rounds) {
  const targets = out(graph);
  let ranks = new Array(graph.nodes).fill(1 / graph.nodes);
  for (let round = 0; round < rounds; round++) {
    const next = new Array(graph.nodes).fill(0);
    let dangling = 0;
    targets.forEach((to, u) => {
      if (to.length === 0) dangling += ranks[u];
      for (const v of to) next[v] += ranks[u] / to.length;
    });
    ranks = next.map((walked) => (0.15 + 0.85 * dangling) / graph.nodes + 0.85 * walked);
  }
  return ranks;
}

function life({ width, height }, cells) {
  return cells.map((alive, i) => {
    let neighbours = -alive;
    for (const dy of [-1, 0, 1]) {
      for (const dx of [-1, 0, 1]) {
        const x = ((i % width) + dx + width) % width;
        neighbours += cells[((Math.floor(i / width) + dy + height) % height) * width + x];
      }
    }
    return neighbours === 3 || (neighbours === 2 && alive) ? 1 : 0;
  });
}

async function checkRanks(machine, graph, name) {
  const show = new Show(machine, "pagerank", graph, 0);
  const { values, rounds } = await show.whole();
  const near = (actual, expected, what) => {
    const off = expected.reduce((sum, r, v) => sum + Math.abs(rank(actual[v]) - r), 0);
    if (!(off < 1e-4)) throw new Error(`${what}: the ranks are off by ${off}`);
  };
  near(values, pagerank(graph, rounds), `ranks of ${name}`);
  near((await show.frame(3)).values, pagerank(graph, 3), `ranks of ${name} after 3 rounds`);
  show.close();
  return rounds;
}

async function checkGraph(machine, graph, source, name) {
  const said = [];
  const show = new Show(machine, "bfs", graph, source);
  const { dist, rounds } = search(graph, source);
  for (const again of ["", ", again"]) {
    const found = await show.whole();
    equal(found.values, dist, `distances in ${name}${again}`);
    equal([found.rounds], [rounds], `rounds in ${name}${again}`);
  }
  equal([show.bars.reduce((a, b) => a + b)], [dist.filter((d) => d !== UNSEEN).length], `reached in ${name}`);
  show.close();
  said.push(`${rounds} rounds of a search`);

  const labels = new Show(machine, "components", graph, 0);
  const whole = await labels.whole();
  equal(whole.values, components(graph), `labels of ${name}`);
  // Round by round it comes to the same, in as many rounds.
  equal((await labels.frame(whole.rounds)).values, whole.values, `labels of ${name}, by single rounds`);
  equal([labels.bars.at(-1) === 0, labels.bars.at(-2) > 0], [true, true], `the last rounds in ${name}`);
  labels.close();
  said.push(`${whole.rounds} of components`);

  said.push(`${await checkRanks(machine, graph, name)} of ranks`);
  return `${name}: ${said.join(", ")}`;
}

async function checkLife(machine, width, height) {
  const cells = graphs.life(width, height, 7);
  const board = graphs.board(width, height, cells);
  const show = new Show(machine, "life", board, 0);
  let expected = cells;
  for (let round = 0; round <= 100; round++) {
    if (round === 10) equal((await show.frame(10)).values, expected, "a board after 10 runs of a generation");
    if (round === 100) equal((await show.whole()).values, expected, "a board after a run of 100 generations");
    expected = life(board, expected);
  }
  show.close();
  return "a board: 100 generations";
}

/** What is refused is an error, and the next run is as any. */
async function checkErrors(machine) {
  const refused = async (what, go) => {
    try {
      await go();
    } catch {
      return;
    }
    throw new Error(`${what} is no error`);
  };
  await refused("an edge to nowhere", () => new Runner(machine, "bfs", 2, Uint32Array.of(0, 2)));
  await refused("an unknown pass", () => new Runner(machine, "sort", 0, new Uint32Array()));
  const runner = new Runner(machine, "components", 3, Uint32Array.of(2, 1));
  await refused("a node without a label", () => runner.run(0, Uint32Array.of(0, 1), 9));
  equal((await runner.run(0, Uint32Array.of(5, 4, 3), 9)).values, [5, 3, 3], "labels after an error");
  runner.free();
  return "errors: as they should be";
}

/** Checks a machine, and returns what it found, a line a check. `small`: on graphs for a GPU that a CPU imitates. */
export async function check(machine = Machine.cpu(), small = false) {
  const [width, height] = small ? [12, 9] : [40, 30];
  const grid = graphs.grid(width, height, graphs.walls(width, height, 3));
  const rmat = graphs.rmat(small ? 6 : 9, small ? 3 : 8, 5);
  const symmetric = { ...rmat, edges: graphs.bothWays(rmat.edges) };
  return [
    await checkGraph(machine, grid, grid.walls.indexOf(0), "a grid with walls"),
    await checkGraph(machine, graphs.points(small ? 120 : 1500, 4), 0, "points"),
    await checkGraph(machine, { ...symmetric, kind: "both ways" }, rmat.hub, "an R-MAT graph"),
    await checkLife(machine, width, height),
    await checkErrors(machine),
  ];
}
