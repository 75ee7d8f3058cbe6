/** Bytes of a DWORD, in which the driver reads and writes what it shares with the device. */
export const dword = 4;
