import { z } from 'zod';
import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { byRegion } from './by-region.js';

const DAY = 86_400_000;

const batchRegion = () =>
  z.strictObject({ batchUrl: types.url(['http:', 'https:']).nullable().default(null) });

const realtimeHost = types.url(['ws:', 'wss:']).nullable().default(null);

export const speech = section("The speech service's API.", {
  apiKey: optional(
    types.text(/^[\x21-\x7e]{8,4096}$/, 'an API key: 8 to 4096 characters without spaces'),
    'secret',
    'Of the service.',
  ),
  auth: setting(
    types.oneOf(['apiKey', 'temporaryKey']),
    'apiKey or temporaryKey',
    'apiKey',
    'temporaryKey: short-lived keys issued for `apiKey`.',
  ),
  keysUrl: optional(types.url(['http:', 'https:']), 'address', 'Issues temporary keys.'),
  regions: setting(
    byRegion(() => batchRegion().prefault({}), batchRegion()),
    'map of region to `{ batchUrl }`',
    {},
    'Jobs API, without /v2.',
  ),
  realtime: setting(
    z.strictObject({ global: realtimeHost, eu: realtimeHost, us: realtimeHost, au: realtimeHost }),
    'map of global, eu, us or au to address',
    {},
    'Without /v2; global is the nearest region.',
  ),
  paths: section('Below `batchUrl`; `{id}` is the job.', {
    list: setting(types.pathTemplate(false), 'path', '/v2/jobs/', 'Job list.'),
    record: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}', 'Job record.'),
    transcript: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}/transcript', 'Transcript.'),
    media: setting(types.pathTemplate(true), 'path', '/v2/jobs/{id}/data', 'Media.'),
  }),
  maxRequestsPerSecond: setting(
    types.count(1, 1_000),
    'number',
    20,
    'To one region; the service recommends fewer than 50.',
  ),
  retries: setting(types.count(0, 20), 'number', 4, 'After 429, 5xx and network errors.'),
  retention: setting(
    types.duration(3_600_000, 3650 * DAY),
    'duration',
    '7d',
    'How long the service keeps results.',
  ),
});

export const recovery = section('Fetches what callbacks lost.', {
  interval: setting(
    types.durationOrOff(1_000),
    'duration or off',
    '15m',
    'Needs `apiKey` and `batchUrl`; off where a CronJob reconciles.',
  ),
  window: setting(
    types.duration(60_000, 3650 * DAY),
    'duration',
    '48h',
    'How far back jobs are listed once a day.',
  ),
  grace: setting(
    types.duration(0, 30 * DAY),
    'duration',
    '10m',
    'Younger jobs may still get their callback.',
  ),
  concurrency: setting(types.count(1, 100), 'number', 4, 'Concurrent fetches.'),
});
