import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WORLD = 'src/testbed/cluster';
const WORLD_TEST = `${WORLD}/world.test.ts`;

/** Defects of the cluster that the tests bring: where it is kinder than a real one, what is proven in it is not. */
export const CLUSTER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'collected at once',
    defect: 'the pod garbage collector deletes as soon as it sees the out-of-service taint, not in its next round',
    file: `${WORLD}/pod-gc.ts`,
    edits: [['if (nowMs < this.#roundAtMs) return this.#roundAtMs - nowMs;', '']],
    killedBy: byTest(WORLD_TEST, 'gives its workload free once it is out of service, and another node goes on from the counter on the disk'),
  },
  {
    name: 'collected without quarantine',
    defect: 'the pods of a Node that was deleted are collected in the second round after that, without a quarantine',
    file: `${WORLD}/pod-gc.ts`,
    edits: [['nowMs + this.#options.orphanQuarantineMs', 'nowMs']],
    killedBy: byTest(
      WORLD_TEST,
      'has the pods of a deleted Node collected once the quarantine is over that began with the next round, and registers again while it lives',
    ),
  },
  {
    name: 'detached with its Node',
    defect: 'a volume that a kubelet had mounted is detached as soon as its Node is deleted, not after six minutes',
    file: `${WORLD}/attach-detach.ts`,
    edits: [['node === undefined ? this.#leftInUse.get(attachment.spec.nodeName) : node.status.volumesInUse', 'node?.status.volumesInUse']],
    killedBy: byTest(
      WORLD_TEST,
      'keeps its volume for six minutes when its Node is deleted with the volume mounted, for no taint can be seen any more',
    ),
  },
  {
    name: 'mounted for ever',
    defect: 'what the kubelet of a deleted Node had mounted counts against the next Node under its name',
    file: `${WORLD}/attach-detach.ts`,
    edits: [
      [
        'node === undefined ? this.#leftInUse.get(attachment.spec.nodeName) : node.status.volumesInUse',
        'this.#leftInUse.get(attachment.spec.nodeName) ?? node?.status.volumesInUse',
      ],
      ['if (after !== undefined) this.#leftInUse.delete(after.metadata.name);', 'if (after !== undefined) return;'],
    ],
    killedBy: byTest(WORLD_TEST, 'lets go of its volume when another Node registers under its name, which has nothing mounted'),
  },
  {
    name: 'pressures believed',
    defect: 'what a kubelet last said of its disk is believed when nothing is heard of it any more',
    file: `${WORLD}/node-lifecycle.ts`,
    edits: [["['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']", "['Ready']"]],
    killedBy: byTest(WORLD_TEST, 'becomes Unknown and tainted after the grace, and its pod is left where it is'),
  },
  {
    name: 'pressures never told',
    defect: 'a kubelet says that it is Ready and never that it has room: its node stays ill after a silence',
    file: `${WORLD}/node-status.ts`,
    edits: [['[...this.#pressures(), this.#ownWord()', '[this.#ownWord()']],
    killedBy: byTest(WORLD_TEST, 'comes back with another boot ID, Ready and without taints, and may carry pods again'),
  },
  {
    name: 'bookmark without news',
    defect: 'a watch gets bookmarks that say nothing newer than it began with',
    file: 'src/testbed/apiserver/watches.ts',
    edits: [['if (this.#backend.store.revision <= watcher.fromRevision) return;', '']],
    killedBy: byTest(
      'src/testbed/apiserver/behaviour.test.ts',
      'end when their time is up, after a bookmark where there is something newer than they began with',
    ),
  },
  {
    name: 'flag of long ago',
    defect: 'kube-controller-manager is given a flag that it refuses from 1.24 on',
    file: 'src/testbed/control-plane/commands.ts',
    edits: [["...(minor <= PLAIN_PORT_UNTIL ? ['--port=0'] : []),", "'--port=0',"]],
    killedBy: byTest('src/testbed/control-plane/commands.test.ts', 'closes the plain port of 1.20, and leaves the flag away where it is refused'),
  },
  {
    name: 'nobody evicts',
    defect: 'the controller that evicts from tainted nodes is not started where it is one of its own',
    file: 'src/testbed/control-plane/commands.ts',
    edits: [['...(minor >= TAINT_EVICTION_SINCE ? [TAINT_EVICTION] : []), ', '']],
    killedBy: byTest(
      'src/testbed/control-plane/commands.test.ts',
      'starts the eviction from tainted nodes, which is a controller of its own from 1.29 on',
    ),
  },
  {
    name: 'half a control plane',
    defect: 'the newest version below the home directory is taken although a program of it is missing',
    file: 'src/testbed/control-plane/assets.ts',
    edits: [['.find((folder) => missingIn(folder, needed).length === 0)', '.find((folder) => missingIn(folder, needed.slice(0, 1)).length === 0)']],
    killedBy: byTest('src/testbed/control-plane/assets.test.ts', 'are found below the home directory, of the newest version that has them all'),
  },
];
