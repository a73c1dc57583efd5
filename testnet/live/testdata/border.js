// Times tasks of several sizes in a worker of the page. inputs has the addresses of the worker's script, program and worlds, and
// setup, state and tasks in base64; the result is globalThis.measured.

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function measure() {
  const [compute, worlds] = await Promise.all([inputs.compute, inputs.worlds].map((url) => WebAssembly.compileStreaming(fetch(url))));
  const worker = new Worker(inputs.worker);
  const waiting = [];
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  worker.onmessage = ({ data }) => {
    if (data.op === "crash" || data.op === "failed") fail(new Error(data.error));
    else if (data.op === "result") waiting.shift()();
  };
  worker.postMessage({ op: "boot", program: { name: "worlds", compute, worlds } });
  worker.postMessage({ op: "setup", bytes: bytes(inputs.setup) });
  worker.postMessage({ op: "state", bytes: bytes(inputs.state) });
  const tasks = inputs.tasks.map(bytes);
  const run = (task) => {
    worker.postMessage({ op: "task", id: 1, bytes: task });
    return Promise.race([new Promise((resolve) => waiting.push(resolve)), failed]);
  };
  const alone = async (task) => {
    const begin = performance.now();
    await run(task);
    return performance.now() - begin;
  };
  // Ten tasks, of which two are at the worker at any time.
  const overlapping = async (task) => {
    const begin = performance.now();
    let before = run(task);
    for (let i = 1; i < 10; i++) {
      const next = run(task);
      await before;
      before = next;
    }
    await before;
    return (performance.now() - begin) / 10;
  };
  for (const end = performance.now() + 1000; performance.now() < end; ) await run(tasks.at(-1));
  const best = { alone: tasks.map(() => Infinity), overlapping: tasks.map(() => Infinity) };
  for (const end = performance.now() + 6000; performance.now() < end; ) {
    for (const [i, task] of tasks.entries()) {
      best.alone[i] = Math.min(best.alone[i], await alone(task));
      best.overlapping[i] = Math.min(best.overlapping[i], await overlapping(task));
    }
  }
  return best;
}

measure().then(
  (result) => (globalThis.measured = result),
  (err) => (globalThis.measured = { error: String(err) }),
);
