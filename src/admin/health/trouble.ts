import type { Topic, Trouble } from '../api/answers/health.js';

/** @param problem stable name, where operators are notified of the trouble */
export function failure(topic: Topic, text: string, problem?: string): Trouble {
  return { level: 'failing', text, topic, ...(problem === undefined ? {} : { problem }) };
}

export function warning(topic: Topic, text: string, problem?: string): Trouble {
  return { level: 'warning', text, topic, ...(problem === undefined ? {} : { problem }) };
}

const FORMAT = new Intl.NumberFormat('en');
export const number = (value: number) => FORMAT.format(value);

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
