import { describeBursts } from './bursts.ts';

// Full size; few large bursts; and few small ones, so that the limits are reached.
describeBursts('burst_writer', 'OUTSTANDING', 'from', 1, [
  { BEAT_BYTES: 64, OUTSTANDING: 32, MOST_BYTES: 512 },
  { BEAT_BYTES: 32, OUTSTANDING: 64, MOST_BYTES: 512 },
  { BEAT_BYTES: 16, OUTSTANDING: 8, MOST_BYTES: 4096 },
  { BEAT_BYTES: 8, OUTSTANDING: 4, MOST_BYTES: 128, PIECES: 4 },
]);
