import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LAST_STEP = 'src/domain/last-step';
const ASKED_PLAN = 'src/domain/asked-plan';
const ASKED_STEPS = 'src/config/asked-steps';
const STORAGE_WAYS = 'src/config/storage-ways.ts';
const CLAIM = 'src/controllers/shared/claims/claim';

/** Defects of fences that are asked for in part: isolation alone, or some of the node's methods. */
export const LAST_STEP_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'isolated only, and switched off',
    defect: 'a node that was asked to be isolated only goes on to power-management',
    file: `${LAST_STEP}.ts`,
    edits: [['if (isFailing || status.state', 'if (!isFailing || status.state']],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'isolates a node that is Ready, and waits: in words, without an alarm, its slot given away'),
  },
  {
    name: 'isolated only for ever',
    defect: 'a node that was to be isolated only, and fails by itself, is not fenced',
    file: `${LAST_STEP}.ts`,
    edits: [['if (isFailing || status.state', 'if (status.state']],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'goes on when the node fails by itself, not before it had power_management_delay from then'),
  },
  {
    name: 'switched off the moment it fails',
    defect: 'a node that was isolated long ago is given no power_management_delay when it fails by itself',
    file: 'src/domain/rows/running.ts',
    edits: [['const failedMs = status.slotGivenAway === true ? (since.failing ?? 0) : 0;', 'const failedMs = 0;']],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'gives that time also when the request is withdrawn meanwhile'),
  },
  {
    name: 'an alarm for what is meant',
    defect: 'a person is alarmed that a node is isolated only, which was asked for',
    file: 'src/domain/rows/new.ts',
    edits: [["policy === 'observe' || isMeant === true ?", "policy === 'observe' ?"]],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'isolates a node that is Ready, and waits: in words, without an alarm, its slot given away'),
  },
  {
    name: 'a release of a node that lives, never',
    defect: 'what revoked storages permit to let go waits until the node is not Ready any more',
    file: 'src/domain/advance.ts',
    edits: [[' && !isMeantToLive(status) && !isBootedAnew', ' && !isBootedAnew']],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'lets go what its revoked storages permit, although the node lives and says so meanwhile'),
  },
  {
    name: 'a slot kept by what is isolated only',
    defect: 'a fence that goes no further than isolation keeps others from being fenced',
    file: 'src/domain/rows/running.ts',
    edits: [
      [
        'return held.status === undefined || held.status.slotGivenAway === true ? held : { ...held, status: { ...held.status, slotGivenAway: true } };',
        'return { ...held, ...(held.status !== undefined && { status: { ...held.status, slotGivenAway: false } }) };',
      ],
    ],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'isolates a node that is Ready, and waits: in words, without an alarm, its slot given away'),
  },
  {
    name: 'switched off, and held there',
    defect: 'a machine that was switched off for its own failure stays off while isolation alone is still asked for',
    file: `${LAST_STEP}.ts`,
    edits: [[' && !offBegan(status) && !releasedOnWord(status);', ' && !releasedOnWord(status);']],
    killedBy: byTest(`${LAST_STEP}.test.ts`, 'switches on again what it has switched off, though the node is Ready by then'),
  },
  {
    name: 'half of the ways closed',
    defect: 'a storage counts as revoked although the request names one of two ways to it',
    file: STORAGE_WAYS,
    edits: [['left.includes(undefined) ? [] :', 'left.length >= 0 ? [] :']],
    killedBy: byTest(`${ASKED_STEPS}.test.ts`, 'revokes no storage to which a way of the same level stays open'),
  },
  {
    name: 'ways in ConfigMaps of their own unseen',
    defect: 'a storage counts as revoked although a ConfigMap of its own defines another way to it',
    file: STORAGE_WAYS,
    edits: [['if (name.endsWith(end)) own.add(name.slice(0, -end.length));', 'if (name.endsWith(end)) continue;']],
    killedBy: byTest(`${ASKED_STEPS}.test.ts`, 'revokes no storage to which a way stays open that a ConfigMap of its own defines'),
  },
  {
    name: 'ways in ConfigMaps for all unseen',
    defect: 'a storage counts as revoked although a ConfigMap for all, with a plug of its own, defines what may be another way to it',
    file: STORAGE_WAYS,
    edits: [['!isNamedAfterAnother(lookup, name, others)) ofAll', 'isNamedAfterAnother(lookup, name, others)) ofAll']],
    killedBy: byTest(`${ASKED_STEPS}.test.ts`, 'revokes no storage to which a ConfigMap for all with a plug of its own may be another way'),
  },
  {
    name: 'a way that is wrong is none',
    defect: 'a storage counts as revoked although another way to it stays open, whose method is wrong and closes nothing',
    file: STORAGE_WAYS,
    edits: [['if (storage !== undefined) return [{', 'if (storage === name) return [{']],
    killedBy: byTest(`${ASKED_STEPS}.test.ts`, 'revokes no storage to which a way stays open that is wrong elsewhere'),
  },
  {
    name: 'asked for nothing that switches off',
    defect: 'a whole fence of methods that switch nothing off is begun',
    file: `${ASKED_STEPS}.ts`,
    edits: [['if (lastStep === undefined && !isSwitchedOff &&', 'if (lastStep === undefined && !isSwitchedOff && methods.length === 0 &&']],
    killedBy: byTest(`${ASKED_STEPS}.test.ts`, 'is refused for no method that switches off, and no lastStep: nothing is done'),
  },
  {
    name: 'the configured plan in place of the asked one',
    defect: 'a request by methods is served by the whole configured plan where none could be made of them',
    file: `${ASKED_PLAN}.ts`,
    edits: [['(askedPlan ?? unread(plan));', '(askedPlan ?? plan);']],
    killedBy: byTest(`${ASKED_PLAN}.test.ts`, 'does nothing in place of methods that nobody made a plan of'),
  },
  {
    name: 'another plan under an off',
    defect: 'the plan is exchanged after an off was begun by it',
    file: 'src/domain/rows/replanned.ts',
    edits: [['isOpen && triggered && !offBegan(status) &&', 'isOpen && triggered &&']],
    killedBy: byTest(`${ASKED_PLAN}.test.ts`, 'keeps the plan by which an off was begun, whatever is asked for then'),
  },
  {
    name: 'a stranger’s fence taken up',
    defect: 'a claimant takes up the open fence of whoever has its kind and name, whether it calls that its own or not',
    file: `${CLAIM}.ts`,
    edits: [['isOwn(requestedBy)', 'isOwn !== undefined']],
    killedBy: byTest(`${CLAIM}.test.ts`, 'leaves a fence of a run that it does not call its own alone'),
  },
  {
    name: 'somebody else’s request taken back',
    defect: 'a request is taken back that another claimant has made meanwhile',
    file: `${CLAIM}.ts`,
    edits: [
      ['{ metadata: { uid, resourceVersion }, spec: { requestedBy: null, ...NOTHING_ASKED } }', '{ spec: { requestedBy: null, ...NOTHING_ASKED } }'],
    ],
    killedBy: byTest(`${CLAIM}.test.ts`, 'touches no request of somebody else, also where he comes between our read and our write'),
  },
];
