import { fenceName } from '../../../domain/node-fence.ts';
import { NODE_FENCE_REMEDIATION } from '../../../ports/remediation.ts';
import { BARE_METAL_HOSTS } from '../../../ports/metal3.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import { ClusterApiCheck } from '../../../testbed/operators/checkers/cluster-api-check.ts';
import type { Request } from '../../../testbed/operators/checkers/node-health-check.ts';
import { POWER_CYCLE_TEMPLATES, POWER_CYCLES, PowerCycling } from '../../../testbed/operators/checkers/power-cycle.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { NAMESPACES } from '../../../testbed/cluster/kinds.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { firstAnswer } from '../../run/pause.ts';
import { isOver } from '../../run/readiness.ts';
import { bootOf, diagnose, isCuredByBoot } from '../illness.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { Checking } from './checking.ts';
import { saysLeftTo } from './left-to-others.ts';
import { dependenciesOf, UNHEALTHY_WHEN, whilePlayed } from './played.ts';
import { foreignProblems, requestedProblems } from './request-findings.ts';
import { allow, define, grant } from './rights.ts';

const CHECK = 'workers';
const TEMPLATE = 'fence-and-recover';
const FOREIGN = 'power-cycle';
const CHECKER = 'capi-controller-manager';
const HOLD = { 'reboot.metal3.io/power-cycle': '{"mode":"hard"}' };
const READ = ['get', 'list', 'watch'];
const ASKED_MS = 30_000;
const SWITCHED_MS = 60_000;
const OVER_MS = 120_000;
const POLL_MS = 100;

/** First ours drives a remediator of somebody else; then Cluster API's own controller comes, ours leaves its part to it, and it drives what we serve. */
export const mhcExternal: FaultScript = async (stage) => {
  const { session, node } = stage;
  const checking = new Checking(stage);
  const other = session.nodes.find((name) => name !== node) ?? '';
  await define(session.cluster, [POWER_CYCLE_TEMPLATES, POWER_CYCLES]);
  await grant(session.cluster, CONTROLLER_USER, [allow(POWER_CYCLE_TEMPLATES, READ), allow(POWER_CYCLES, [...READ, 'create', 'delete'])]);
  const metadata = { name: FOREIGN, namespace: HOSTS_NAMESPACE };
  await session.cluster.create(POWER_CYCLE_TEMPLATES, { metadata, spec: { template: { spec: {} } } });
  await checking.template(TEMPLATE, HOSTS_NAMESPACE, {});
  const { group, version, kind } = POWER_CYCLE_TEMPLATES;
  await checking.watchOver(CHECK, { apiVersion: `${group}/${version}`, kind, name: FOREIGN }, '40%');
  const cycling = new PowerCycling(dependenciesOf(stage), (request) => cycle(stage, request));
  cycling.start();
  const atMs = strike(stage, 'mhc-external', () => undefined);
  const judges = ({ trace }: Seen): string[] => [
    ...foreignProblems(trace, node, POWER_CYCLES, hostMachineName(node)),
    ...requestedProblems(trace, other, hostMachineName(other)),
  ];
  return { atMs, over: whilePlayed([cycling], () => bothWays(stage, checking, other)), judges, others: [other] };
};

/** Somebody else's way: by the annotation of the BareMetalHost, which its operator obeys. */
async function cycle(stage: FaultStage, { metadata: { name } }: Request): Promise<void> {
  const { session, node } = stage;
  if (name !== hostMachineName(node)) throw new Error(`nobody asked for ${name}`);
  const place = { namespace: HOSTS_NAMESPACE };
  const hold = (annotations: Record<string, string | null>): Promise<unknown> =>
    session.cluster.mergePatch(BARE_METAL_HOSTS, hostName(node), { metadata: { annotations } }, place);
  const isOn = async (wanted: boolean): Promise<true | undefined> => {
    const host = await session.cluster.get(BARE_METAL_HOSTS, hostName(node), HOSTS_NAMESPACE);
    return host?.status?.poweredOn === wanted ? true : undefined;
  };
  await hold(HOLD);
  stage.tell(`PowerCycle ${name}: ${hostName(node)} is held off`);
  await firstAnswer(() => isOn(false), SWITCHED_MS, POLL_MS);
  await hold({ 'reboot.metal3.io/power-cycle': null });
  await firstAnswer(() => isOn(true), SWITCHED_MS, POLL_MS);
  stage.tell(`PowerCycle ${name}: ${hostName(node)} is on again`);
}

