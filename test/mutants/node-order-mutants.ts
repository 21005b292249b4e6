import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const TABLE = 'src/domain/node-daemon/order.test.ts';
const CORE = 'src/node/core/orders.test.ts';
const WORLD = 'test/node-daemon/controllers/orders.test.ts';
const PLAN = 'src/config/soft-fence.test.ts';
const ORDER = 'src/domain/node-daemon/order.ts';

/** Defects of the soft fence: orders of the controllers to a node's daemon. */
export const NODE_ORDER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'order without a yes',
    defect: 'a daemon that was not started with --soft-fence carries orders out',
    file: ORDER,
    edits: [['applies: ({ isOptedIn }) => !isOptedIn', 'applies: ({ isOptedIn }) => isOptedIn && !isOptedIn']],
    killedBy: byTest(TABLE, 'the daemon was not started with --soft-fence'),
  },
  {
    name: 'refused order uncounted',
    defect: 'an order that was refused is counted as one that nobody answered',
    file: 'src/controllers/node-daemons/orders.ts',
    edits: [['      answered: (outcome) => void (standing.answer = outcome),\n', '      answered: () => undefined,\n']],
    killedBy: byTest(WORLD, 'are refused in words by a daemon that was not started with --soft-fence'),
  },
  {
    name: 'order for another boot',
    defect: 'a daemon carries out what was ordered to an earlier boot',
    file: ORDER,
    edits: [['applies: ({ isForThisBoot }) => !isForThisBoot', 'applies: ({ isForThisBoot }) => isForThisBoot && !isForThisBoot']],
    killedBy: byTest(WORLD, 'that were recorded and come later, or were meant for another boot, are not obeyed'),
  },
  {
    name: 'order of a paused leader',
    defect: 'an order of an earlier term is obeyed after a later leader was heard',
    file: ORDER,
    edits: [['epoch < latestEpoch,', 'epoch < 0 && epoch < latestEpoch,']],
    killedBy: byTest(WORLD, 'of a leader that was paused are not obeyed once a later one was heard'),
  },
  {
    name: 'term that is forgotten',
    defect: 'a daemon that is started anew obeys a leader that the process before it had outlived',
    file: 'src/node/core/orders.ts',
    edits: [['      this.#epoch = Math.max(this.#epoch, record.epoch);\n', '']],
    killedBy: byTest(CORE, 'of an earlier leader are refused, also by a process that is started anew'),
  },
  {
    name: 'term of a grant',
    defect: 'a daemon learns of a later leader by its orders alone',
    file: 'src/controllers/node-daemons/receiver.ts',
    edits: [['signs: leadership.epoch,', 'signs: 0,']],
    killedBy: byTest(WORLD, 'of a leader that was paused are not obeyed once a later one was heard'),
  },
  {
    name: 'order that is late',
    defect: 'an order that was recorded is obeyed however late it comes',
    file: ORDER,
    edits: [['ageMs === undefined || ageMs >= validMs', 'ageMs !== undefined && ageMs < 0']],
    killedBy: byTest(WORLD, 'that were recorded and come later, or were meant for another boot, are not obeyed'),
  },
  {
    name: 'order done twice',
    defect: 'an order that comes a second time is done a second time',
    file: ORDER,
    edits: [['if (inputs.remembered.some(({ id }) => id === inputs.order.id))', 'if (inputs.remembered.length > 999)']],
    killedBy: byTest(CORE, 'are carried out once, and what became of them is told'),
  },
  {
    name: 'order that is not remembered',
    defect: 'a daemon that is started anew does again what the one before it was ordered',
    file: 'src/node/core/orders.ts',
    edits: [
      [
        '      carriedOut.store.write({ bootID, epoch: this.#epoch, orders: this.#remembered });',
        '      carriedOut.store.write({ bootID, epoch: this.#epoch, orders: [] });',
      ],
    ],
    killedBy: byTest(WORLD, 'are done once, however often and by whomever they come'),
  },
  {
    name: 'order without leave',
    defect: 'an order is sent without asking stops, holds and the lease in the turn of the send',
    file: 'src/controllers/node-daemons/orders.ts',
    edits: [['      standing.call.beforeSend();\n', '']],
    killedBy: byTest(WORLD, 'are not sent where the run may not begin, and no more once somebody said no'),
  },
  {
    name: 'order of a standby',
    defect: 'a replica that does not lead gives orders',
    file: 'src/controllers/node-daemons/orders.ts',
    edits: [['    if (!leadership.isLeading || !leadership.mayBegin(0)) return;\n', '']],
    killedBy: byTest(WORLD, 'are not sent by a replica that leads no more once they are written'),
  },
  {
    name: 'order in the place of an off',
    defect: 'a reboot by the node itself is taken for fencing',
    file: 'agents/node-daemon/definition.ts',
    edits: [["if (step === 'power-management') return NO_PROOF;", '']],
    killedBy: byTest(PLAN, 'never stands in the place of an off: a reboot'),
  },
  {
    name: 'order taken for proof',
    defect: 'what the daemon of a node answers counts as evidence',
    file: 'agents/node-daemon/definition.ts',
    edits: [['  deviceMaxLatencyMs: 0,\n', "  deviceMaxLatencyMs: 0,\n  evidence: 'watchdog',\n"]],
    killedBy: byTest(PLAN, 'may isolate, and takes as long as it is told to'),
  },
  {
    name: 'rebooted again',
    defect: 'a boot that came by our own order is rebooted again',
    file: 'agents/node-daemon/agent.ts',
    edits: [["return action === 'reboot' && ordered !== undefined && isOurs", "return action !== 'reboot' && ordered !== undefined && isOurs"]],
    killedBy: byTest(WORLD, 'to reboot count as done once another boot attests, and that boot is not rebooted again'),
  },
];
