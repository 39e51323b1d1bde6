import { BlockedKeyError, StoreError } from '../object-store.js';
import type { StoreCondition } from '../store-remedies.js';

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EDQUOT: 'the quota is spent',
  EIO: 'the device reported an input/output error',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'not permitted; the file system may lack hard links',
  ENOTSUP: 'the file system lacks hard links',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ENOTDIR: 'there is an object where a folder is needed',
  EEXIST: 'there is an object where a folder is needed',
  EISDIR: 'there is a folder at this key',
  ELOOP: 'there is a symbolic link, and links are not followed',
  ENAMETOOLONG: 'the file system does not take a name of this length',
  EXDEV: 'another file system is mounted inside the store folder',
};

const CONDITIONS: Readonly<Record<string, StoreCondition>> = {
  ENOSPC: 'full',
  EDQUOT: 'over-quota',
  EROFS: 'read-only',
  EACCES: 'denied',
  EPERM: 'denied',
  EXDEV: 'mounted-inside',
  EMFILE: 'too-many-files',
  ENFILE: 'too-many-files',
  // A network file system.
  ESTALE: 'unreachable',
  ENOTCONN: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ETIMEDOUT: 'unreachable',
};

/** Errors that show something other than an object at the key. */
const BLOCKED: ReadonlySet<string> = new Set(['ELOOP', 'EEXIST', 'ENOTDIR', 'EISDIR']);

/** The errno name of a system error, else null. */
export function errnoOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** Whether an error shows that a path does not exist: there is no entry, or a parent is an object instead of a folder. */
export function isAbsent(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** A rejection handler that turns a missing path into `value` and throws everything else. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return value;
    throw error;
  };
}

/** Turns whatever a file operation throws into a `StoreError` that names the operation and the key. */
export function fileStoreError(operation: string, key: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = errnoOf(error);
  const reason = code === null ? 'unexpected error' : `${EXPLANATIONS[code] ?? 'failed'} (${code})`;
  const detail = `${reason} at ${JSON.stringify(key)}`;
  if (code !== null && BLOCKED.has(code)) return new BlockedKeyError(operation, detail, { cause: error });
  return new StoreError(operation, detail, { cause: error, condition: CONDITIONS[code ?? ''] ?? null });
}

/** Runs a file operation, throwing only `StoreError`. */
export async function fileCall<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw fileStoreError(operation, key, error);
  }
}
