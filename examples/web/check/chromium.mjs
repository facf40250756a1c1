// Checks the page in a headless Chromium, by the DevTools protocol through a pipe:
// node chromium.mjs DIRECTORY [PICTURE.png [CHOICES]]
// With a picture's name it takes a picture of the page instead, which has measured what was chosen. The README's is of
// seed=1&round=60&machine=cpu.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";

const [directory, picture, address] = process.argv.slice(2);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const server = createServer(async (request, response) => {
  const name = new URL(request.url, "http://page").pathname.slice(1) || "index.html";
  try {
    if (!/^\w[\w.]*$/.test(name)) throw new Error("no such file");
    const body = await readFile(join(directory, name));
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const page = `http://127.0.0.1:${server.address().port}/`;

/** A browser with one page: `send` is a command of the protocol, `evaluate` the value of an expression in the page. */
async function browser(flags) {
  const profile = await mkdtemp(join(tmpdir(), "vyre-web-"));
  const child = spawn(
    process.env.CHROMIUM ?? "chromium",
    ["--headless", "--no-sandbox", "--disable-gpu-sandbox", "--remote-debugging-pipe", `--user-data-dir=${profile}`, ...flags, "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const waiting = new Map();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  ended.then(() => waiting.forEach(({ reject }) => reject(new Error("the browser has ended"))));
  child.once("error", (error) => waiting.forEach(({ reject }) => reject(error)));
  let rest = "";
  child.stdio[4].setEncoding("utf8").on("data", (data) => {
    const messages = (rest + data).split("\0");
    rest = messages.pop();
    for (const { id, error, result, method, params } of messages.map((m) => JSON.parse(m))) {
      if (method === "Runtime.exceptionThrown") console.error(params.exceptionDetails.exception?.description);
      if (method === "Runtime.consoleAPICalled") console.error(...params.args.map((a) => a.value ?? a.description));
      const { resolve, reject } = waiting.get(id) ?? {};
      if (error) reject?.(new Error(error.message));
      else resolve?.(result);
      waiting.delete(id);
    }
  });
  let last = 0;
  let sessionId;
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find(({ type }) => type === "page");
  ({ sessionId } = await send("Target.attachToTarget", { targetId, flatten: true }));
  await send("Runtime.enable");
  await send("Page.enable");
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  /** Waits until an expression is true in the page, or the page tells an error. */
  const until = async (expression) => {
    for (let tries = 0; !(await evaluate(expression)); tries++) {
      const error = await evaluate(`document.getElementById("error")?.textContent`);
      if (error) throw new Error(`the page says: ${error}`);
      if (tries === 4000) throw new Error(`after 4,000 looks there is no ${expression}`);
      await new Promise((resume) => setTimeout(resume, 50));
    }
  };
  const open = async (hash) => {
    await send("Page.navigate", { url: "about:blank" });
    await send("Page.navigate", { url: `${page}#${hash}` });
    await until(`document.documentElement?.dataset.ready === ""`);
  };
  const close = async () => {
    child.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { send, evaluate, until, open, close };
}

/** What a page says of itself. */
const text = (id) => `document.getElementById("${id}").textContent`;

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

/** The page runs, on the machine that it should, and its passes give what they should. */
async function check(flags, machine) {
  const { evaluate, until, open, close } = await browser(flags);
  try {
    await open("seed=2");
    const why = await evaluate(text("why"));
    console.log(`${machine}: ${why}`);
    expect((await evaluate(`document.querySelector("#machines [aria-pressed=true]").dataset.value`)) === machine, `the page takes ${why}`);
    const software = why.includes("renders with the CPU");
    expect(why.includes("WebGPU"), "the page does not say why");
    expect(Number(await evaluate(text("rounds"))) > 20, "the page has run no search");
    // Passes by their buttons: the animation goes on, and nothing fails.
    for (const pass of software ? ["bfs"] : ["components", "pagerank", "life", "bfs"]) {
      await evaluate(`document.querySelector("#passes [data-value=${pass}]").click()`);
      const shown = pass === "life" ? "generation" : "round";
      await until(`document.querySelector("#passes [data-value=${pass}]").ariaPressed === "true"`);
      await until(`Number(${text("round")}.match(/${shown} (\\d+)/)?.[1]) >= 3`);
    }
    const found = await evaluate(`Promise.all([import("./checks.js"), import("./machines.js")])
      .then(async ([{ check }, { open }]) => check((await open()).${machine}, ${software}))`);
    console.log(found.map((line) => `  ${line}`).join("\n"));
  } finally {
    await close();
  }
}

async function take() {
  const { send, evaluate, until, open, close } = await browser(["--enable-unsafe-webgpu"]);
  try {
    await send("Emulation.setDeviceMetricsOverride", { width: 1440, height: 860, deviceScaleFactor: 1, mobile: false });
    await open(address ?? "");
    await evaluate(`document.getElementById("measure").click()`);
    await until(`${text("measured")}.startsWith("median")`);
    const { data } = await send("Page.captureScreenshot", { format: "png" });
    await writeFile(picture, Buffer.from(data, "base64"));
  } finally {
    await close();
  }
}

try {
  if (picture) {
    await take();
  } else {
    await check([], "cpu");
    await check(["--enable-unsafe-webgpu"], "gpu");
  }
} finally {
  server.close();
}
