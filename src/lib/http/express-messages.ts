import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import type { MessageClasses } from './connections/connection-requests.js';
import { joiningRequest } from './joining-request.js';

/**
 * Classes for the requests and responses of an app's server, created with Express's prototypes. Express replaces the prototype of
 * every message that has another one, which is slow on Node 20: 0.23 ms of CPU for each callback.
 */
export function expressMessages(app: Express): MessageClasses {
  const ReceivedRequest = joiningRequest();
  class SentResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  app.request = Object.setPrototypeOf(ReceivedRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(SentResponse.prototype, app.response);
  return { IncomingMessage: ReceivedRequest, ServerResponse: SentResponse };
}
