const longestText = 40;

/**
 * A value that a caller gave, in the words of an error: `40000`, `5n`, `"text"`, `an array of 3`, `a Uint8Array`. A value may be hostile:
 * what throws when it is asked is `an object`.
 */
export function given(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > longestText ? `${value.slice(0, longestText)}…` : value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return 'a function';
    case 'object':
      return value === null ? 'null' : objectGiven(value);
    default:
      return String(value);
  }
}

function objectGiven(value: object): string {
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    const name: unknown = value.constructor?.name;
    if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object';
    return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return 'an object';
  }
}
