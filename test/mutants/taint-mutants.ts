import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

/** Defects of the taint that a release sets, and of what is looked at right before. */
export const TAINT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'any taint of the effect for ours',
    defect:
      'a node that the node controller has marked unreachable counts as marked out of service: no taint is set, and the release says that it is',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['key === OUT_OF_SERVICE_TAINT.key && effect === OUT_OF_SERVICE_TAINT.effect);', 'effect === OUT_OF_SERVICE_TAINT.effect);']],
    killedBy: byTest('src/controllers/fence/release/standing-taint.test.ts', 'is not another one of its effect: ours is set beside that'),
  },
  {
    name: 'any key for ours',
    defect: 'the taint of somebody else that has our value and effect is taken away with ours',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['key === OUT_OF_SERVICE_TAINT.key && value === OUT_OF_SERVICE_TAINT.value', 'value === OUT_OF_SERVICE_TAINT.value']],
    killedBy: byTest('src/controllers/fence/release/standing-taint.test.ts', 'takes our taint away from between those of others'),
  },
  {
    name: 'first boot that is known',
    defect: 'a boot that shows after a proof of which none was known is no sign of life',
    file: 'src/domain/health.ts',
    edits: [['if (now.bootID !== known.bootID)', 'if (known.bootID !== undefined && now.bootID !== known.bootID)']],
    killedBy: byTest('src/domain/health.test.ts', 'is shown by a boot of which nothing was known then, also where the node is meant to live'),
  },
  {
    name: 'life that only a predecessor would hear',
    defect: 'a node that comes alive behind the release of a predecessor is switched on, and nobody hears of the pods that may run twice',
    file: 'src/domain/automaton.ts',
    edits: [['provenAtMs ?? releasedBySomebodyElse(snapshot)', 'provenAtMs']],
    killedBy: byTest(
      'src/domain/released-take-over.test.ts',
      'is void with a sign of life that this leader receives: the taint goes at once, nothing is switched on, and its pods are named',
    ),
  },
  {
    name: 'taint for ever',
    defect: 'a taint that isolation set stays on a node that recovered: no pod comes to it any more, and nobody says why',
    file: 'src/domain/program.ts',
    edits: [['...undoneTaints(plan).map(asRun),', '']],
    killedBy: byTest(
      'src/domain/own-taints.test.ts',
      'is taken back by recovery where no method of it does: it would keep all pods from the node for ever',
    ),
  },
  {
    name: 'taint of a deleted fence',
    defect: 'a NodeFence that is deleted by hand leaves the taint that its isolation set',
    file: 'src/domain/rows/closing.ts',
    edits: [
      [
        'for (const { name, agent } of standingTaints(context.plan, context.status.journal))',
        'for (const { name, agent } of standingTaints(context.plan, []))',
      ],
    ],
    killedBy: byTest('src/domain/own-taints.test.ts', 'is taken back, once, where its NodeFence is deleted by hand'),
  },
];
