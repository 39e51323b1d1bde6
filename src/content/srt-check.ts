const TIME = '\\d{2,3}:\\d{2}:\\d{2},\\d{3}';
/** BOM and blank lines tolerated, then a cue number and the cue's times on the next line. */
const FIRST_CUE = new RegExp(
  `^(?:\\xef\\xbb\\xbf)?[\\r\\n]{0,8}\\d{1,10}[ \\t]{0,8}\\r?\\n${TIME}[ \\t]{1,8}-->[ \\t]{1,8}${TIME}`,
);
const ENOUGH_BYTES = 128;

/** Whether a text begins as SubRip subtitles do. */
export function looksLikeSrt(beginning: Buffer): boolean {
  return FIRST_CUE.test(beginning.toString('latin1', 0, ENOUGH_BYTES));
}
