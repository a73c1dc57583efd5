// Notes the newest of everything that the tab's workers tell the page, for the recording that stage.js plays.
globalThis.recorded = { tells: {}, answers: {}, reels: [] };
{
  const Real = Worker;
  const note = (name, newer) => {
    const known = (recorded.answers[name] ??= new Map());
    for (const entry of newer) known.set(entry.height, entry);
  };
  globalThis.Worker = class extends Real {
    constructor(script, options) {
      super(script, options);
      const names = new Map();
      const post = this.postMessage.bind(this);
      this.postMessage = (ask, ports) => {
        if (ask.op === "call") names.set(ask.id, ask.name);
        return post(ask, ports);
      };
      this.addEventListener("message", ({ data }) => {
        if (data.op === "reel") recorded.reels.push(JSON.parse(data.json));
        if (options?.name !== "network") return;
        if (["phase", "ways", "status", "engine"].includes(data.op)) recorded.tells[data.op] = data;
        if (data.op === "status") note("history", [{ height: data.status.height, best: data.status.best, mean: data.status.mean }]);
        if (data.op !== "answer") return;
        const name = names.get(data.id);
        if (["kernel", "curve", "neighbors"].includes(name)) recorded.answers[name] = data.value;
        if (name === "recent" || name === "history") note(name, data.value);
      });
    }
  };
}
