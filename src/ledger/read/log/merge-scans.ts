import { inOrder, type LogEntry, type LogScan, type LogStep } from './log-entry.js';
import { comparePositions, type LogOrder, type LogPosition } from './log-position.js';

/** Merges parts of the log that may overlap. A part further behind is not begun before its turn. */
export async function* mergeScans(scans: readonly LogScan[], order: LogOrder): AsyncGenerator<LogStep> {
  const compare = (a: LogPosition, b: LogPosition) =>
    order === 'oldest' ? comparePositions(a, b) : comparePositions(b, a);
  let open = scans.map(({ begin, steps }) => ({ at: begin, steps }));
  let held: LogEntry[] = [];
  while (open.length > 0) {
    open.sort((a, b) => compare(a.at, b.at));
    const [first] = open;
    if (first === undefined) break;
    const { done, value } = await first.steps.next();
    if (done === true) open = open.filter((scan) => scan !== first);
    else {
      first.at = value.at;
      held = inOrder([...held, ...value.entries], order);
    }
    const at = open
      .map((scan) => scan.at)
      .reduce<LogPosition | null>((a, b) => (a && compare(a, b) < 0 ? a : b), null);
    if (at === null) break;
    const ready = held.findIndex((entry) => compare(entry, at) > 0);
    const entries = held.splice(0, ready < 0 ? held.length : ready);
    yield { entries, at };
  }
  const last = held.at(-1);
  if (last !== undefined) yield { entries: held, at: last };
}
