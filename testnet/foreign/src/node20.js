// What js-libp2p takes from Node 22, for Node 20.

Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
