import { openStore, type StoreOptions } from '../../../src/store/open-store.js';

/** A process of its own that creates the keys it is sent, all at once, and reports the outcome of each. */
interface Race {
  readonly options: StoreOptions;
  readonly keys: readonly string[];
  readonly name: string;
}

process.on('message', async (race: Race) => {
  const store = await openStore(race.options);
  const results = await Promise.all(
    race.keys.map((key) =>
      store.create(key, Buffer.from(`${race.name} wrote ${key}`), {
        contentType: 'text/plain',
        metadata: { writer: race.name },
      }),
    ),
  );
  await store.close();
  process.send?.(results, () => process.disconnect());
});
process.send?.('ready');
