// The script of the clock worker: timers that go on ticking while the page is hidden, where its own are slowed down to
// one a second or one a minute.

interface Port {
  postMessage(id: number): void;
  onmessage: ((event: MessageEvent<{ id: number; ms: number | null }>) => void) | null;
}

const port = self as unknown as Port;
const timers = new Map<number, ReturnType<typeof setTimeout>>();

port.onmessage = ({ data: { id, ms } }) => {
  clearTimeout(timers.get(id));
  timers.delete(id);
  if (ms === null) return;
  timers.set(
    id,
    setTimeout(() => {
      timers.delete(id);
      port.postMessage(id);
    }, ms),
  );
};
