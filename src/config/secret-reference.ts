/** `$${` stands for the two characters `${`, as in Compose. Groups: what is referred to, and the brace, if it is closed. */
export const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;

/** What can be resolved, and so names a place and is no secret itself. */
export const WELL_FORMED = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/[^\0\r\n]*)$/;

/** Whether every reference in the text names a place. */
export function namesPlacesOnly(text: string): boolean {
  return [...text.matchAll(REFERENCE)].every(
    ([match, content, end]) => match === '$${' || (end === '}' && WELL_FORMED.test(content ?? '')),
  );
}
