import { hash } from 'node:crypto';

const EXTENSION = /[^.](\.[A-Za-z0-9]{1,8})$/;
const DIGITS = 16;

/**
 * The last segment of an attachment's key: 16 hex digits of the SHA-256 of its name (the part's, else the file's), and
 * its extension. A sender's names can be personal data, and keys remain in ledger and logs after the object is erased.
 */
export function attachmentName(name: string | null, fileName: string | undefined): string {
  const whole = name || fileName || '';
  const [, extension = ''] = EXTENSION.exec(whole) ?? EXTENSION.exec(fileName ?? '') ?? [];
  return `${hash('sha256', whole).slice(0, DIGITS)}${extension}`;
}
