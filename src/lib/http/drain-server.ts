import type { Server } from 'node:http';

/** Milliseconds between closing idle connections while a server drains: each response may leave one more idle. */
const CLOSE_IDLE_EVERY = 50;

/**
 * Stops accepting, closes connections as they become idle, and closes the rest when `deadline` settles.
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
