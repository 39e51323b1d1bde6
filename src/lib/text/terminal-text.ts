/** Control characters, and line and paragraph separators, which some terminals obey as well. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
const CONTROLS_WITHIN_TEXT = /[^\P{Cc}\n\t]+|[\u2028\u2029]+/gu;
/** They reorder what follows on the screen, so that a text reads as another. */
const BIDI_CONTROLS = /\p{Bidi_Control}/gu;

/** A text of any origin as one line that cannot steer the terminal or disguise what it says. */
export function terminalLine(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, '').replaceAll(CONTROLS, ' ').trim();
}

/** The same for a text of several lines: line feeds, tabs and indentation remain. */
export function terminalText(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, '').replaceAll(CONTROLS_WITHIN_TEXT, ' ');
}

const ESCAPED_IN_JSON = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

/** A document of the same value whose texts cannot steer the terminal. @param indent 0 for one line */
export function terminalJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replaceAll(
    ESCAPED_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
