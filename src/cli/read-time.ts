import { parseDuration } from '../config/units.js';
import { UsageError } from './exit-codes.js';

/** Reader of an option that takes a time, or a duration that says how long ago. */
export function readTime(option: string): (text: string) => Date {
  return (text) => {
    const back = parseDuration(text);
    const time = back === undefined ? Date.parse(text) : Date.now() - back;
    if (Number.isNaN(time)) throw new UsageError(`${option} expects a duration such as 48h or a time`);
    return new Date(time);
  };
}
