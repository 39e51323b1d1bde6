import { InvalidArgumentError } from 'commander';

/** Readers of numbers on the command line. They throw `InvalidArgumentError`, which names the option. */
export function readWhole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('A whole number is expected.');
  return Number(text);
}

/** Reader of an option that takes a whole number from 1 to `most`. */
export function readUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from 1 to ${most}.`);
  };
}

export function readPositive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('A number above 0 is expected.');
  return value;
}

export function readShare(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('A number from 0 to 1 is expected.');
  return value;
}
