import { fenceName } from '../../../domain/node-fence.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../../manifests/access.ts';
import { NODE_FENCE_REMEDIATION } from '../../../ports/remediation.ts';
import type { NodeFenceRemediation } from '../../../ports/remediation.ts';
import { EVENTS, LEASES, NODES } from '../../../ports/resources.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { NODE_HEALTH_CHECKS, NodeHealthCheck } from '../../../testbed/operators/checkers/node-health-check.ts';
import type { Remediator } from '../../../testbed/operators/checkers/node-health-check.ts';
import { POWER_CYCLE_TEMPLATES, POWER_CYCLES, PowerCycling } from '../../../testbed/operators/checkers/power-cycle.ts';
import { pause } from '../../run/pause.ts';
import { isOver } from '../../run/readiness.ts';
import { setsOf } from '../device-findings.ts';
import { bootOf, diagnose, isCuredByBoot } from '../illness.ts';
import { WORLD } from '../names.ts';
import { strike, tellBmc } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { Checking } from './checking.ts';
import { dependenciesOf, UNHEALTHY_WHEN, whilePlayed } from './played.ts';
import { escalatedProblems, requestedProblems, timedOutMs } from './request-findings.ts';
import { allow, define, grant } from './rights.ts';

/** Of templates and requests of NodeHealthCheck. */
const NAMESPACE = 'default';
const CHECKER = 'node-healthcheck-operator';
const GENTLE = 'gentle';
const LAST = 'last-resort';
const EVERYTHING = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const ASKED_MS = 30_000;
const OVER_MS = 120_000;
const GONE_MS = 40_000;
/** A remediator that is given up goes on for no longer than what it had begun takes. */
const REVIVED_AFTER_MS = 3_000;
const TIMED_OUT_AFTER_MS = 12_000;
const OFF_BY_ITSELF_MS = 800;

const OURS: Remediator = { ...NODE_FENCE_REMEDIATION, template: GENTLE, timeoutMs: 600_000 };

/** The check, with the rights of medik8s' own operator: what our installed role gives it, and its own. */
async function playCheck(stage: FaultStage, remediators: readonly Remediator[]): Promise<NodeHealthCheck> {
  const { cluster } = stage.session;
  await define(cluster, [NODE_HEALTH_CHECKS, POWER_CYCLE_TEMPLATES, POWER_CYCLES]);
  const own = [
    allow(NODES, ['get', 'list', 'watch']),
    allow(LEASES, EVERYTHING),
    allow(NODE_HEALTH_CHECKS, EVERYTHING),
    allow(POWER_CYCLE_TEMPLATES, ['get']),
    allow(POWER_CYCLES, EVERYTHING),
  ];
  await grant(cluster, CHECKER, own, ['nodefence-remediation-medik8s']);
  const check = new NodeHealthCheck(dependenciesOf(stage, CHECKER), { name: 'workers', namespace: NAMESPACE, when: UNHEALTHY_WHEN, remediators });
  await check.start();
  stage.tell(`NodeHealthCheck workers: ${remediators.map(({ templates, template }) => `${templates.kind} ${template}`).join(', then ')}`);
  return check;
}

/** What the check and its remediator say to each other. */
class Contract {
  readonly #stage: FaultStage;

  constructor(stage: FaultStage) {
    this.#stage = stage;
  }

  request(): Promise<NodeFenceRemediation | undefined> {
    return this.#stage.session.cluster.get(NODE_FENCE_REMEDIATION.requests, `${this.#stage.node}-${GENTLE}`, NAMESPACE);
  }

  /** Processing and Succeeded: `True Unknown`. */
  async says(words: string): Promise<boolean> {
    const { conditions = [] } = (await this.request())?.status ?? {};
    return ['Processing', 'Succeeded'].map((type) => conditions.find((each) => each.type === type)?.status ?? 'absent').join(' ') === words;
  }

