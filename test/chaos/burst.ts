import type { Random } from '../support/random.js';
import { type Callback, jobCallbacks, type Sizes } from './callbacks.js';

/** So many jobs with media, all whole. */
export function burstCallbacks(random: Random, name: string, sizes: Sizes, count: number): Callback[] {
  return Array.from({ length: count }, (_, index) => {
    const [callback] = jobCallbacks(random, `${name}-${index}`, { ...sizes, mediaShare: 1 });
    if (callback === undefined) throw new Error('a job has a callback');
    return { ...callback, spoilings: ['none' as const], repeat: false };
  });
}
