import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

/** Defects by which strangers keep a node daemon from its work. */
export const DAEMON_STRANGER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'peers among strangers',
    defect: 'requests of peers are answered out of what strangers use up',
    file: 'src/node/core/exchange.ts',
    edits: [['({ address }) => address === from', '({ address }) => address === sender']],
    killedBy: byTest('src/node/core/exchange.test.ts', 'vouches for its peer although strangers flood it'),
  },
  {
    name: 'all answers to one address',
    defect: 'one stranger uses up what all strangers have',
    file: 'src/node/core/answer-budget.ts',
    edits: [['const HOST_MAX = 50;', 'const HOST_MAX = 500;']],
    killedBy: byTest('src/node/core/answer-budget.test.ts', 'answers a node that is no peer although somebody else floods from one address'),
  },
  {
    name: 'metrics end the daemon',
    defect: 'who cannot be accepted, for want of a file descriptor, ends the daemon',
    file: 'src/node/shell/metrics-server.ts',
    edits: [["        server.on('error', failed);\n", '']],
    killedBy: byTest('src/node/shell/metrics-server.test.ts', 'are served on where somebody could not be accepted, which is told'),
  },
];
