import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WORLDS = 'test/simulation/sisters/worlds.test.ts';

/** Defects of the controllers beside the one that fences, which a whole simulated world notices. */
export const SISTER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'a request without an end',
    defect: 'a request that is deleted keeps its finalizer',
    file: 'src/controllers/node-remediation/ending.ts',
    edits: [['...toldHealthy(snapshot), setFinalizer(request, false)', '...toldHealthy(snapshot), setFinalizer(request, true)']],
    killedBy: byTest(WORLDS, 'power-cycles a node that somebody asks for, and lets the request go when it is taken back'),
  },
];
