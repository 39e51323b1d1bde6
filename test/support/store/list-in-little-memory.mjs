/**
 * A worker that reads the operators' lists of a store with more objects than its heap could hold, and posts them.
 */
import { parentPort } from 'node:worker_threads';
import { createDeadEventCounter } from '../../../dist/operations/admin/subscribers/count-dead-events.js';
import { listDeadEvents } from '../../../dist/subscribers/dead-events.js';
import { listedIds } from './listed-ids.mjs';

const COUNT = 200_000;

const events = listedIds({ folder: 'outbox/crm/dead/', count: COUNT, names: ['.json'] });

/** As the index knows them. */
const countDead = createDeadEventCounter(events, {
  sources: async (_, ids) => ids.map((event) => ({ event, source: 'intake' })),
});

const counts = await Promise.all([1, 2, 3].map(() => countDead('crm', null)));
const callsOfCounts = events.listed.calls;

parentPort.postMessage({
  counts: counts.map((each) => [...each]),
  callsOfCounts,
  dead: [...(await countDead('crm', null))],
  deadPage: await listDeadEvents(events, 'crm', { limit: 50, scope: new Set(['intake']) }),
});
