import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const PAGE = 1000;

/** Objects in memory, which several stores can share. */
export function createMemoryStore() {
  const objects = new Map();
  /** In order. New keys are mostly the last ones. */
  const keys = [];

  function put(key, body) {
    if (!objects.has(key)) {
      let place = keys.length;
      while (place > 0 && keys[place - 1] > key) place -= 1;
      keys.splice(place, 0, key);
    }
    objects.set(key, Buffer.from(body));
  }

  /** Index of the first key after `bound`. */
  function after(bound) {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle] > bound) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  const infoOf = (key) => ({
    key,
    size: objects.get(key).length,
    modifiedAt: new Date(),
    metadata: {},
    contentType: '',
  });

  return {
    /** A store that takes `storeMs` for every call, and calls `onCall` with its method and key. */
    open(storeMs, onCall) {
      const enter = (call, key) => {
        onCall(call, key);
        return sleep(storeMs);
      };
      return {
        location: 'memory:',
        partSize: 8 * 1024 * 1024,
        clockOffset: () => 0,
        async create(key, body) {
          await enter('PUT', key);
          if (objects.has(key)) return 'exists';
          put(key, body);
          return 'created';
        },
        async replace(key, body) {
          await enter('PUT', key);
          put(key, body);
        },
        async head(key) {
          await enter('HEAD', key);
          return objects.has(key) ? infoOf(key) : null;
        },
        async read(key) {
          await enter('GET', key);
          return objects.has(key) ? { info: infoOf(key), body: Readable.from([objects.get(key)]) } : null;
        },
        async *list(prefix, { startAfter = '' } = {}) {
          let from = startAfter > prefix ? startAfter : prefix;
          for (;;) {
            await enter('LIST', prefix);
            const first = after(from);
            const page = keys.slice(first, first + PAGE).filter((key) => key.startsWith(prefix));
            for (const key of page) yield infoOf(key);
            if (page.length < PAGE) return;
            from = page.at(-1);
          }
        },
        async *keys(prefix, range) {
          for await (const { key } of this.list(prefix, range)) yield key;
        },
        async *folders(prefix) {
          await enter('LIST', prefix);
          const below = keys.slice(after(prefix)).filter((key) => key.startsWith(prefix));
          const names = below.map((key) => /^[^/]*\//.exec(key.slice(prefix.length))?.[0]);
          for (const name of new Set(names)) if (name) yield prefix + name;
        },
        async delete(key) {
          await enter('DELETE', key);
          if (objects.delete(key)) keys.splice(after(key) - 1, 1);
        },
      };
    },
  };
}
