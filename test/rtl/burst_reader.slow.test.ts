import { describeBursts } from './bursts.ts';

// Full size; few large bursts; and few small ones, so that the limits are reached.
describeBursts('burst_reader', 'TAGS', 'to', 2, [
  { BEAT_BYTES: 64, TAGS: 32, MOST_BYTES: 512 },
  { BEAT_BYTES: 32, TAGS: 64, MOST_BYTES: 512, PIECES: 64 },
  { BEAT_BYTES: 16, TAGS: 8, MOST_BYTES: 4096 },
  { BEAT_BYTES: 8, TAGS: 4, MOST_BYTES: 128 },
]);
