// Connects two ends of web/src/rtc.ts in one page, playing their network workers. alter changes what one tells the other.
async function meet(alter, stun = []) {
  const end = () => {
    const { port1, port2 } = new MessageChannel();
    new rtc.Links().add(port2);
    const told = [];
    let wake = () => {};
    port1.onmessage = ({ data }) => {
      told.push(data);
      wake();
    };
    const first = async (...ops) => {
      for (;;) {
        const found = told.find(({ op }) => ops.includes(op));
        if (found) return found;
        await new Promise((resolve) => (wake = resolve));
      }
    };
    return { first, ask: (order) => port1.postMessage(order) };
  };
  const [a, b] = [end(), end()];
  a.ask({ op: "offer", stun });
  b.ask({ op: "accept", theirs: alter((await a.first("described")).ours), stun });
  a.ask({ op: "answered", theirs: (await b.first("described")).ours });
  const told = await b.first("opened", "ended");
  return told.op === "opened" ? told.op : told.why;
}

async function meetAll() {
  const another = (ours) => ({ ...ours, fingerprint: ours.fingerprint.map((byte) => byte ^ 1) });
  const same = (ours) => ours;
  return {
    honest: await meet(same),
    altered: await meet(another),
    lost: await meet(same, ["stun:127.0.0.1:9"]), // nobody answers there
    wrong: await meet(same, ["stun:nobody.invalid:1", "nonsense"]),
  };
}

meetAll().then(
  (met) => (globalThis.met = met),
  (err) => (globalThis.met = { honest: String(err), altered: "", lost: "", wrong: "" }),
);
