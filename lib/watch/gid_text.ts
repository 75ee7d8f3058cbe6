/** A GID as people read it: an IPv4 address where it is a mapped one, else IPv6 as in RFC 5952. */
export function gidText(gid: Uint8Array): string {
  const isMapped = gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
  if (isMapped) return gid.subarray(12).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => (gid[2 * index]! << 8) | gid[2 * index + 1]!);
  const zerosFrom = (start: number): number => {
    const end = groups.findIndex((group, index) => index >= start && group !== 0);
    return (end < 0 ? groups.length : end) - start;
  };
  const runs = groups.map((_, start) => zerosFrom(start));
  const longest = Math.max(...runs);
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  if (longest < 2) return hex(0, groups.length);
  const start = runs.indexOf(longest);
  return `${hex(0, start)}::${hex(start + longest, groups.length)}`;
}
