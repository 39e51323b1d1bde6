import type { LineClass } from '../line-classes.js';
import { addLine } from './line-figures.js';
import { createPeriodFigures, type FigureParts, type Figures } from './period-figures.js';

/** @param sample id of a line of the group; null: none is known */
export type SummedGroup = readonly [name: string, parts: FigureParts, sample: number | null];

/** Groups that are left out, and all of their figures; null: there are none. */
export type RestOfSums = { readonly groups: number; readonly parts: FigureParts } | null;

interface Row {
  readonly id?: unknown;
  readonly bytes?: unknown;
  readonly took?: unknown;
}

/** Adds up lines that come group after group, and keeps the groups with the most lines; of equal ones the first. */
export interface LargestGroups {
  /** The lines of a group come one after the other. */
  add(name: string, lineClass: LineClass, row: Row): void;
  /** The group of the last line, which may go on. It is not among the others any more. */
  takeLast(): SummedGroup | null;
  result(): { readonly groups: readonly SummedGroup[]; readonly rest: RestOfSums };
}

/** Lines up to which a group has no figures of its own: most calls have no more, and those that are left out never need any. */
const FEW = 4;

/**
 * @param keep groups that are kept; memory is bounded by them, however many there are
 * @param begun a group whose first lines were added before
 */
export function createLargestGroups(keep: number, begun: SummedGroup | null): LargestGroups {
  const rest = createPeriodFigures();
  const kept: SummedGroup[] = [];
  let left = 0;
  /** A group with no more lines is left out. */
  let least = keep === 0 ? Number.POSITIVE_INFINITY : 0;
  let last = begun && lastFrom(begun);

  function trim(): void {
    kept.sort(([, one], [, other]) => other.lines - one.lines);
    for (const [, parts] of kept.splice(keep)) {
      left += 1;
      rest.addAll(parts);
    }
    if (kept.length === keep) least = kept.at(-1)?.[1].lines ?? least;
  }

  function takeLast(): SummedGroup | null {
    const taken = last;
    last = null;
    return taken && [taken.name, figuresOf(taken).parts(), taken.sample];
  }

  function end(): void {
    if (last !== null && last.figures === null && last.few.length <= least) {
      left += 1;
      for (const line of last.few) addLine(rest, ...line);
      last = null;
    }
    const ended = takeLast();
    if (ended !== null) kept.push(ended);
    if (kept.length > 2 * keep) trim();
  }

  return {
    add(name, lineClass, row) {
      if (last?.name !== name) {
        end();
        last = { name, few: [], figures: null, sample: null };
      }
      last.sample = Number(row.id);
      if (last.figures === null && last.few.length < FEW) last.few.push([lineClass, row]);
      else addLine(figuresOf(last), lineClass, row);
    },
    takeLast,
    result() {
      end();
      trim();
      return { groups: kept, rest: left === 0 ? null : { groups: left, parts: rest.parts() } };
    },
  };
}

/** The group that lines are being added to. */
interface LastGroup {
  readonly name: string;
  few: (readonly [LineClass, Row])[];
  /** Null: its lines are `few`. */
  figures: Figures | null;
  sample: number | null;
}

function lastFrom([name, parts, sample]: SummedGroup): LastGroup {
  const figures = createPeriodFigures();
  figures.addAll(parts);
  return { name, few: [], figures, sample };
}

function figuresOf(group: LastGroup): Figures {
  const figures = group.figures ?? createPeriodFigures();
  for (const line of group.few) addLine(figures, ...line);
  group.few = [];
  group.figures = figures;
  return figures;
}
