/** `fpga-verbs/connect`: connects queue pairs in one call and awaits operations. */
export { addressOf, type LocalPlace, type QueuePairAddress } from './address.ts';
export {
  addressVectorTo,
  connectQueuePair,
  connectQueuePairAsync,
  openQueuePair,
  type ConnectionAttributes,
} from './connect_queue_pair.ts';
export { localAckTimeout, type PathTimes } from './local_ack_timeout.ts';
export { Connection, type ConnectionOptions, type Data, type Received } from './connection.ts';
