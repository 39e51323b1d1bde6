import type { Dispatcher } from 'undici';
import { noAnswer } from '../s3-failure.js';

/**
 * Sends one request and resolves with the stream of its answer once it has begun.
 *
 * @throws S3Failure `PoolTimeout` when it has not begun in time
 */
export async function openExchange(
  dispatcher: Dispatcher,
  request: Dispatcher.RequestOptions,
  withinMs: number,
): Promise<Dispatcher.ResponseData> {
  const stop = new AbortController();
  const answering = dispatcher.request({ ...request, signal: stop.signal });
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer('PoolTimeout', `${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([answering, expired]);
  } catch (error) {
    stop.abort();
    answering.then(({ body }) => body.on('error', () => undefined).destroy()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
