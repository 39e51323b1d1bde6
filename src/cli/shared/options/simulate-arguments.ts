import { InvalidArgumentError } from 'commander';
import { CONTENT_TOKENS } from '../../../domain/kinds.js';
import { EXPECTED_REGION_NAME, isRegionName } from '../../../domain/region.js';
import type { Fault } from '../../../simulator/faults.js';
import { readShare, readWhole } from './read-number.js';

/** Faults that can be requested with a rate, and their other fields. */
export const RATED_FAULTS: Readonly<Record<string, Fault>> = {
  drop: { kind: 'drop' },
  unreachable: { kind: 'unreachable' },
  duplicate: { kind: 'duplicate' },
  cut: { kind: 'cut' },
  delay: { kind: 'delay', ms: 2_000 },
};

export function readContents(text: string): string[] | undefined {
  if (text === 'absent') return undefined;
  if (text === 'none') return [];
  const tokens = text.split(',').map((token) => token.trim());
  const unknown = tokens.find((token) => !(CONTENT_TOKENS as readonly string[]).includes(token));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`"${unknown}" is not one of ${CONTENT_TOKENS.join(', ')}, none, absent.`);
  }
  return tokens;
}

export function readFault(text: string): Fault {
  const [kind = '', rate = '1'] = text.split('=', 2);
  const template = Object.hasOwn(RATED_FAULTS, kind) ? RATED_FAULTS[kind] : undefined;
  if (!template)
    throw new InvalidArgumentError(`"${kind}" is not one of ${Object.keys(RATED_FAULTS).join(', ')}.`);
  return { ...template, rate: readShare(rate) };
}

export function readRegion(text: string): Record<string, number> {
  const [name = '', port = '0'] = text.split('=', 2);
  if (!isRegionName(name)) throw new InvalidArgumentError(`"${name}" is not ${EXPECTED_REGION_NAME}.`);
  return { [name]: readPort(port) };
}

export function readPort(text: string): number {
  const port = readWhole(text);
  if (port > 65_535) throw new InvalidArgumentError('A port from 0 to 65535 is expected.');
  return port;
}
