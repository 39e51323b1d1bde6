import { fillAll } from '../../../src/index/fill/index-filler.js';
import { openIndexAt } from '../ledger/open-index-at.js';

/** A process that fills an index of a store again and again until it is killed, and reports the result of each time. */
process.on('message', async ({ url, path }: { readonly url: string; readonly path: string | null }) => {
  const index = await openIndexAt(url, path);
  await index.opened();
  process.send?.({ place: index.place() });
  for (;;) {
    const failure = await fillAll(index).then(
      () => null,
      (error: Error) => error.message,
    );
    const [lines, state] = await Promise.all([index.call('countLines'), index.call('state')]).catch(() => []);
    process.send?.({ failure, lines, until: state?.until ?? null });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
process.send?.('ready');
