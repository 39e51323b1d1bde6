/** `$${` stands for the two characters `${`, as in Compose. Groups: the reference, and the closing brace if there is one. */
export const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;

/** A reference that can be resolved, and is therefore not itself a secret. */
export const WELL_FORMED =
  /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/[^\0\r\n]*|credential:[A-Za-z0-9][A-Za-z0-9_.-]*)$/;

/** Whether every reference in the text names a place. */
export function namesPlacesOnly(text: string): boolean {
  return [...text.matchAll(REFERENCE)].every(
    ([match, content, end]) => match === '$${' || (end === '}' && WELL_FORMED.test(content ?? '')),
  );
}
