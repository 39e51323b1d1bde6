import { fillAll } from '../../../src/index/fill/index-filler.js';
import { type IndexOfStore, openIndexOfStore } from '../../../src/index/fill/open-index-of-store.js';
import { openStore } from '../../../src/store/open-store.js';

/** A process of its own that keeps an index of a store until it is killed, and says how far it came. */
interface IndexProcess {
  readonly url: string;
  readonly path: string | null;
  readonly maxBytes?: number;
  /** End of the days whose figures it sends, in milliseconds since the epoch. */
  readonly until: number;
}

const DAY = 86_400_000;
const YEAR = 365 * DAY;

process.on('message', async ({ url, path, maxBytes = 2 ** 30, until }: IndexProcess) => {
  const store = await openStore({ url, fsync: false });
  const bounds = { clock: Date.now, reach: YEAR, retention: YEAR, maxBytes };
  const index = openIndexOfStore({ store, filesFor: () => ({ path }), ...bounds });
  await index.opened();
  process.send?.({ place: index.place() });
  for (;;) {
    const failure = await fillAll(index).then(
      () => null,
      (error: { readonly failure?: string; readonly message: string }) => error.failure ?? error.message,
    );
    const answers = await answersOf(index, until).catch(() => null);
    process.send?.({ failure, answers });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

async function answersOf(index: IndexOfStore, until: number) {
  const range = { since: until - 2 * DAY, until };
  const period = { range, by: { begin: range.since, width: DAY, count: 2 }, keep: 10 };
  return {
    places: await index.call('findLines', { limit: 10_000 }),
    failing: await index.call('findFailures', {}),
    figures: [...(await index.call('sumLines', period)).groups].map(([part, { lines, bytes }]) => [
      part,
      lines,
      bytes,
    ]),
    state: await index.call('state'),
  };
}
process.send?.('ready');
