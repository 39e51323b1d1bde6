import { hash } from 'node:crypto';

/** Bytes of a block and of a result of SHA-256. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * HMAC-SHA-256 of ASCII texts with one key, in hex (RFC 2104). Node's `createHmac` makes a stream for every text, takes
 * twice as long, and on Node 24 a key of bytes costs two errors with their stacks.
 */
export function hmacSha256(key: Uint8Array): (text: string) => string {
  if (key.length > BLOCK) throw new RangeError(`a key of ${key.length} bytes would have to be hashed first`);
  let inner = padded(key, 0x36, 0);
  const outer = padded(key, 0x5c, DIGEST);
  return (text) => {
    if (inner.length !== BLOCK + text.length) inner = padded(key, 0x36, text.length);
    inner.write(text, BLOCK, 'latin1');
    outer.write(hash('sha256', inner, 'binary'), BLOCK, 'latin1');
    return hash('sha256', outer, 'hex');
  };
}

/** The key's block, with room for what follows it. */
function padded(key: Uint8Array, pad: number, room: number): Buffer {
  const bytes = Buffer.alloc(BLOCK + room, pad, 'latin1');
  key.forEach((byte, at) => {
    bytes[at] = byte ^ pad;
  });
  return bytes;
}
