import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WORLDS = 'test/simulation/secondary-controllers/worlds.test.ts';

/** Defects of the controllers beside the one that fences, which a whole simulated world notices. */
export const SECONDARY_CONTROLLER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'a request without an end',
    defect: 'a request that is deleted keeps its finalizer',
    file: 'src/controllers/node-remediation/ending.ts',
    edits: [['...reportHealthy(snapshot), setFinalizer(request, false)', '...reportHealthy(snapshot), setFinalizer(request, true)']],
    killedBy: byTest(WORLDS, 'power-cycles a node that somebody asks for, and lets the request go when it is taken back'),
  },
  {
    name: 'left off, though it stands',
    defect: 'a request that is deleted before its Node was leaves the machine off',
    file: 'src/controllers/node-remediation/ending.ts',
    edits: [['isRemoving(snapshot) && snapshot.node === undefined', 'isRemoving(snapshot)']],
    killedBy: byTest('test/node-remediation/request.test.ts', 'of strategy fence with DeleteNode, whose Node still stands, brings its node back'),
  },
  {
    name: 'gone while it was switched on',
    defect: 'a Machine is deleted on the proof of a fence that is being taken back',
    file: 'src/controllers/preservation/fence-proof.ts',
    edits: [['metadata.deletionTimestamp === undefined ? facts :', 'metadata.deletionTimestamp !== metadata.uid ? facts :']],
    killedBy: byTest('test/preservation/proof-read-anew.test.ts', 'a fence that is being taken back is seen though no watch tells it'),
  },
  {
    name: 'kept and switched off',
    defect: 'fences hear nothing of the machines that are kept',
    file: 'src/controllers/preservation/fencing.ts',
    edits: [
      [
        "override === 'rolling' ? [] : [{ ...base, guard: 'isolate-and-hold' }]",
        "override === 'rolling' ? [{ ...base, guard: 'isolate-and-hold' }] : []",
      ],
    ],
    killedBy: byTest(WORLDS, 'switches a machine that failed off only when nobody keeps it any more'),
  },
  {
    name: 'both serve the kinds',
    defect: 'a controller goes on although another controller of its kinds is seen',
    file: 'src/manager/gated-controller.ts',
    edits: [['      if (kinds.has(key)) continue;\n', '      if (kinds.has(key) || kinds.size === 0) continue;\n']],
    killedBy: byTest('test/metal3-remediation/ownership.test.ts', 'Metal3’s where its controller runs, also one that comes later'),
  },
  {
    name: 'its part is taken in doubt',
    defect: 'kinds are served although another controller was at work a moment ago',
    file: 'src/manager/detection/ownership.ts',
    edits: [['if (uncertainties.length > 0) return', 'if (uncertainties.length > 1) return']],
    killedBy: byTest('src/manager/detection/ownership.test.ts', 'where it was at work a moment ago'),
  },
  {
    name: 'unready for a right',
    defect: 'a watch that is never synced keeps the whole program unready',
    file: 'src/manager/gated-controller.ts',
    edits: [['this.watches.filter(({ lister }) => lister.synced)', 'this.watches.filter(({ lister }) => lister !== undefined)']],
    killedBy: byTest('src/manager/gated-controller.test.ts', 'is no reason to be unready while it is not synced'),
  },
  {
    name: 'stopped behind a look',
    defect: 'a controller that is to stop goes on writing until the API server has said what it serves',
    file: 'src/manager/gated-controller.ts',
    edits: [['    const detecting = this.#detector.close();\n', '    const detecting = await this.#detector.close();\n']],
    killedBy: byTest('src/manager/gated-controller.test.ts', 'ends at once, though it is just being found out what is served'),
  },
];
