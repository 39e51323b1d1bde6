import type { Counter, Registry } from 'prom-client';

/*
 * Metrics that every callback updates. prom-client's own look up their series by a text made of all labels, and check the
 * labels each time: ten updates of a callback allocated 5 KB. Here a series is found by one map for each label, and
 * prom-client sees its values only at a scrape.
 */

interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** The series of a metric, by the values of its labels in the order of `labelNames`: `tree.of('a').of('b').cell`. */
export class SeriesTree<Cell> {
  readonly #create: () => Cell;
  readonly #children = new Map<string, SeriesTree<Cell>>();
  #cell: Cell | null = null;

  constructor(create: () => Cell) {
    this.#create = create;
  }

  of(label: string): SeriesTree<Cell> {
    const known = this.#children.get(label);
    if (known !== undefined) return known;
    const child = new SeriesTree(this.#create);
    this.#children.set(label, child);
    return child;
  }

  /** The series of exactly the labels given so far; it is exposed from the first access on. */
  get cell(): Cell {
    this.#cell ??= this.#create();
    return this.#cell;
  }

  *series(labels: readonly string[] = []): Generator<[labels: readonly string[], cell: Cell]> {
    if (this.#cell !== null) yield [labels, this.#cell];
    for (const [label, child] of this.#children) yield* child.series([...labels, label]);
  }
}

/** A series that is one number. */
export interface Sample {
  value: number;
}

export function frequentSamples(
  registry: Registry,
  type: 'counter' | 'gauge',
  options: MetricOptions,
): SeriesTree<Sample> {
  const tree = new SeriesTree<Sample>(() => ({ value: 0 }));
  register(registry, type, options, () =>
    [...tree.series()].map(([values, { value }]) => ({ labels: labelled(options, values), value })),
  );
  return tree;
}

/** A series of a histogram of durations. */
export class Durations {
  /** Durations by the smallest bound that they do not exceed. Not integers of 32 bits: 1,000 a second exceed those in 50 days. */
  readonly counts: Float64Array;
  readonly #bounds: readonly number[];
  sum = 0;
  count = 0;

  /** @param bounds in seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length);
  }

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    this.sum += seconds;
    this.count += 1;
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket += 1;
    if (bucket < this.#bounds.length) this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
  }
}

/** @param options.buckets upper bounds in seconds, ascending */
export function frequentHistogram(
  registry: Registry,
  options: MetricOptions & { readonly buckets: readonly number[] },
): SeriesTree<Durations> {
  const { name, buckets } = options;
  const tree = new SeriesTree(() => new Durations(buckets));
  const valuesOf = ([values, { counts, sum, count }]: [readonly string[], Durations]) => {
    const labels = labelled(options, values);
    let below = 0;
    const bounded = buckets.map((le, n) => {
      below += counts[n] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
    });
    return [
      ...bounded,
      { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  };
  register(registry, 'histogram', options, () => [...tree.series()].flatMap(valuesOf));
  return tree;
}

function labelled({ labelNames }: MetricOptions, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labelNames.map((name, n) => [name, values[n] ?? '']));
}

/** A registry asks nothing of a metric but its name and `get`. */
function register(
  registry: Registry,
  type: string,
  { name, help }: MetricOptions,
  values: () => readonly object[],
): void {
  const get = async () => ({ name, help, type, values: values(), aggregator: 'sum' });
  registry.registerMetric({ name, get } as unknown as Counter);
}
