import type { NodeFenceAcknowledgement } from '../ports/resources.ts';
import type { ApiAction, History } from './history.ts';
import type { ObjectState } from './object-states.ts';

const ACKNOWLEDGEMENTS = 'nodefenceacknowledgements.ha.k8s.io';
const MAX_AGE_MS = 900_000;

/** The person's word that a release rests on, as the audit shows it. */
export interface Word {
  /** Where the controller wrote that it counts. */
  acceptedPosition: number;
  /** What must hold of it (P1), and the complaint otherwise. */
  checks: readonly (readonly [holds: boolean, why: string])[];
}

/** The acknowledgement that the fence's newest standing evidence names; `undefined` when the release rests on something else. */
export function wordBehind(history: History, release: ApiAction): Word | undefined {
  const fence = history.fenceOf(release.node, release.position);
  const status = fence?.statuses.before(release.position);
  const proof = status?.evidence.findLast((item) => item.voidedAt === undefined);
  if (fence === undefined || status === undefined || proof?.kind !== 'ack') return undefined;
  const states = [...history.objects.every(ACKNOWLEDGEMENTS)].flatMap(([, timeline]) => timeline.entries);
  const accepted = states.findLast(
    ({ position, value }) => position < release.position && stateOf(value) === 'accepted' && speaksOf(value, release.node),
  );
  const created = states.find(({ value }) => value.event.verb === 'create' && uidOf(value) !== undefined && uidOf(value) === uidOf(accepted?.value));
  const word = accepted?.value.object as NodeFenceAcknowledgement | undefined;
  const from = created?.position ?? release.position;
  const shown = new Map<string, 'on' | 'off'>();
  for (const { position, event } of history.deviceEvents) {
    const isSince = event.node === release.node && event.storage === undefined && position > from && position < release.position;
    if (isSince && (event.shown === 'on' || event.shown === 'off')) shown.set(`${event.device} ${event.plug}`, event.shown);
  }
  const isAlive = [...shown.values()].includes('on');
  return {
    acceptedPosition: accepted?.position ?? release.position,
    checks: [
      [accepted !== undefined, 'no acknowledgement had been accepted'],
      [created !== undefined && !history.isOurs(created.value.event), 'its acknowledgement was not made by a person'],
      [word?.spec.nodeFenceUID === fence.uid && word.spec.incident === status.incident, 'its acknowledgement speaks of another failure'],
      [
        word?.spec.bootID === undefined ||
          word.spec.bootID === history.node(release.node, accepted?.position ?? release.position)?.status.nodeInfo?.bootID,
        'its acknowledgement speaks of another boot',
      ],
      [created !== undefined && (accepted?.at ?? 0) - created.at <= MAX_AGE_MS, 'its acknowledgement was older than 15 minutes when it was used'],
      [!isAlive, `a device of ${release.node} read on last, after the person's word`],
    ],
  };
}

function stateOf({ object }: ObjectState): string | undefined {
  return (object as NodeFenceAcknowledgement | undefined)?.status?.state;
}

function speaksOf({ object }: ObjectState, node: string): boolean {
  return (object as NodeFenceAcknowledgement | undefined)?.spec.node === node;
}

function uidOf(state: ObjectState | undefined): string | undefined {
  return state?.object?.metadata.uid;
}
