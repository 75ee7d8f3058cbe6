/** Names of an enum as fpga/spec writes them, from those of code: `rdma_write` of `rdmaWrite`. */
export function specificationNames(
  names: Readonly<Record<number, string>>,
): Readonly<Record<number, string>> {
  return Object.fromEntries(
    Object.entries(names).map(([value, name]) => [
      value,
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ]),
  );
}
