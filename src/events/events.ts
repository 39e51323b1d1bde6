/** What consumers of the events import, as `transcript-receiver/events`. It depends on Node alone. */
export type {
  CloudEvent,
  EventItem,
  HealthClosedEvent,
  HealthNotice,
  HealthOpenedEvent,
  JobEvent,
  JobEventData,
  ReceiverEvent,
  TestEvent,
} from './receiver-event.js';
export { type Signed, sign } from './sign.js';
export {
  type EventHeaders,
  EventVerificationError,
  type EventVerificationErrorCode,
  type SignatureOptions,
  verify,
} from './verify.js';
