// Plays a recording to the page in place of its workers: what comes from them comes from globalThis.stage, which TestStates
// writes in front of this file. Time stands still, nothing is left of earlier pages, and letters are those of one font.
{
  const { storage = {}, tells = [], held = false, answers = {}, reel = null, moves = false, navigator: traits = {}, without = [], lock = true } = globalThis.stage;
  const now = Date.UTC(2026, 10, 26, 12, 0, 0);
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      super(...(args.length === 0 ? [now] : args));
    }
    static now() {
      return now;
    }
  };
  performance.now = () => 100_000;
  Math.random = () => 0.5;

  localStorage.clear();
  for (const [key, value] of Object.entries(storage)) localStorage.setItem(key, value);
  const define = (of, name, value) => Object.defineProperty(of, name, { get: () => value, configurable: true });
  for (const [name, value] of Object.entries({ hardwareConcurrency: 8, serviceWorker: undefined, connection: { saveData: false }, ...traits })) {
    define(navigator, name, name === "getBattery" ? () => Promise.resolve(Object.assign(new EventTarget(), value)) : value);
  }
  if (!("getBattery" in traits)) define(navigator, "getBattery", undefined);
  for (const name of without) delete globalThis[name];
  if (!lock) navigator.locks.request = (_, options, callback) => Promise.resolve(typeof options === "object" ? callback(null) : new Promise(() => {}));

  globalThis.Worker = class {
    constructor(script, options) {
      this.name = options?.name ?? "";
    }
    terminate() {
      this.onmessage = null;
    }
    say(data) {
      setTimeout(() => this.onmessage?.({ data, ports: [] }));
    }
    postMessage(ask) {
      if (this.name === "network") this.network(ask);
      if (this.name === "theater") this.theater(ask);
    }
    network(ask) {
      if (ask.op === "load") this.say(held ? { op: "loading", loaded: 0.4 } : { op: "loaded", tab: null });
      if (ask.op === "start") for (const told of tells) this.say(told);
      if (ask.op === "program") this.say({ op: "answer", id: ask.id, value: null });
      if (ask.op !== "call") return;
      const { id, name } = ask;
      if (name === "policy") {
        if (!reel) return this.say({ op: "answer", id, value: null });
        const candidate = moves ? { seed: "1", sign: 1 } : {};
        return this.say({ op: "answer", id, value: { setup: new Uint8Array(), state: new Uint8Array(), height: reel.frames[0].gen, ...candidate } });
      }
      if (name in answers) return this.say({ op: "answer", id, value: answers[name] });
      this.say({ op: "refused", id, error: `the recording has no answer to ${name}` });
    }
    theater(ask) {
      if (ask.op === "cast") this.cast = ask;
      if (ask.op !== "show" || this.shown === this.cast) return; // one picture of each
      this.shown = this.cast;
      const frames = reel.frames.map((frame) => ({ ...frame, candidate: this.cast.seed !== null }));
      this.say({ op: "reel", id: ask.id, json: JSON.stringify({ ...reel, frames }) });
    }
  };

  const still = new CSSStyleSheet();
  still.replaceSync(`
    body, button, input { font-family: "DejaVu Sans", sans-serif !important; }
    code { font-family: "DejaVu Sans Mono", monospace !important; }
    *, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent !important; }`);
  document.adoptedStyleSheets = [still];
}
