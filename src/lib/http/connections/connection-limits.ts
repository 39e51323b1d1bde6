import { readFileSync } from 'node:fs';

interface ConnectionSettings {
  readonly maxConnections: number;
  readonly maxAdminConnections: number;
  readonly maxConcurrentDeliveries: number;
}

interface ConnectionLimits {
  readonly public: number;
  readonly admin: number;
}

/** Files that are always open: the program, its logs, connections to the store and the service. */
const OWN_FILES = 128;
/** A file and its folder, or two connections to the store, for a delivery in flight. */
const FILES_PER_DELIVERY = 2;

/**
 * The connection limit of each port: the configured one, lowered so that files remain for the deliveries themselves. Once
 * files run out, connections cannot be accepted and deliveries cannot be stored, without any error to see.
 *
 * @param openFiles how many files the process may have open; null when unknown
 */
export function connectionLimits(settings: ConnectionSettings, openFiles: number | null): ConnectionLimits {
  const { maxConnections, maxAdminConnections, maxConcurrentDeliveries } = settings;
  if (openFiles === null) return { public: maxConnections, admin: maxAdminConnections };
  const reserved = Math.min(openFiles / 2, OWN_FILES + FILES_PER_DELIVERY * maxConcurrentDeliveries);
  const left = Math.floor(openFiles - reserved);
  const admin = Math.max(1, Math.min(maxAdminConnections, Math.floor(left / 4)));
  return { public: Math.max(1, Math.min(maxConnections, left - admin)), admin };
}

/** How many files this process may have open (Linux; null elsewhere). Node raises it to the hard limit at start. */
export function openFileLimit(): number | null {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
