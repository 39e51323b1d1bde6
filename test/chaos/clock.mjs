// Preloaded into a replica: shifts its wall clock by the milliseconds that CHAOS_CLOCK's file holds, read ten times a second.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let shift = 0;
const read = () => {
  try {
    shift = Number(readFileSync(process.env.CHAOS_CLOCK, 'utf8')) || 0;
  } catch {
    // No file, no shift.
  }
};
read();
setInterval(read, 100).unref();

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [RealDate.now() + shift] : parts));
  }
  static now() {
    return RealDate.now() + shift;
  }
};
