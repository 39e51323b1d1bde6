import { describe, expect, it } from '@jest/globals';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Durations, frequentHistogram, frequentSamples } from '../../../src/observe/frequent-metrics.js';

/* prom-client's own metrics are the oracle: a scrape has to read the same. */

describe('metrics that every callback updates', () => {
  it.each(['counter', 'gauge'] as const)('expose a %s as prom-client does', async (type) => {
    const options = { name: 'samples', help: 'Some \\ help', labelNames: ['one', 'two'] };
    const [ours, theirs] = [new Registry(), new Registry()];
    const tree = frequentSamples(ours, type, options);
    const oracle = new (type === 'counter' ? Counter : Gauge)({ ...options, registers: [theirs] });
    expect(await ours.metrics()).toBe(await theirs.metrics());
    for (const [one, two, value] of [
      ['a', 'x', 1],
      ['a', 'y"\n', 2.5],
      ['b', 'x', 3],
      ['a', 'x', 4],
    ] as const) {
      tree.of(one).of(two).cell.value += value;
      oracle.inc({ one, two }, value);
    }
    expect(sorted(await ours.metrics())).toEqual(sorted(await theirs.metrics()));
  });

  it('expose a histogram as prom-client does, bounds and longer durations included', async () => {
    const options = { name: 'durations', help: 'Help', labelNames: ['phase'], buckets: [0.001, 0.5, 1] };
    const [ours, theirs] = [new Registry(), new Registry()];
    const tree = frequentHistogram(ours, options);
    const oracle = new Histogram({ ...options, registers: [theirs] });
    for (const milliseconds of [0, 1, 1.5, 500, 501, 1000, 1001, 60_000]) {
      tree.of('store').cell.observe(milliseconds);
      oracle.observe({ phase: 'store' }, milliseconds / 1000);
    }
    tree.of('receive').cell.observe(2);
    oracle.observe({ phase: 'receive' }, 0.002);
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });

  it('count more durations than an integer of 32 bits holds', () => {
    const durations = new Durations([1]);
    durations.counts[0] = 2 ** 32 - 1;
    durations.observe(5);
    expect(durations.counts[0]).toBe(2 ** 32);
  });
});

const sorted = (text: string) => text.split('\n').sort();
