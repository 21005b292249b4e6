import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WAITED = 'src/domain/waited-proof.test.ts';
const OBSERVATION = 'src/controllers/fence/observation.test.ts';

/** Defects of what a release rests on, and of what it makes of pods and volumes. */
export const LET_GO_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'proof of another level',
    defect: 'a level lets the workload go on what an earlier one has proven, and reads something else before it',
    file: 'src/domain/advance.ts',
    edits: [["(isHere || proof.kind === 'ack')", "(isHere || proof.kind !== 'kdump')"]],
    killedBy: byTest(WAITED, 'permits nothing either on what an earlier level has proven, for this one does not read that anew'),
  },
  {
    name: 'time of what is not admitted',
    defect: 'a release counts its time from a later read that its plan does not admit as a proof',
    file: 'src/controllers/fence/observation.ts',
    edits: [['const proof = proofIn(evidence);', 'const proof = evidence.findLast(({ voidedAt }) => voidedAt === undefined);']],
    killedBy: byTest(OBSERVATION, 'is not that of what the plan does not admit, which came after it'),
  },
  {
    name: 'silence of a dump',
    defect: 'a device of unverified identity is believed sooner because the kernel had dumped before its off',
    file: 'src/controllers/fence/observation.ts',
    edits: [['item.grade === proof?.grade && ', '']],
    killedBy: byTest(OBSERVATION, 'has no silence from before the off: a kernel that dumps is silent anyway (["power-off","kdump"])'),
  },
];
