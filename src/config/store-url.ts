import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the archive lies, read from `store.url`. */
export type StoreUrl =
  | { readonly kind: 'file'; readonly directory: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or ending in `/`. */
      readonly prefix: string;
    };

/** Reads `file:./data`, `file:///var/data`, `s3://bucket` or `s3://bucket/prefix`; relative directories are below the working directory. */
export function parseStoreUrl(text: string): StoreUrl | { readonly fault: string } {
  if (text.startsWith('file:')) return parseFile(text);
  if (text.startsWith('s3:')) return parseS3(text);
  return { fault: 'file:<directory> or s3://<bucket>/<prefix>' };
}

function parseFile(text: string): StoreUrl | { readonly fault: string } {
  const rest = text.slice('file:'.length);
  if (rest === '' || rest.includes('\0')) return { fault: 'file:<directory> with a directory' };
  if (!rest.startsWith('//')) return { kind: 'file', directory: path.resolve(rest) };
  if (!rest.startsWith('///'))
    return { fault: 'file:///<absolute directory> with three slashes, or file:<directory>' };
  try {
    return { kind: 'file', directory: path.resolve(fileURLToPath(text)) };
  } catch {
    return { fault: 'file:///<absolute directory>, percent-encoded as in an address' };
  }
}

function parseS3(text: string): StoreUrl | { readonly fault: string } {
  if (text.includes('@'))
    return { fault: 's3://<bucket>/<prefix> without keys; they belong into store.s3 or the environment' };
  const match = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:\/(.*))?$/.exec(text);
  if (match?.[1] === undefined) return { fault: 's3://<bucket>/<prefix> with a valid bucket name' };
  const prefix = (match[2] ?? '').replace(/\/$/, '');
  if (prefix === '') return { kind: 's3', bucket: match[1], prefix: '' };
  const segments = prefix.split('/');
  if (!segments.every((segment) => /^[A-Za-z0-9!_.*'()=-]+$/.test(segment) && !/^\.{1,2}$/.test(segment))) {
    return {
      fault: "s3://<bucket>/<prefix> with a prefix of letters, digits and !_.*'()=- between single slashes",
    };
  }
  return { kind: 's3', bucket: match[1], prefix: `${prefix}/` };
}
