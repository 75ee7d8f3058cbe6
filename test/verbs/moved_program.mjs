// Moves memory that the device reaches to other ArrayBuffers, and prints the results.
const [library, way] = process.argv.slice(2);
const { openDevice, Access } = await import(library);
const domain = openDevice('emu:').createProtectionDomain();
const say = (told) => process.stdout.write(JSON.stringify(told));
if (way === 'allocated') {
  const region = domain.allocate(8192, Access.localWrite);
  region.bytes.fill(7);
  const moved = new Uint8Array(region.bytes.buffer.transfer());
  const left = region.bytes.length;
  region.close();
  say({ left, sum: moved.reduce((sum, byte) => sum + byte) });
} else if (way === 'frozen') {
  const { board } = domain.context.driver.device;
  const mapped = [];
  const map = board.map.bind(board);
  Object.defineProperty(board, 'map', {
    value: (...words) => {
      mapped.push(map(...words));
      return mapped.at(-1);
    },
  });
  const refusals = [
    () => domain.registerMemory(Object.freeze(new ArrayBuffer(8192))),
    () => board.unmap(mapped[0]),
  ].map((call) => {
    try {
      return String(call());
    } catch ({ name, message }) {
      return `${name}: ${message}`;
    }
  });
  say({ refusals, mapped: mapped.length });
} else {
  const buffer = new ArrayBuffer(8192);
  domain.registerMemory(buffer);
  const refusals = ['transfer', 'transferToFixedLength'].map((move) => {
    try {
      return buffer[move]();
    } catch ({ name, message }) {
      return `${name}: ${message}`;
    }
  });
  say({ refusals, left: buffer.byteLength });
}
