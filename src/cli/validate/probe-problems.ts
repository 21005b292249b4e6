import { methodsOf, writtenName } from '../../domain/device-paths.ts';
import { demandsIdentity } from '../../domain/plan.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { probeFaults } from '../../domain/probe-faults.ts';
import type { Node } from '../../ports/objects.ts';
import type { ProbeResult } from './probe-result.ts';
import type { ReportedNode, ReportedProblem } from './report.ts';

const DAY_MS = 86_400_000;
/** A certificate or password that ends within this time is told of. */
const SOON_MS = 30 * DAY_MS;

/** What the devices said that a fence would fail on, or hit the wrong machine by, and what of them ends soon. */
export function probeProblems(nodes: readonly ReportedNode[], known: readonly Node[] | undefined, wallMs: number): ReportedProblem[] {
  const ready = new Set((known ?? []).filter(isReady).map(({ metadata }) => metadata.name));
  const machines = new Map(
    nodes.flatMap(({ facts }): [string, string][] => (facts.systemUUID === undefined ? [] : [[digits(facts.systemUUID), facts.name]])),
  );
  return nodes.flatMap((node) =>
    (node.devices ?? []).flatMap((device) => [...problemsOf(node, device, ready, machines), ...endings(node, device, wallMs)]),
  );
}

function problemsOf(node: ReportedNode, device: ProbeResult, ready: ReadonlySet<string>, machines: ReadonlyMap<string, string>): ReportedProblem[] {
  const { facts, plan } = node;
  const isIdentityRequired = methodsOf(plan).some((method) => isRead(device, method) && demandsIdentity(plan, method));
  const circumstances = { isReady: ready.has(facts.name), isIdentityRequired, isUuidKnown: facts.systemUUID !== undefined };
  return probeFaults(device, circumstances).map(({ severity, message }) => ({
    severity,
    where: `Node ${facts.name}, ${placeOf(device)}`,
    message: device.error === undefined ? message : `${message}${machineIn(message, facts.name, machines)}`,
    steps: [],
    nodes: [facts.name],
  }));
}

function isRead({ agent, device, plug, methods }: ProbeResult, method: PlanMethod): boolean {
  return method.agent === agent && method.device === device && method.plug === plug && methods.includes(writtenName(method));
}

/** A pinned certificate too: the device is trusted on, and shows a new one some day, which nobody pinned. */
function endings({ facts }: ReportedNode, device: ProbeResult, wallMs: number): ReportedProblem[] {
  const ends: [string, string | undefined, string][] = [
    ['certificate', device.certificateExpiresAt, 'renew it, and give its new fingerprint or authority here'],
    ['password', device.credentialExpiresAt, 'change it, at the device and in the Secret'],
  ];
  return ends.flatMap(([what, at, remedy]): ReportedProblem[] => {
    const leftMs = Date.parse(at ?? '') - wallMs;
    if (at === undefined || Number.isNaN(leftMs) || leftMs > SOON_MS) return [];
    const message = leftMs <= 0 ? `ended at ${at}` : `ends at ${at}, within ${Math.ceil(leftMs / DAY_MS)} day(s)`;
    const where = `Node ${facts.name}, ${placeOf(device)}`;
    return [{ severity: 'warning', where, message: `its ${what} ${message}: ${remedy}`, steps: [], nodes: [facts.name] }];
  });
}

export function placeOf({ agent, device, plug }: Pick<ProbeResult, 'agent' | 'device' | 'plug'>): string {
  return `${agent} ${device}${plug === '' ? '' : ` plug ${plug}`}`;
}

function isReady({ status }: Node): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

function digits(uuid: string): string {
  return uuid.replaceAll('-', '').toLowerCase();
}

/** Whose machine the device showed, when it is another node's. */
function machineIn(message: string, own: string, machines: ReadonlyMap<string, string>): string {
  const uuids = message.match(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}/gi) ?? [];
  const other = uuids.map((uuid) => machines.get(digits(uuid))).find((name) => name !== undefined && name !== own);
  return other === undefined ? '' : ` It is the machine of node ${other}.`;
}
