const MAX_LENGTH = 100;

/** A form of the part's name, else of its file name, that is safe as the last segment of a key. */
export function attachmentName(name: string | null, fileName: string | undefined): string {
  const safe = (name || fileName || '')
    .slice(0, MAX_LENGTH)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\./, '_');
  return safe === '' ? 'unnamed' : safe;
}