  async hasEvent(reason: string): Promise<boolean> {
    const events = (await this.#stage.session.cluster.list(EVENTS)) as (KubeObject & { reason?: string; message?: string })[];
    return events.some((event) => event.reason === reason && event.message?.startsWith('[remediation] ') === true);
  }

  async holder(): Promise<string> {
    const lease = await this.#stage.session.cluster.get(LEASES, `node-${this.#stage.node}`, MEDIK8S_LEASE_NAMESPACE);
    return lease?.spec.holderIdentity ?? '';
  }
}

/** NodeHealthCheck of medik8s asks; it is told how far the fence is in its own words, and takes its request back when the node is well. */
export const nhc: FaultScript = async (stage) => {
  const { node } = stage;
  const checking = new Checking(stage);
  await checking.template(GENTLE, NAMESPACE, {});
  const check = await playCheck(stage, [OURS]);
  const boot = await bootOf(stage.session.cluster, node);
  const atMs = strike(stage, 'nhc', () => undefined);
  await diagnose(stage, node, true);
  const judges = ({ trace }: Seen): string[] => requestedProblems(trace, node, `${node}-${GENTLE}`);
  return { atMs, over: whilePlayed([check], () => isServed(stage, checking, boot)), judges };
};

async function isServed(stage: FaultStage, checking: Checking, boot: string | undefined): Promise<FaultFindings> {
  const { watcher, node } = stage;
  const contract = new Contract(stage);
  await isTakenUp(stage, checking, contract);
  await checking.expect(`the end of the fence of ${node}`, OVER_MS, () => isOver(watcher, node));
  await checking.shows('Processing is False and Succeeded is True', ASKED_MS, () => contract.says('False True'));
  await checking.expect('the event RemediationFinished', ASKED_MS, () => contract.hasEvent('RemediationFinished'));
  if (!(await isCuredByBoot(stage, node, boot))) checking.problems.push(`${node} has not booted anew`);
  await isLetGo(checking, contract);
  return { problems: checking.problems };
}

async function isTakenUp({ watcher, node }: FaultStage, checking: Checking, contract: Contract): Promise<void> {
  await checking.shows(`the Lease of ${node} is the check's`, ASKED_MS, async () => (await contract.holder()) === 'NodeHealthCheck-workers');
  await checking.shows('Processing is True and Succeeded is Unknown', ASKED_MS, () => contract.says('True Unknown'));
  await checking.shows(`NodeFence ${fenceName(node)} names the request`, ASKED_MS, async () => {
    const uid = (await contract.request())?.metadata.uid;
    return uid !== undefined && watcher.fences.get(fenceName(node))?.spec.requestedBy?.uid === uid;
  });
  await checking.expect('the event RemediationStarted', ASKED_MS, () => contract.hasEvent('RemediationStarted'));
}

async function isLetGo(checking: Checking, contract: Contract): Promise<void> {
  await checking.shows('the request is deleted, and gone', GONE_MS, async () => (await contract.request()) === undefined);
  await checking.shows('the Lease of the node is given back', GONE_MS, async () => (await contract.holder()) === '');
}

/** Our BMC says nothing until the check has given us up: another remediator has its turn, and nothing is switched by us any more. */
export const nhcTimeout: FaultScript = async (stage) => {
  const { session, node } = stage;
  const checking = new Checking(stage);
  await checking.template(GENTLE, NAMESPACE, {});
  const last: Remediator = { requests: POWER_CYCLES, templates: POWER_CYCLE_TEMPLATES, template: LAST, timeoutMs: 600_000 };
  const check = await playCheck(stage, [{ ...OURS, timeoutMs: TIMED_OUT_AFTER_MS }, last]);
  await session.cluster.create(POWER_CYCLE_TEMPLATES, { metadata: { name: LAST, namespace: NAMESPACE }, spec: { template: { spec: {} } } });
  const cycling = new PowerCycling(dependenciesOf(stage), () => rebootsItself(stage));
  cycling.start();
  const boot = await bootOf(session.cluster, node);
  tellBmc(stage, { isSilent: true });
  const atMs = strike(stage, 'nhc-timeout', () => undefined);
  stage.tell(`the BMC of ${node} does not answer any more`);
  await diagnose(stage, node, true);
  const judges = ({ trace }: Seen): string[] => escalatedProblems(trace, node, `${node}-${GENTLE}`);
  return { atMs, over: whilePlayed([check, cycling], () => isGivenUp(stage, checking, boot)), judges };
};

/** By its own watchdog, without its BMC. */
async function rebootsItself(stage: FaultStage): Promise<void> {
  const { session, node } = stage;
  const { child } = session.member(node);
  stage.tell(`${node} is asked to reboot itself`);
  child.tell({ command: 'power', state: 'off' });
  await pause(OFF_BY_ITSELF_MS);
  child.tell({ command: 'power', state: 'on' });
}

async function isGivenUp(stage: FaultStage, checking: Checking, boot: string | undefined): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  const contract = new Contract(stage);
  await isTakenUp(stage, checking, contract);
  await checking.shows('the check has given the request up', ASKED_MS, async () => timedOutMs(await contract.request()) !== undefined);
  await pause(REVIVED_AFTER_MS);
  tellBmc(stage, {});
  stage.tell(`the BMC of ${node} answers again`);
  await checking.shows('Processing and Succeeded are False: nothing more is tried', ASKED_MS, () => contract.says('False False'));
  await checking.expect('the event RemediationStopped', ASKED_MS, () => contract.hasEvent('RemediationStopped'));
  if (!(await isCuredByBoot(stage, node, boot))) checking.problems.push(`${node} has not booted anew`);
  await isLetGo(checking, contract);
  await checking.shows(`NodeFence ${fenceName(node)} is gone, and ${node} takes pods again`, GONE_MS, async () => {
    const isOpen = (await session.cluster.get(NODES, node))?.spec.unschedulable !== true;
    return isOpen && watcher.fences.get(fenceName(node)) === undefined;
  });
  await pause(WORLD.afterProbationMs);
  const offs = setsOf(session.traces(), node).filter(({ want }) => want === 'off').length;
  return { problems: checking.problems, outcome: 'given up', did: `the check gave it up; its BMC was told off ${offs} times in all` };
}
