// Runs lib.rs, built as wasm32, under Node, and compares it with a breadth-first search of its own.
// usage: node check.mjs FILE.wasm

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const UNSEEN = 0xffffffff;

// The module imports nothing: no clock, no threads, no JavaScript of ours.
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const pass = instance.exports;

/** Distances from `source`, and the number of rounds, the last of which finds nothing. */
function expected(nodes, edges, source) {
  const out = Array.from({ length: nodes }, () => []);
  for (const [from, to] of edges) out[from].push(to);
  const dist = new Array(nodes).fill(UNSEEN);
  dist[source] = 0;
  let rounds = 0;
  for (let front = [source]; front.length > 0; rounds++) {
    const next = [];
    for (const from of front) {
      for (const to of out[from]) {
        if (dist[to] === UNSEEN) {
          dist[to] = rounds + 1;
          next.push(to);
        }
      }
    }
    front = next;
  }
  return { dist, rounds };
}

function check(name, nodes, edges) {
  pass.clear();
  for (const [from, to] of edges) pass.add_edge(from, to);
  const { dist, rounds } = expected(nodes, edges, 0);
  for (const native of [0, 1]) {
    assert.equal(pass.search(nodes, 0, native), rounds, `rounds on ${name}`);
    const found = dist.map((_, node) => pass.distance(node) >>> 0);
    assert.deepEqual(found, dist, `distances on ${name}`);
  }
  const reached = dist.filter((d) => d !== UNSEEN).length;
  console.log(`${name}: ${reached} of ${nodes} nodes in ${rounds} rounds`);
}

/** The edges of a path through all nodes. */
const path = (nodes) => Array.from({ length: nodes - 1 }, (_, v) => [v, v + 1]);

let state = 1;
const random = (below) => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
};
const many = Array.from({ length: 100000 }, () => [random(50000), random(50000)]);

check("a triangle and a node", 4, [[0, 1], [1, 2], [2, 0]]);
check("a path", 1000, path(1000));
check("100,000 random edges", 50000, many);

// A trap is an error, and the next run is as any.
pass.clear();
for (const [from, to] of path(1001)) pass.add_edge(from, to);
assert.equal(pass.search(1001, 0, 0), -1, "1,001 rounds are more than it may take");
check("a path, after a trap", 3, path(3));
