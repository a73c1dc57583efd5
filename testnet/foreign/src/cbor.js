// Reads the DAG-CBOR of blocks: docs/spec/seedlog.md, section 1. Links come as the bytes of their CID, maps as Map.

export function decode(bytes) {
  const cursor = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 0 };
  const value = item(cursor);
  if (cursor.at !== bytes.length) throw new Error(`${bytes.length - cursor.at} bytes after the item`);
  return value;
}

function item(c) {
  const first = c.view.getUint8(c.at++);
  const [major, info] = [first >> 5, first & 31];
  if (major === 7) return simple(c, info);
  const n = argument(c, info);
  switch (major) {
    case 0:
      return n;
    case 1:
      return -1 - n;
    case 2:
      return take(c, n);
    case 3:
      return new TextDecoder("utf-8", { fatal: true }).decode(take(c, n));
    case 4:
      return Array.from({ length: n }, () => item(c));
    case 5: {
      const map = new Map();
      for (let i = 0; i < n; i++) map.set(item(c), item(c));
      return map;
    }
    default:
      if (n !== 42) throw new Error(`tag ${n}`);
      return item(c).subarray(1);
  }
}

function simple(c, info) {
  if (info === 20 || info === 21) return info === 21;
  if (info !== 27) throw new Error(`simple value ${info}`);
  c.at += 8;
  return c.view.getFloat64(c.at - 8);
}

// argument is a length or an integer; integers of blocks that are read here fit into a double.
function argument(c, info) {
  if (info < 24) return info;
  if (info > 27) throw new Error(`length ${info}`);
  const size = 1 << (info - 24);
  c.at += size;
  const at = c.at - size;
  if (size === 8) return Number(c.view.getBigUint64(at));
  return size === 4 ? c.view.getUint32(at) : size === 2 ? c.view.getUint16(at) : c.view.getUint8(at);
}

function take(c, n) {
  if (n > c.bytes.length - c.at) throw new Error("it ends too early");
  c.at += n;
  return c.bytes.subarray(c.at - n, c.at);
}
