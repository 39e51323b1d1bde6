import Sequencer from '@jest/test-sequencer';

/** Their files wait for processes and time-outs for half of their time. */
const WAITING = ['/test/acceptance/', '/test/integration/'];

/** The share of the other files that runs beside them. The rest comes last, so that none of those that wait is left alone at the end. */
const BESIDE = 0.7;

/** Mixes files that wait with files that work, so that the cores are busy from the beginning to the end of a run. */
export default class WaitBesideWork extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const ranks = sorted.map(({ path }) => WAITING.findIndex((folder) => path.includes(folder)));
    const waiting = WAITING.flatMap((_, rank) => sorted.filter((_, n) => ranks[n] === rank));
    const working = sorted.filter((_, n) => ranks[n] === -1);
    const beside = (working.length * BESIDE) / waiting.length;
    const mixed = waiting.flatMap((test, n) => [
      test,
      ...working.slice(Math.round(n * beside), Math.round((n + 1) * beside)),
    ]);
    return [...mixed, ...working.slice(Math.round(waiting.length * beside))];
  }
}
