/** Page size of libibverbs' examples. */
const pageBytes = 4096;
const filling = 0x7b;

/**
 * Puts into `memory` the message that libibverbs' examples send, and behind it what they do not.
 * @param size bytes of the message
 * @param isChecked whether it is to be checked: then each page of it begins with 0, as with their option -c
 */
export function fillMemory(memory: Uint8Array, size: number, isChecked: boolean): void {
  memory.fill(filling, 0, size).fill(0xff, size);
  if (isChecked) for (let page = 0; page < size; page += pageBytes) memory[page] = 0;
}

/**
 * Compares a message that was received, of a peer that checks or one that does not.
 * @throws Error a byte is not what such a peer sends
 */
export function checkMessage(message: Uint8Array): void {
  const pageBegin = message[0] === 0 ? 0 : filling;
  const wrong = message.findIndex((byte, at) => byte !== (at % pageBytes === 0 ? pageBegin : filling));
  if (wrong >= 0) throw new Error(`invalid data: byte ${wrong} of the message is not what was sent`);
}
