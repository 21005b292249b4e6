import { fenceName } from '../../../domain/node-fence.ts';
import { hostMachineName, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { pause } from '../../run/pause.ts';
import { isOver } from '../../run/readiness.ts';
import { bootOf, diagnose, isCuredByBoot } from '../illness.ts';
import { WORLD } from '../names.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { Checking, templateRef } from './checking.ts';
import { heldProblems, requestedProblems } from './request-findings.ts';

const CHECK = 'workers';
const TEMPLATE = 'fence-and-recover';
const ASKED_MS = 30_000;
const TOLD_MS = 30_000;
const OVER_MS = 120_000;

/** A node falls ill, and stays Ready: its Machine is found unhealthy, and remediated from the request to the end of it. */
export const mhc: FaultScript = async (stage) => {
  const { node } = stage;
  const checking = new Checking(stage);
  await checking.template(TEMPLATE, HOSTS_NAMESPACE, { strategy: 'fence-and-recover', retryLimit: 1 });
  await checking.watchOver(CHECK, templateRef(TEMPLATE), '40%');
  const boot = await bootOf(stage.session.cluster, node);
  const atMs = strike(stage, 'mhc', () => undefined);
  await diagnose(stage, node, true);
  const judges = ({ trace }: Seen): string[] => requestedProblems(trace, node, hostMachineName(node));
  return { atMs, over: isRemediated(stage, checking, boot), judges };
};

/** Two of three fall ill, which is more than may be remediated at once: nobody is touched, and that is told. One gets well: the other is remediated. */
export const mhcShortCircuit: FaultScript = async (stage) => {
  const { session, node } = stage;
  const checking = new Checking(stage);
  const other = session.nodes.find((name) => name !== node) ?? '';
  await checking.template(TEMPLATE, HOSTS_NAMESPACE, {});
  await checking.watchOver(CHECK, templateRef(TEMPLATE), '40%');
  const boot = await bootOf(session.cluster, node);
  const atMs = strike(stage, 'mhc-short-circuit', () => undefined);
  await Promise.all([diagnose(stage, node, true), diagnose(stage, other, true)]);
  const eased = { ms: Infinity };
  const judges = ({ trace }: Seen): string[] => [
    ...requestedProblems(trace, node, hostMachineName(node)),
    ...heldProblems(trace, session.nodes, eased.ms),
  ];
  return { atMs, over: isBlocked(stage, checking, { other, boot, eased }), judges };
};

interface Blocked {
  other: string;
  boot: string | undefined;
  /** When the other one was well again. */
  eased: { ms: number };
}

async function isBlocked(stage: FaultStage, checking: Checking, { other, boot, eased }: Blocked): Promise<FaultFindings> {
  const { session, node } = stage;
  await checking.shows('RemediationAllowed is False, TooManyUnhealthy: 2 of 3 are more than 40%', ASKED_MS, async () => {
    const isBlockedNow = (await checking.allowed(CHECK)) === 'False TooManyUnhealthy';
    return isBlockedNow && (await checking.check(CHECK))?.status?.remediationsAllowed === 0;
  });
  for (const each of [node, other])
    await checking.expect(`HealthCheckSucceeded False of ${each} all the same`, TOLD_MS, async () =>
      (await checking.said(each, 'HealthCheckSucceeded')).every((words) => words === 'False UnhealthyNode'),
    );
  await pause(WORLD.watchedMs / 2);
  if ((await checking.requests()).length > 0) checking.problems.push('a request was made although too many are unhealthy');
  stage.tell('nobody is fenced, and no request is made');
  eased.ms = session.now();
  await diagnose(stage, other, false);
  await checking.shows('RemediationAllowed is True again', ASKED_MS, async () => (await checking.allowed(CHECK)).startsWith('True'));
  return isRemediated(stage, checking, boot);
}

/** From the failed check to the healthy machine, as a person sees it in the API. */
async function isRemediated(stage: FaultStage, checking: Checking, boot: string | undefined): Promise<FaultFindings> {
  const { watcher, node } = stage;
  await isAskedFor(stage, checking, node);
  await checking.expect(`the end of the fence of ${node}`, OVER_MS, () => isOver(watcher, node));
  await checking.shows(`ExternallyRemediated of ${hostMachineName(node)} is True`, TOLD_MS, async () =>
    ((await checking.said(node, 'ExternallyRemediated'))[0] ?? '').startsWith('True'),
  );
  if (!(await isCuredByBoot(stage, node, boot))) checking.problems.push(`${node} has not booted anew`);
  await isHealthyAgain(checking, node);
  return { problems: checking.problems };
}

async function isAskedFor({ watcher }: FaultStage, checking: Checking, node: string): Promise<void> {
  const machine = hostMachineName(node);
  await checking.shows(`HealthCheckSucceeded of ${machine} is False, UnhealthyNode, in both lists`, ASKED_MS, async () =>
    (await checking.said(node, 'HealthCheckSucceeded')).every((words) => words === 'False UnhealthyNode'),
  );
  await checking.shows(`NodeFenceRemediation ${machine} is made of the template, and owned by the Machine`, ASKED_MS, async () => {
    const { metadata } = (await checking.request(node)) ?? {};
    const [owner] = metadata?.ownerReferences ?? [];
    return owner?.kind === 'Machine' && owner.name === machine && metadata?.annotations?.['cluster.x-k8s.io/cloned-from-name'] === TEMPLATE;
  });
  await checking.shows(`NodeFence ${fenceName(node)} names it as the requester`, ASKED_MS, async () => {
    const uid = (await checking.request(node))?.metadata.uid;
    return uid !== undefined && watcher.fences.get(fenceName(node))?.spec.requestedBy?.uid === uid;
  });
}

async function isHealthyAgain(checking: Checking, node: string): Promise<void> {
  const machine = hostMachineName(node);
  await checking.shows(`HealthCheckSucceeded of ${machine} is True again, in both lists`, TOLD_MS, async () =>
    (await checking.said(node, 'HealthCheckSucceeded')).every((words) => words.startsWith('True')),
  );
  await checking.shows('the request is deleted', TOLD_MS, async () => (await checking.requests()).length === 0);
  await checking.expect(`every Machine healthy in the status of ${CHECK}`, TOLD_MS, async () => {
    const status = (await checking.check(CHECK))?.status;
    return status?.currentHealthy === status?.expectedMachines;
  });
}
