import { IncomingMessage, ServerResponse } from 'node:http';

/** All requests of a connection that are not processed: Node is given the same one each time. No bytes of their bodies are kept. */
export class DroppedRequest extends IncomingMessage {
  #response: ServerResponse | null = null;

  get response(): ServerResponse {
    this.#response ??= new DroppedResponse(this);
    return this.#response;
  }

  override push(): boolean {
    return true;
  }
}

/** Their response, which is never sent. Node adds a listener for each request, of which none will ever be called. */
class DroppedResponse extends ServerResponse {
  override on(): this {
    return this;
  }
}

/** True for what a listener of a server's requests must ignore. */
export function isDropped(request: IncomingMessage): boolean {
  return request instanceof DroppedRequest;
}
