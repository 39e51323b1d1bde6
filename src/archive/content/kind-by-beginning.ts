import { ITEM_KINDS, type ItemKind, textBeginning } from '../../domain/kinds.js';

const ENOUGH_BYTES = 128;

/** The kind of text that begins so, such as subtitles; null for every other text. */
export function kindByBeginning(beginning: Buffer): ItemKind | null {
  return ITEM_KINDS.find((kind) => beginsLike(kind, beginning)) ?? null;
}

/** Whether a kind has a beginning of its own, and the text has it. */
export function beginsLike(kind: ItemKind, beginning: Buffer): boolean {
  return textBeginning(kind)?.test(beginning.toString('latin1', 0, ENOUGH_BYTES)) ?? false;
}
