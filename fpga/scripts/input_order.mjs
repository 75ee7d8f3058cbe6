// Assigns signals to the inputs of look-up tables. The inputs differ only in delay, and place-and-route tools connect the latest signal
// to the fastest input. Yosys leaves them in any order, so this file reorders them before the static timing of Yosys.

/**
 * The delays of cells, from the specify blocks of their library.
 * @param library Verilog text
 * @returns by kind of cell, by `OUTPUT` or `OUTPUT[bit]`: [input, its bit or undefined, picoseconds] each; none from a clock
 */
export function delaysOf(library) {
  const cells = new Map();
  for (const [, name, body] of library.matchAll(/^module (\w+)\b([^]*?)^endmodule/gm)) {
    const arcs = new Map();
    const specified = /^ *specify\b([^]*?)^ *endspecify/m.exec(body)?.[1] ?? '';
    for (const [, input, inputBit, output, outputBit, delay] of specified.matchAll(
      /^\s*\((\w+) *(?:\[(\d+)\])? *=> *(\w+) *(?:\[(\d+)\])?\) *= *(\d+);/gm,
    )) {
      const to = outputBit === undefined ? output : `${output}[${outputBit}]`;
      const from = arcs.get(to) ?? [];
      arcs.set(to, from);
      from.push([input, inputBit === undefined ? undefined : Number(inputBit), Number(delay)]);
    }
    cells.set(name, arcs);
  }
  return cells;
}

/**
 * Connects the latest signal of each look-up table to its fastest input, the next to the next, and permutes its contents accordingly.
 * @param cells of a flat module, in the format of Yosys (write_json); changed in place
 * @param delays of delaysOf; a kind of cell without an entry counts as having no delay
 * @returns the arrival time of each net, in picoseconds from the registers that it depends on
 */
export function orderInputs(cells, delays) {
  const drivers = new Map();
  for (const cell of cells)
    for (const port of Object.keys(cell.port_directions))
      if (cell.port_directions[port] === 'output')
        cell.connections[port].forEach((net, bit) => drivers.set(net, { cell, port, bit }));

  const arrivals = new Map();
  /** The nets that a cell output depends on, each with its delay. */
  function before({ cell, port, bit }) {
    const arcs = delays.get(cell.type);
    const found = arcs?.get(port) ?? arcs?.get(`${port}[${bit}]`) ?? [];
    return found
      .map(([input, inputBit, delay]) => ({ net: cell.connections[input]?.[inputBit ?? 0], delay, input }))
      .filter(({ net }) => typeof net === 'number');
  }
  for (const first of drivers.keys()) {
    const stack = [first];
    while (stack.length > 0) {
      const net = stack.at(-1);
      const driver = drivers.get(net);
      const inputs = driver === undefined || arrivals.has(net) ? [] : before(driver);
      const waiting = inputs.filter((each) => !arrivals.has(each.net));
      if (waiting.length > 0) {
        if (stack.length > drivers.size) throw new Error('a look-up table is part of a combinational loop');
        stack.push(...waiting.map((each) => each.net));
        continue;
      }
      stack.pop();
      if (arrivals.has(net)) continue;
      if (driver !== undefined && /^LUT[2-6]$/.test(driver.cell.type)) order(driver.cell, arrivals);
      const latest = driver === undefined ? [] : before(driver);
      arrivals.set(net, Math.max(0, ...latest.map((each) => arrivals.get(each.net) + each.delay)));
    }
  }
  return arrivals;
}

/** The inputs of one look-up table by arrival time; the last input is the fastest. */
function order(cell, arrivals) {
  const count = Number(cell.type.slice(3));
  const places = Array.from({ length: count }, (_, place) => place);
  const nets = places.map((place) => cell.connections[`I${place}`][0]);
  const sorted = places.toSorted(
    (one, other) => (arrivals.get(nets[one]) ?? 0) - (arrivals.get(nets[other]) ?? 0) || one - other,
  );
  const table = cell.parameters.INIT.padStart(1 << count, '0'); // The highest number first.
  const size = 1 << count;
  cell.parameters.INIT = Array.from({ length: size }, (_, at) => {
    const number = size - 1 - at;
    const old = sorted.reduce((sum, place, bit) => sum | (((number >> bit) & 1) << place), 0);
    return table[size - 1 - old];
  }).join('');
  sorted.forEach((place, bit) => (cell.connections[`I${bit}`] = [nets[place]]));
}
