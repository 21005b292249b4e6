import { internalAddresses } from '../../domain/addresses.ts';
import { devicePaths, writtenName } from '../../domain/device-paths.ts';
import type { Presence } from '../../domain/remedy/position.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { Prober } from '../../ports/probes.ts';

export interface PresenceDependencies {
  clock: Pick<Clock, 'monotonicMs'>;
  planner: Pick<Planner, 'planFor' | 'parametersFor'>;
  prober: Prober;
  lifeAtMs: (node: string) => number | undefined;
}

const READ_DEADLINE_MS = 8_000;

/** Whether the kubelet of a node has been silent for as long as its plan waits for life. */
export function isSilent({ clock, planner, lifeAtMs }: Omit<PresenceDependencies, 'prober'>, node: Node): boolean {
  const atMs = lifeAtMs(node.metadata.name);
  return atMs !== undefined && clock.monotonicMs() >= atMs + planner.planFor(node).timing.lifeWaitMs;
}

/** What may be done about the pods of a node: of one whose kubelet answers, of one that its own devices read off, and of one of which nobody can tell. */
export async function presenceOf(
  dependencies: PresenceDependencies,
  node: Node,
  systemUUID: string | undefined,
  signal: AbortSignal,
): Promise<Presence> {
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (ready !== 'Unknown' && !isSilent(dependencies, node)) return { kind: 'alive' };
  if (!isSilent(dependencies, node)) return { kind: 'unproven', waitsFor: 'its kubelet was heard just now, and Kubernetes takes it for unreachable' };
  const { planner, prober } = dependencies;
  const { name } = node.metadata;
  const powered = devicePaths(planner.planFor(node)).filter(({ method }) => method.kind === 'power');
  if (powered.length === 0)
    return { kind: 'unproven', waitsFor: 'its kubelet is silent, and its fence configuration names no device that could tell whether it is off' };
  const reads: string[] = [];
  for (const { method } of powered) {
    const answer = await prober.probe({
      method,
      identity: {
        node: name,
        systemUUID: systemUUID ?? node.status.nodeInfo?.systemUUID,
        providerID: node.spec.providerID,
        addresses: internalAddresses(node.status.addresses),
      },
      deadlineMs: READ_DEADLINE_MS,
      signal,
      parametersOf: (each) => planner.parametersFor(name, each),
    });
    const device = `${writtenName(method)} (${method.device}${method.plug === '' ? '' : ` ${method.plug}`})`;
    if (answer?.state !== 'off') {
      const found = answer === undefined ? 'could not be asked now' : (answer.error ?? `reads ${answer.state ?? 'nothing'}`);
      return { kind: 'unproven', waitsFor: `its kubelet is silent, and ${device} ${found}, not off` };
    }
    reads.push(device);
  }
  return { kind: 'reads-off', reads: `its kubelet is silent, and off is what ${reads.join(', ')} reads` };
}
