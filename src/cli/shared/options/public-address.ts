import { UsageError } from '../exit-codes.js';

/** Reads `--url`: the public address of a receiver, to which paths are appended. */
export function readPublicAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  // A lone ? or # leaves no trace in search and hash.
  if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(text) || url.username || url.password) {
    throw new UsageError(
      '--url expects an absolute address such as https://transcripts.example.org, without query, fragment and user name',
    );
  }
  return url;
}
