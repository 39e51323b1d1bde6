import { encodeTime } from 'ulid';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/** The n-th of ids that sort by n, one every `every` milliseconds. */
export function idAt(n, every = 1000) {
  return `${encodeTime(BEGIN + n * every, 10)}0000000000000000`;
}

/**
 * A store with listings only: so many ids, each with the objects of these names, which are generated while they are listed.
 * `listed` counts calls and objects.
 */
export function listedIds({ folder, count, names, every = 1000 }) {
  const listed = { calls: 0, objects: 0 };
  return {
    listed,
    async *keys(prefix, { startAfter = '', limit = Number.POSITIVE_INFINITY, direct, signal } = {}) {
      listed.calls += 1;
      let left = limit;
      for (let n = firstBehind(startAfter, folder, count, every); n < count; n += 1) {
        for (const name of names) {
          const key = `${folder}${idAt(n, every)}${name}`;
          if (!key.startsWith(prefix) || key <= startAfter || (direct && name.includes('/'))) continue;
          signal?.throwIfAborted();
          listed.objects += 1;
          yield key;
          left -= 1;
          if (left === 0) return;
        }
      }
    },
    read: async () => null,
    head: async () => null,
  };
}

/** By binary search: a listing from the end must not generate all ids before it. */
function firstBehind(startAfter, folder, count, every) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (`${folder}${idAt(middle, every)}~` > startAfter) high = middle;
    else low = middle + 1;
  }
  return low;
}
