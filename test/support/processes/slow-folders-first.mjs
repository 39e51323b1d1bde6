import Sequencer from '@jest/test-sequencer';

const SLOWEST_FIRST = ['/test/acceptance/', '/test/integration/', '/test/contract/', '/test/unit/'];

/** Starts files that wait for processes before the others, so that none of them is left alone at the end of a run. */
export default class SlowFoldersFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => SLOWEST_FIRST.findIndex((folder) => path.includes(folder));
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
}
