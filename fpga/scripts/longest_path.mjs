// Finds the longest combinational path in a netlist of FPGA cells, in the format of Yosys (write_json).

// The weight of a cell on a path, wires included, in tenths of a look-up table.
const lut = 10;
const multiplexer = 3;
const carry = 1;

/** The levels that cells add, and which of their inputs an output depends on without a clock; without `inputs`: on all. */
const cellKinds = [
  { type: /^LUT\d$/, weight: lut },
  { type: /^(INV|BUFG)$/, weight: 0 }, // Absorbed by its neighbors.
  { type: /^(MUXF\d|PFUMX|L6MUX21)$/, weight: multiplexer },
  { type: /^(CARRY\d|CCU2C)$/, weight: carry },
  // Memories of look-up tables have asynchronous reads and clocked writes.
  { type: /^RAM\d+M\d*$/, weight: lut, inputs: (output) => output.replace('DO', 'ADDR') },
  { type: /^RAM\d+X\d+D/, weight: lut, inputs: (output) => (output === 'DPO' ? /^DPRA\d*$/ : /^A\d*$/) },
  { type: /^RAM\d+X\d+S/, weight: lut, inputs: () => /^A\d*$/ },
  { type: /^TRELLIS_DPR16X4$/, weight: lut, inputs: () => 'RAD' },
  { type: /^(SRL\w+|FD[A-Z]+|TRELLIS_FF|RAMB\w+|DP16KD|URAM\w*)$/, weight: 0, inputs: () => '' },
];

/**
 * The longest path between registers, block memories and ports of a flat module.
 * @param cells of the module: type, port_directions, connections
 * @returns the number of look-up tables on it, including memories of look-up tables, of carry cells, and its weight in tenths of a
 *   look-up table
 */
export function longestPath(cells) {
  const { outputs } = arrivalsOf(cells);
  const { weight, luts, carries } = outputs.map(({ arrival }) => arrival).reduce(later);
  return { weight, luts, carries };
}

/**
 * The ends of the longest paths: registers and block memories, by name, the longest first.
 * @param cells of the module, as of longestPath
 * @param netnames of the module: bits by name
 * @param count at most
 * @returns for each: the name of its signal, or the kind of its cell if the signal has none, and the weight of the path
 */
export function worstEnds(cells, netnames, count) {
  const names = new Map();
  for (const [name, { bits }] of Object.entries(netnames)) {
    if (name.includes('$')) continue;
    for (const bit of bits) if (!names.has(bit) || names.get(bit).length > name.length) names.set(bit, name);
  }
  const { outputs, drivers } = arrivalsOf(cells);
  const weights = new Map();
  for (const { cell, port, kind } of outputs) {
    if (kind.inputs?.('') !== '') continue;
    const end =
      cell.connections[port].map((net) => names.get(net)).find((name) => name !== undefined) ?? cell.type;
    for (const net of portsOf(cell, 'input').flatMap((input) => cell.connections[input]))
      weights.set(end, Math.max(weights.get(end) ?? 0, drivers.get(net)?.arrival.weight ?? 0));
  }
  return [...weights]
    .map(([end, weight]) => ({ end, weight }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, count);
}

/** The outputs of cells, each with the longest path to it, and the output that drives a net. */
function arrivalsOf(cells) {
  const outputs = cells.flatMap((cell) => {
    const kind = kindOf(cell);
    return portsOf(cell, 'output').map((port) => ({ cell, port, kind, arrival: undefined, entered: false }));
  });
  const drivers = new Map();
  for (const output of outputs)
    for (const net of output.cell.connections[output.port]) drivers.set(net, output);
  for (const output of outputs) arrivalAt(output);
  return { outputs, drivers };

  /** The longest path to an output, computed with an explicit stack because paths are long. */
  function arrivalAt(wanted) {
    const stack = [wanted];
    while (stack.length > 0) {
      const output = stack.at(-1);
      const before = driversOf(output);
      const waiting = output.entered ? [] : before.filter(({ arrival }) => arrival === undefined);
      output.entered = true;
      if (waiting.length > 0) {
        stack.push(...waiting);
        continue;
      }
      stack.pop();
      if (before.some(({ arrival }) => arrival === undefined))
        throw new Error(`a ${output.cell.type} is part of a combinational loop`);
      const { weight, luts, carries } = before
        .map(({ arrival }) => arrival)
        .reduce(later, { weight: 0, luts: 0, carries: 0 });
      const own = output.kind.weight;
      output.arrival = {
        weight: weight + own,
        luts: luts + Number(own === lut),
        carries: carries + Number(own === carry),
      };
    }
  }

  function driversOf({ cell, port, kind }) {
    const inputs = kind.inputs?.(port) ?? /./;
    return portsOf(cell, 'input')
      .filter((input) => (typeof inputs === 'string' ? input === inputs : inputs.test(input)))
      .flatMap((input) => cell.connections[input])
      .map((net) => drivers.get(net))
      .filter((driver) => driver !== undefined);
  }
}

const later = (one, other) => (other.weight > one.weight ? other : one);

function portsOf(cell, wanted) {
  return Object.keys(cell.port_directions).filter((port) => cell.port_directions[port] === wanted);
}

function kindOf({ type }) {
  const kind = cellKinds.find((each) => each.type.test(type));
  if (kind === undefined) throw new Error(`what ${type} adds to a path is not known`);
  return kind;
}
