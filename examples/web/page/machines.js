// What can run passes here, and runs of a pass.

import init, { Machine, Runner, about } from "./vyre_web.js";
import { bothWays } from "./graphs.js";
import { rank } from "./picture.js";

export { about };

/** Loads the module, and opens what there is: `cpu`, maybe `gpu`, and for each name in `why` what it is, or lacks. */
export async function open() {
  await init({ module_or_path: new URL("vyre_web_bg.wasm", import.meta.url) });
  const machines = { cpu: Machine.cpu(), why: { cpu: "this thread interprets the bytecode" } };
  try {
    machines.why.gpu = await adapter();
    machines.gpu = await Machine.webgpu();
  } catch (error) {
    machines.why.gpu = error.message;
  }
  return machines;
}

/** What the browser says of its GPU. */
async function adapter() {
  if (!window.isSecureContext) throw new Error("without https, a browser gives a page no WebGPU");
  if (!navigator.gpu) throw new Error("this browser has no WebGPU");
  const found = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!found) throw new Error("this browser has WebGPU, but no adapter for it");
  const { vendor, architecture, description, isFallbackAdapter } = found.info;
  const name = description || [vendor, architecture].filter(Boolean).join(" ") || "an adapter without a name";
  return isFallbackAdapter ? `${name}, which renders with the CPU` : name;
}

/** Words of f32s. */
const bits = (ranks) => new Uint32Array(Float32Array.from(ranks).buffer);

/** What a pass begins with. */
function beginning(pass, graph) {
  switch (pass) {
    case "components":
      return Uint32Array.from({ length: graph.nodes }, (_, v) => v);
    case "pagerank":
      return bits(new Array(graph.nodes).fill(1 / graph.nodes));
    case "life":
      return graph.cells;
    default:
      return new Uint32Array();
  }
}

/** What a bar shows of a round: what was reached, what changed, how far ranks moved, what lives. */
function bar(pass, before, after) {
  let sum = 0;
  for (let v = 0; v < after.length; v++) {
    if (pass === "components") sum += before[v] !== after[v] ? 1 : 0;
    else if (pass === "pagerank") sum += Math.abs(rank(after[v]) - rank(before[v]));
    else sum += after[v];
  }
  return sum;
}

/** Rounds that a pass takes to its end; a game has none. */
const TO_THE_END = 0xffffffff;
/** Generations of a run that is measured. */
export const GENERATIONS = 100;

/**
 * A pass on a graph. `whole()` runs it from beginning to end. `frame(round)` is what that round leaves: a search's
 * distances say it of all rounds; other passes go on from the round before by a run of one round.
 */
export class Show {
  constructor(machine, pass, graph, source) {
    const edges = pass === "components" && graph.kind === "rmat" ? bothWays(graph.edges) : graph.edges;
    Object.assign(this, { pass, graph, source, frames: [beginning(pass, graph)], bars: [] });
    this.edges = edges.length / 2;
    this.runner = new Runner(machine, pass, graph.nodes, edges);
    this.at = pass === "life" ? graph.width : source;
    if (pass === "life") this.bars.push(bar(pass, this.frames[0], this.frames[0]));
    else if (pass !== "bfs") this.bars.push(0);
  }

  /** `{values, rounds, ms}` of a run to the end. */
  async whole() {
    const rounds = this.pass === "life" ? GENERATIONS : TO_THE_END;
    const begun = performance.now();
    const done = await this.runner.run(this.at, beginning(this.pass, this.graph), rounds);
    const ms = performance.now() - begun;
    const result = { values: done.values, rounds: done.rounds, ms };
    done.free();
    this.rounds = this.pass === "life" ? Infinity : result.rounds;
    if (this.pass === "bfs") {
      this.frames = [result.values];
      this.bars = new Array(result.rounds).fill(0);
      for (const d of result.values) if (d < result.rounds) this.bars[d]++;
    }
    return result;
  }

  /** The last round that can be shown. */
  get last() {
    return this.pass === "bfs" ? this.rounds - 1 : this.rounds;
  }

  /** `{values, round, rounds}` after a round; round 0 is the beginning. */
  async frame(round) {
    if (this.pass === "bfs") return { values: this.frames[0], round, rounds: this.rounds };
    while (this.frames.length <= round) {
      const before = this.frames.at(-1);
      const done = await this.runner.run(this.at, before, 1);
      this.frames.push(done.values);
      this.bars.push(bar(this.pass, before, done.values));
      done.free();
    }
    return { values: this.frames[round], round, rounds: this.rounds };
  }

  explain() {
    return this.runner.explain();
  }

  close() {
    this.runner.free();
  }
}