async function bothWays(stage: FaultStage, checking: Checking, other: string): Promise<FaultFindings> {
  await oursDrivesForeign(stage, checking);
  const check = await playClusterApi(stage);
  return whilePlayed([check], async () => {
    await isLeftToIt(stage, checking);
    await foreignDrivesOurs(stage, checking, other);
    return {
      problems: checking.problems,
      outcome: 'remediated',
      did: `${stage.node} was cycled by somebody else, ${other} fenced for somebody else`,
    };
  });
}

async function oursDrivesForeign(stage: FaultStage, checking: Checking): Promise<void> {
  const { session, node } = stage;
  const machine = hostMachineName(node);
  const boot = await bootOf(session.cluster, node);
  const request = (): Promise<Request | undefined> => session.cluster.get(POWER_CYCLES, machine, HOSTS_NAMESPACE);
  await diagnose(stage, node, true);
  await checking.shows(`PowerCycle ${machine} is made, and owned by the Machine`, ASKED_MS, async () => {
    const [owner] = (await request())?.metadata.ownerReferences ?? [];
    return owner?.kind === 'Machine' && owner.name === machine;
  });
  if (!(await isCuredByBoot(stage, node, boot))) checking.problems.push(`${node} has not booted anew`);
  await checking.shows(`HealthCheckSucceeded of ${machine} is True again`, ASKED_MS, async () =>
    (await checking.said(node, 'HealthCheckSucceeded')).every((words) => words.startsWith('True')),
  );
  await checking.shows('the request is deleted', ASKED_MS, async () => (await request()) === undefined);
}

/** With the rights of its own controller, and what our installed role gives it. */
async function playClusterApi(stage: FaultStage): Promise<ClusterApiCheck> {
  const own = [
    allow(NODES, READ),
    allow(HOST_MACHINES, READ),
    allow(HOST_MACHINES, ['patch'], 'status'),
    allow(LEASES, ['get', 'create', 'patch']),
    allow(NAMESPACES, ['create']),
  ];
  await grant(stage.session.cluster, CHECKER, own, ['nodefence-remediation-cluster-api']);
  const check = new ClusterApiCheck(dependenciesOf(stage, CHECKER), { template: TEMPLATE, when: UNHEALTHY_WHEN });
  await check.start();
  stage.tell("Cluster API's own controller begins: its Lease stands");
  return check;
}

/** Two who remediate one machine may power it off twice. */
async function isLeftToIt({ replicas }: FaultStage, checking: Checking): Promise<void> {
  await checking.shows('nodefence leaves MachineHealthChecks to it', ASKED_MS, () =>
    replicas.running.every(({ child }) =>
      child
        .log()
        .split('\n')
        .some((line) => saysLeftTo(line, HOST_MACHINES.group)),
    ),
  );
}

/** An operator that is at work switches on again whatever is switched off behind its back. */
async function detach({ session }: FaultStage): Promise<void> {
  const annotations = { 'baremetalhost.metal3.io/detached': '' };
  for (const node of session.nodes)
    await session.cluster.mergePatch(BARE_METAL_HOSTS, hostName(node), { metadata: { annotations } }, { namespace: HOSTS_NAMESPACE });
}

async function foreignDrivesOurs(stage: FaultStage, checking: Checking, other: string): Promise<void> {
  const { session, watcher } = stage;
  await detach(stage);
  stage.tell('an admin detaches the hosts from the baremetal-operator: nodefence switches them itself');
  const machine = hostMachineName(other);
  const boot = await bootOf(session.cluster, other);
  await diagnose(stage, other, true);
  await checking.shows(`${NODE_FENCE_REMEDIATION.requests.kind} ${machine} is made by Cluster API`, ASKED_MS, async () => {
    return (await checking.request(other)) !== undefined;
  });
  const timeline = (): object => watcher.fences.get(fenceName(other))?.status?.timeline ?? {};
  await checking.shows(`${other} is proven off, and its pods are let go`, OVER_MS, () => 'releasedAt' in timeline());
  await checking.shows(`${other} is fenced, and back`, OVER_MS, () => isOver(watcher, other));
  await checking.shows(`ExternallyRemediated of ${machine} is True`, ASKED_MS, async () =>
    ((await checking.said(other, 'ExternallyRemediated'))[0] ?? '').startsWith('True'),
  );
  if (!(await isCuredByBoot(stage, other, boot))) checking.problems.push(`${other} has not booted anew`);
  await checking.shows('the request is deleted by Cluster API', ASKED_MS, async () => (await checking.requests()).length === 0);
}
