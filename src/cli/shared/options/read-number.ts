import { InvalidArgumentError } from 'commander';

/** Readers of numbers on the command line. They throw `InvalidArgumentError`, which names the option. */
export function readWhole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('A whole number is expected.');
  return Number(text);
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
