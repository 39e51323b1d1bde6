import { fileURLToPath } from 'node:url';

/**
 * What is wrong with a store address, in words, or null: `file:./data`, `file:///var/data`, `s3://bucket` and
 * `s3://bucket/prefix` are right.
 */
export function storeUrlFault(text: string): string | null {
  if (text.startsWith('file:')) return fileFault(text);
  if (text.startsWith('s3:')) return s3Fault(text);
  return 'file:<directory> or s3://<bucket>/<prefix>';
}

function fileFault(text: string): string | null {
  const rest = text.slice('file:'.length);
  if (rest === '' || rest.includes('\0')) return 'file:<directory> with a directory';
  if (!rest.startsWith('//')) return null;
  if (!rest.startsWith('///')) return 'file:///<absolute directory> with three slashes, or file:<directory>';
  try {
    fileURLToPath(text);
    return null;
  } catch {
    return 'file:///<absolute directory>, percent-encoded as in an address';
  }
}

function s3Fault(text: string): string | null {
  if (text.includes('@'))
    return 's3://<bucket>/<prefix> without keys; they belong into store.s3 or the environment';
  const match = /^s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9](?:\/(.*))?$/.exec(text);
  if (match === null) return 's3://<bucket>/<prefix> with a valid bucket name';
  const prefix = (match[1] ?? '').replace(/\/$/, '');
  if (prefix === '') return null;
  const legal = prefix
    .split('/')
    .every((part) => /^[A-Za-z0-9!_.*'()=-]+$/.test(part) && !/^\.{1,2}$/.test(part));
  return legal
    ? null
    : "s3://<bucket>/<prefix> with a prefix of letters, digits and !_.*'()=- between single slashes";
}
