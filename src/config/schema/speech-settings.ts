import { z } from 'zod';
import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { byRegion } from './by-region.js';

const DAY = 86_400_000;

const batchRegion = () =>
  z.strictObject({ batchUrl: types.url(['http:', 'https:']).nullable().default(null) });

const realtimeHost = types.url(['ws:', 'wss:']).nullable().default(null);

export const speech = section("The speech service's own API, for recovery and realtime.", {
  apiKey: optional(
    types.text(/^[\x21-\x7e]{8,4096}$/, 'an API key: 8 to 4096 characters without spaces'),
    'secret',
    'API key of the service.',
  ),
  auth: setting(
    types.oneOf(['apiKey', 'temporaryKey']),
    'apiKey or temporaryKey',
    'apiKey',
    'Use the key itself, or temporary keys issued for it.',
  ),
  keysUrl: optional(types.url(['http:', 'https:']), 'address', 'Address of the key service.'),
  regions: setting(
    byRegion(() => batchRegion().prefault({}), batchRegion()),
    'map of region to `{ batchUrl }`',
    {},
    'Address of the jobs API in each region, without /v2.',
  ),
  realtime: setting(
    z.strictObject({ global: realtimeHost, eu: realtimeHost, us: realtimeHost, au: realtimeHost }),
    'map of global, eu, us or au to address',
    {},
    'Realtime hosts, without /v2; global is the nearest region.',
  ),
  paths: section('Paths below a batch address; `{id}` stands for the job.', {
    list: setting(types.pathTemplate(false), 'path', '/v2/jobs/', 'Job list.'),
    record: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}', 'Job record.'),
    transcript: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}/transcript', 'Transcript.'),
    media: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}/data', 'Media of the job.'),
  }),
  maxRequestsPerSecond: setting(
    types.count(1, 1_000),
    'number',
    20,
    'Requests to one region; the service recommends fewer than 50.',
  ),
  retries: setting(types.count(0, 20), 'number', 4, 'Retries after 429, 5xx and network errors.'),
  retention: setting(
    types.duration(3_600_000, 3650 * DAY),
    'duration',
    '7d',
    'How long the service keeps results.',
  ),
});

export const recovery = section('Fetching results whose callbacks were lost.', {
  interval: setting(
    types.durationOrOff(1_000),
    'duration or off',
    '15m',
    'How often this replica reconciles, given a key and an address; off where a CronJob does.',
  ),
  window: setting(
    types.duration(60_000, 3650 * DAY),
    'duration',
    '48h',
    'How far back every run looks at least.',
  ),
  grace: setting(
    types.duration(0, 30 * DAY),
    'duration',
    '10m',
    'Younger jobs may still get their callback.',
  ),
  concurrency: setting(types.count(1, 100), 'number', 4, 'Jobs fetched concurrently.'),
});
