/**
 * Two replicas over one store, everything around them failing by a seed; then a checker compares what was
 * acknowledged with what lies there. Prints seed, counts and verdict; exit code 0 when nothing is wrong.
 *
 *   npm run chaos [-- --seed n] [--minutes m] [--store file|s3] [--rate jobs per second] [--keep] [--only text] [--commands]
 *     [--program path/to/another/dist/main.js]
 *
 * `--store s3` takes S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_BUCKET from the environment.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.js';
import { PROGRAM } from './replica.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    store: { type: 'string', default: 'file' },
    rate: { type: 'string', default: '30' },
    keep: { type: 'boolean', default: false },
    commands: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    program: { type: 'string', default: PROGRAM },
  },
});

const passed = await runChaos({
  seed: Number(values.seed ?? Math.floor(Math.random() * 1e6)),
  minutes: Number(values.minutes),
  store: values.store === 's3' ? 's3' : 'file',
  jobsPerSecond: Number(values.rate),
  keep: values.keep,
  commands: values.commands,
  only: values.only,
  program: values.program,
});
process.exit(passed ? 0 : 1);
