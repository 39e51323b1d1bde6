import type { ObjectStore } from '../../../src/store/object-store.js';

/** A store that calls `before` ahead of each of its calls, those of uploads included, and waits for it. */
export function interruptedStore<S extends ObjectStore>(store: S, before: () => Promise<void>): S {
  const interrupted =
    (call: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      await before();
      return call(...args);
    };
  return new Proxy(store, {
    get(target, name, self) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'clockOffset') return member;
      // These call `list` and `delete` of the store that they are called on.
      if (name === 'purge' || name === 'traces') return member.bind(self);
      if (name === 'list' || name === 'keys' || name === 'folders') {
        return async function* (...args: unknown[]) {
          await before();
          yield* member.apply(target, args);
        };
      }
      if (name !== 'startUpload') return interrupted(member.bind(target));
      return async (...args: unknown[]) => {
        await before();
        const upload = await member.apply(target, args);
        return { ...upload, write: interrupted(upload.write), complete: interrupted(upload.complete) };
      };
    },
  });
}
