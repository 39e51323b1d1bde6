import type { Server } from 'node:http';

/** How often idle connections are closed while a server drains: each answer may leave one more idle. */
const CLOSE_IDLE_EVERY = 50;

/**
 * Stops accepting, closes connections as they fall idle, and cuts the rest when `deadline` settles.
 * Resolves when no connection is left.
 */
export async function drainServer(server: Server, deadline: Promise<unknown>): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY);
  server.closeIdleConnections();
  await Promise.race([closed, deadline]);
  clearInterval(timer);
  server.closeAllConnections();
  await closed;
}
