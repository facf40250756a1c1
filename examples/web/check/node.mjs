// Checks the module under Node, on the CPU: node node.mjs DIRECTORY

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

const directory = resolve(process.argv[2]);
const { initSync, Machine } = await import(`${directory}/vyre_web.js`);
initSync({ module: await readFile(`${directory}/vyre_web_bg.wasm`) });
const { check } = await import(`${directory}/checks.js`);
console.log(`${Machine.cpu()}`);
console.log((await check()).join("\n"));
