import { describe, expect, it } from '@jest/globals';
import { proveForWriting } from '../../../../../src/cli/shared/on-store/prove-for-writing.js';
import { parseConfig } from '../../../../../src/config/config.js';
import { Canary } from '../../../../../src/operations/health/canary.js';
import { issueOf } from '../../../../../src/operations/issues/issue-kinds.js';
import type { Issue } from '../../../../../src/operations/issues/issues.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const config = parseConfig({});

/** Whether the command probed, beside a receiver whose canary says this; null: no receiver. */
async function probes(report: readonly Issue[] | null, ageMs = 0): Promise<boolean> {
  const keys: string[] = [];
  const store = createMemoryStore((_operation, key) => void keys.push(key));
  if (report !== null) {
    const canary = new Canary({ store, replica: 'r1', report: () => report });
    await canary.check();
    const written = store.objects.get(canary.key);
    if (written !== undefined)
      store.objects.set(canary.key, { ...written, modifiedAt: new Date(Date.now() - ageMs) });
  }
  // A store in memory is not fit, which only the probe finds.
  await proveForWriting(config, store).catch(() => undefined);
  return keys.some((key) => key.startsWith('.probe/'));
}

describe('a command that writes', () => {
  it('does not repeat the probe of a receiver that proves the store', async () => {
    expect(await probes([])).toBe(false);
    expect(await probes([issueOf('store-denied', denied('jobs/a/'))])).toBe(true);
  });

  it('probes where no receiver runs, or none that can store', async () => {
    expect(await probes(null)).toBe(true);
    expect(await probes([], 60_000)).toBe(true);
    expect(await probes([issueOf('not-ready', { reason: 'conditional writes are ignored' })])).toBe(true);
  });
});

function denied(prefix: string) {
  return { prefix, sources: ['default'], reason: 'denied', condition: null, since: new Date().toISOString() };
}
