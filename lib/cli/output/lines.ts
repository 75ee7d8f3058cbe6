/** Terminal width that output is formatted for. */
export const terminalWidth = 80;

/** Words separated by commas, wrapped; lines behind the first are indented by the head's width. */
export function lines(head: string, words: readonly string[]): string {
  const all: string[] = [];
  let line = head;
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`;
    if (line.length + text.length > terminalWidth && line.trim() !== head.trim()) {
      all.push(line.trimEnd());
      line = ' '.repeat(head.length);
    }
    line += `${text} `;
  }
  return [...all, line.trimEnd()].map((each) => `${each}\n`).join('');
}
