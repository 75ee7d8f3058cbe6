// Two queue pairs of one board reach each other by its GID alone, from which both layers make one MAC address.
const library = (name) => import(new URL(`../../dist/lib/${name}.js`, import.meta.url).href);
const { openDevice } = await library('index');
const { Connection } = await library('connect/index');
const { macOf } = await library('connect/address');

const context = openDevice(process.argv[2]);
const [one, other] = [new Connection(context), new Connection(context)];
for (const [own, peer] of [
  [one, other],
  [other, one],
]) {
  const { mac: _, ...address } = peer.address;
  own.connect(address);
}
const target = other.allocate(64);
const received = other.receive(target.slice());
const source = one.allocate(64);
source.bytes.fill(7);
await one.send(source.slice());
await received;
const isOwn = Buffer.compare(macOf({ gid: one.address.gid }), context.queryPort(1).mac) === 0;
console.log(`${one.address.gid} ${target.bytes.every((byte) => byte === 7)} ${isOwn}`);
context[Symbol.dispose]();
