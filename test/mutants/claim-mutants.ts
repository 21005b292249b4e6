import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const DECISION = 'src/controllers/fence/handover/decision';
const HAND_OVER = 'src/controllers/fence/handover/handover';
const CANDIDATES = 'src/controllers/fence/handover/candidates';
const RECORD = 'src/controllers/shared/claims/node-lease';
const LEASES = 'src/controllers/shared/claims/node-leases';

/** Defects of who may have a node: the hand-over of the leader's own, and the node lease that others hold. */
export const CLAIM_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'own node that is Ready again',
    defect:
      'leadership does not move where the fence of the own node must go on though that is Ready: it says for ever that another replica must lead',
    file: `${DECISION}.ts`,
    edits: [[" || hold?.reason === 'own-node'", '']],
    killedBy: byTest(`${DECISION}.test.ts`, 'is that of a target where its fence says that another replica must lead, also while it is Ready'),
  },
  {
    name: 'word refused by a late watch',
    defect: 'a new leader whose watch is behind the person refuses their word for good',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['isRefused ? await this.#refusalNow(word) : undefined', 'isRefused ? this.#refusal(word, fence, bootID) : undefined']],
    killedBy: byTest(
      'src/controllers/fence/acknowledgements.test.ts',
      'is not refused where the API server holds the fence and the boot that it names: they are on their way, and it is looked at again',
    ),
  },
  {
    name: 'unread leases are nobody’s',
    defect: 'where the Leases of medik8s may not be read, nodes are fenced as if nobody had them',
    file: 'src/controllers/shared/claims/lease-place.ts',
    edits: [["if (this.#state !== 'unreadable') return undefined;", 'return undefined;']],
    killedBy: byTest('src/controllers/shared/claims/lease-place.test.ts', 'only what nobody may read refuses'),
  },
  {
    name: 'no namespace for ever',
    defect: 'a namespace of node leases that appears is not honoured: what a remediator holds is fenced',
    file: `${LEASES}.ts`,
    edits: [["if (place.state === 'absent' && (await place.look()) === 'absent')", "if (place.state === 'absent')"]],
    killedBy: byTest(`${LEASES}.test.ts`, 'are not asked for where there is no namespace for them, until it is there'),
  },
  {
    name: 'denied for a moment',
    defect: 'an API server that comes up holds every fence for a namespace that is not there: what is proven off is not released',
    file: 'src/controllers/shared/claims/lease-place.ts',
    edits: [["    this.#bear(isThere === 'denied' && !mayRead);\n", '']],
    killedBy: byTest('src/controllers/shared/claims/lease-place.test.ts', 'stands as it was while an API server comes up and denies all'),
  },
  {
    name: 'handed to a failing node',
    defect: 'leadership goes to a replica whose own node has failed',
    file: `${DECISION}.ts`,
    edits: [["candidate.node !== ownNode && classOf(candidate.node) === 'well'", 'candidate.node !== ownNode']],
    killedBy: byTest(`${HAND_OVER}.test.ts`, 'does not hand over to a node that is failing itself, and does once that node is well'),
  },
  {
    name: 'handed to the dead',
    defect: 'leadership goes to a replica that was last heard of long ago',
    file: `${CANDIDATES}.ts`,
    edits: [['nowMs - sinceMs <= ALIVE_MS', 'nowMs - sinceMs <= FORGOTTEN_MS']],
    killedBy: byTest(`${CANDIDATES}.test.ts`, 'count as alive for three of their periods from our first sight of the last one'),
  },
  {
    name: 'handed back and forth',
    defect: 'leadership goes again to a replica that did not take it',
    file: `${DECISION}.ts`,
    edits: [['      !declined.has(candidate.id) &&\n', '']],
    killedBy: byTest(`${DECISION}.test.ts`, 'hands nothing to a replica that did not take what was free'),
  },
  {
    name: 'handed over at once',
    defect: 'a leader that has only just taken over hands over',
    file: `${HAND_OVER}.ts`,
    edits: [['if (waitMs > 0) {', 'if (waitMs > TERM_MIN_MS) {']],
    killedBy: byTest(`${HAND_OVER}.test.ts`, 'whose node is well again before the end of that term stays'),
  },
  {
    name: 'blind and first',
    defect: 'a replica that hears nothing of nodes takes the Lease before one that does',
    file: `${DECISION}.ts`,
    edits: [['(isWell && !isBlind)', 'isWell']],
    killedBy: byTest(`${DECISION}.test.ts`, 'a replica that finds the lease free that is blind lets others go first'),
  },
  {
    name: 'polite for ever',
    defect: 'a replica on a failed node waits for one that never takes the Lease',
    file: `${DECISION}.ts`,
    edits: [['|| freeForMs >= DEFER_MS ', '']],
    killedBy: byTest(`${DECISION}.test.ts`, 'a replica that finds the lease free on a failed node waits no longer than a minute'),
  },
  {
    name: 'node lease by its first sight',
    defect: 'a node lease that is renewed is over at the end of its first term',
    file: `${RECORD}.ts`,
    edits: [['isUnchanged ? previous.sinceMs : nowMs', 'previous?.sinceMs ?? nowMs']],
    killedBy: byTest(`${RECORD}.test.ts`, 'counts from its first sight: renewed'),
  },
  {
    name: 'node lease for ever',
    defect: 'the node lease of somebody who is gone holds for ever',
    file: `${RECORD}.ts`,
    edits: [['nowMs <= untilMs ?', 'untilMs > 0 ?']],
    killedBy: byTest(`${RECORD}.test.ts`, 'the node lease of medik8s it stood unchanged for longer'),
  },
  {
    name: 'node lease overrun',
    defect: 'a node is taken although a consistent read shows that another has it',
    file: `${LEASES}.ts`,
    edits: [["        if (state.kind === 'foreign') return this.holdOn(node, requestedBy)?.message;\n", '']],
    killedBy: byTest(`${LEASES}.test.ts`, 'that a watch has not shown yet are seen by a consistent read'),
  },
  {
    name: 'node lease of nobody',
    defect: 'our node lease runs out while its fence is open',
    file: `${LEASES}.ts`,
    edits: [['state.sinceMs >= RENEW_MS', 'state.sinceMs >= NODE_LEASE_DURATION_MS']],
    killedBy: byTest(`${LEASES}.test.ts`, 'are renewed while the fence is open, a third of the duration apart, and given back at its end'),
  },
  {
    name: 'node lease kept',
    defect: 'our node lease stays when its fence is over',
    file: `${LEASES}.ts`,
    edits: [['if (!isOpen(fences.get(fenceName(node))))', 'if (fences.get(fenceName(node)) === undefined)']],
    killedBy: byTest(`${LEASES}.test.ts`, 'of a predecessor are adopted: renewed, or given back when the fence is over'),
  },
  {
    name: 'node lease of a standby',
    defect: 'a replica that does not lead writes node leases',
    file: `${LEASES}.ts`,
    edits: [['if (!leadership.isLeading || this.#isClosed', 'if (this.#isClosed']],
    killedBy: byTest(`${LEASES}.test.ts`, 'are never written by a replica that does not lead'),
  },
  {
    name: 'node lease not asked for',
    defect: 'a node is fenced although nobody knows whose it is',
    file: `${LEASES}.ts`,
    edits: [['if (!(error instanceof ApiStatusError)) throw error;', 'if (!(error instanceof ApiStatusError)) return undefined;']],
    killedBy: byTest(`${LEASES}.test.ts`, 'that could not be asked for stop the call: nobody knows whose the node is'),
  },
];
