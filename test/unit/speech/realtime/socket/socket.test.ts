import { describe, expect, it } from '@jest/globals';
import { adaptWebSocket, type WebSocketLike } from '../../../../../src/speech/realtime/socket/socket.js';

/** What a browser gives us, with events fired by hand. */
function fakeWebSocket() {
  const listeners: Record<string, (event: never) => void> = {};
  const closed: unknown[][] = [];
  const socket = {
    binaryType: 'blob',
    bufferedAmount: 7,
    send: () => {},
    close: (...args: unknown[]) => closed.push(args),
    addEventListener: (type: string, listener: (event: never) => void) => {
      listeners[type] = listener;
    },
  } as WebSocketLike;
  const fire = (type: string, event: object): void => listeners[type]?.(event as never);
  return { socket, fire, closed };
}

describe('an adapted WebSocket', () => {
  it('loses no event that came before anybody listened, and keeps their order', () => {
    const { socket, fire } = fakeWebSocket();
    const adapted = adaptWebSocket(socket);
    fire('message', { data: 'one' });
    fire('message', { data: new ArrayBuffer(1) });
    const heard: unknown[] = [];
    adapted.listen({
      message: (text) => heard.push(text),
      binary: () => heard.push('binary'),
      close: (code, reason) => heard.push([code, reason]),
    });
    fire('message', { data: 'two' });
    fire('close', { code: 1000, reason: 'bye' });
    expect(heard).toEqual(['one', 'binary', 'two', [1000, 'bye']]);
  });

  it('tells what is buffered, asks for plain bytes, and closes where it cannot cut', () => {
    const { socket, closed } = fakeWebSocket();
    const adapted = adaptWebSocket(socket);
    adapted.terminate();
    expect([adapted.bufferedAmount, socket.binaryType, closed]).toEqual([7, 'arraybuffer', [[]]]);
  });
});
