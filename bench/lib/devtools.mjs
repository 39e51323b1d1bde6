import { readFileSync } from 'node:fs';
import { WebSocket } from '../../node_modules/undici/index.js';

/** The DevTools protocol of a process started with `--inspect`, whose address is in its log. */
export async function connectDevtools(logFile) {
  const [address] = /ws:\/\/\S+/.exec(readFileSync(logFile, 'utf8')) ?? [];
  if (address === undefined) throw new Error(`no inspector in ${logFile}`);
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`no connection to ${address}`));
  });
  const waiting = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  };
  return {
    post: (method, params = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
