/** As the signature needs it: percent-encoded UTF-8 except for unreserved characters and `/`. */
export function encodeKey(key: string): string {
  return /^[A-Za-z0-9_.~/-]*$/.test(key) ? key : key.split('/').map(encodeSegment).join('/');
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encoded `name=value` pairs. */
export function encodedQuery(query: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(query).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
}
