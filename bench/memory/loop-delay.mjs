// Loaded into the receiver: writes how long its event loop was blocked at most, in ms, to the file named in LOOP_DELAY.
// What counts is the CPU time the process spent between two turns, so that a busy machine does not falsify it.
import { writeFileSync } from 'node:fs';

let most = 0;
let last = null;
setTimeout(() => {
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    if (last !== null) most = Math.max(most, user + system - last);
    last = user + system;
  }, 2).unref();
  setInterval(() => writeFileSync(process.env.LOOP_DELAY, `${Math.round(most / 1000)}`), 200).unref();
}, 5000).unref();
