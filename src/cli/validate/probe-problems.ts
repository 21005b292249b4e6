import type { Node } from '../../ports/objects.ts';
import type { ProbeResult } from './probe-result.ts';
import type { ReportedNode, ReportedProblem } from './report.ts';

/** What the devices said that a fence would fail on, or hit the wrong machine by. */
export function probeProblems(nodes: readonly ReportedNode[], known: readonly Node[] | undefined): ReportedProblem[] {
  const ready = new Set((known ?? []).filter(isReady).map(({ metadata }) => metadata.name));
  const machines = new Map(
    nodes.flatMap(({ facts }): [string, string][] => (facts.systemUUID === undefined ? [] : [[digits(facts.systemUUID), facts.name]])),
  );
  return nodes.flatMap((node) => (node.devices ?? []).flatMap((device) => problemsOf(node, device, ready, machines)));
}

function problemsOf(node: ReportedNode, device: ProbeResult, ready: ReadonlySet<string>, machines: ReadonlyMap<string, string>): ReportedProblem[] {
  const { facts, plan } = node;
  const where = `Node ${facts.name}, ${placeOf(device)}`;
  const problem = (severity: ReportedProblem['severity'], message: string): ReportedProblem => ({
    severity,
    where,
    message,
    steps: [],
    nodes: [facts.name],
  });
  if (device.error !== undefined) return [problem('error', `${device.error}${machineIn(device.error, facts.name, machines)}`)];
  const found: ReportedProblem[] = [];
  const { state = 'unknown', identity, detail = '' } = device;
  if (state === 'unknown')
    found.push(problem('error', `answers, but not in words that are surely on or off: ${detail}; a fence would prove nothing by it`));
  if (state === 'pending') found.push(problem('warning', `is on its way between two states: ${detail}; probe again`));
  const isOff = state === 'off' || state === 'closed';
  if (isOff && ready.has(facts.name))
    found.push(problem('error', `reads ${state} while the Node is Ready: it switches another machine; mend the address or the plug`));
  else if (isOff) found.push(problem('warning', `reads ${state}: ${detail}`));
  if (identity === 'unverified' && plan.identity === 'verified') {
    const isKnown = facts.systemUUID !== undefined;
    const remedy = 'a fence would refuse it; write identity=unverified to accept that, after looking whose machine it is';
    found.push(
      isKnown
        ? problem('error', `does not show whose machine it is (${detail}): ${remedy}`)
        : problem('warning', 'whose machine it is was not checked: no system UUID of the node is known here'),
    );
  }
  return found;
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
function machineIn(words: string, own: string, machines: ReadonlyMap<string, string>): string {
  const uuids = words.match(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}/gi) ?? [];
  const other = uuids.map((uuid) => machines.get(digits(uuid))).find((name) => name !== undefined && name !== own);
  return other === undefined ? '' : ` It is the machine of node ${other}.`;
}
