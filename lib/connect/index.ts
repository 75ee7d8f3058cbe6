/** `fpga-verbs/connect`: connects queue pairs in one call and awaits operations. */
export { addressOf, type LocalPlace, type QueuePairAddress } from './address.ts';
export {
  addressVectorTo,
  connectQueuePair,
  openQueuePair,
  type ConnectionAttributes,
} from './connect_queue_pair.ts';
export { Connection, type ConnectionOptions, type Data, type Received } from './connection.ts';
