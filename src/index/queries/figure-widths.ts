import { HOUR } from '../../ledger/hours.js';

export const MINUTE = 60_000;

/** Milliseconds of the stretches that lines are added up by: minutes for charts of hours, and hours for longer ones. */
export const WIDTHS = [MINUTE, HOUR] as const;
export type FigureWidth = (typeof WIDTHS)[number];
