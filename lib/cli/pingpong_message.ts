/** Page size of libibverbs' examples. */
const pageBytes = 4096;
const filling = 0x7b;

/**
 * Fills `memory` with the message that libibverbs' examples send, followed by other bytes.
 * @param size bytes of the message
 * @param isChecked whether the peer checks it: each page then begins with 0, as with their option -c
 */
export function fillMemory(memory: Uint8Array, size: number, isChecked: boolean): void {
  memory.fill(filling, 0, size).fill(0xff, size);
  if (isChecked) for (let page = 0; page < size; page += pageBytes) memory[page] = 0;
}

/**
 * Compares a received message.
 * @throws Error a byte differs from the message of the peer
 */
export function checkMessage(message: Uint8Array): void {
  const pageBegin = message[0] === 0 ? 0 : filling;
  const wrong = message.findIndex((byte, at) => byte !== (at % pageBytes === 0 ? pageBegin : filling));
  if (wrong >= 0) throw new Error(`invalid data: byte ${wrong} of the message is not what was sent`);
}
