import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { ObjectMeta } from '../../../src/ports/objects.ts';

/** What remedies write, as anybody reads it by the API. */
export const REPORTS = 'nodefencereports.ha.k8s.io';
export const FENCES = 'nodefences.ha.k8s.io';
export const JOBS = 'jobs.batch';
export const CORDON_MARK = 'nodefence.ha.k8s.io/cordoned-by-remedy';
const REQUESTER = 'RemedyConfiguration';

/** One entry of `status.remedies.positions`. */
export interface SeenPosition {
  threshold: string;
  episode: string;
  phase: string;
  attempt: number;
  serial?: number;
  cleans?: number;
  hasActed?: boolean;
  run?: { id: string; remedy: string; kind: string; of: string };
  message?: string;
}

export interface SeenFence {
  metadata: ObjectMeta;
  spec: { node: string; requestedBy?: { kind: string; uid: string } };
  status?: { state?: string; trigger?: { requestUID?: string }; hold?: object };
}

/** What a pod of a remedy is told, which names its run. */
export interface SeenJob {
  metadata: ObjectMeta;
  spec: { template: { spec: { containers: { env?: { name: string; value?: string }[] }[] } } };
  status?: { conditions?: { type: string; status: string }[] };
}

/** Pods are let go by it. */
export function isEvicting(position: SeenPosition): boolean {
  return position.cleans !== undefined || isEvictRun(position);
}

export function isEvictRun({ phase, run }: SeenPosition): boolean {
  return phase === 'running' && run?.kind === 'evict';
}

export function isWrite({ verb, status }: ApiEvent): boolean {
  return status < 300 && (verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete');
}

/** After a write of a report; `undefined`: it is none. */
export function positionsAfter(event: ApiEvent): { node: string; positions: readonly SeenPosition[] } | undefined {
  if (event.resource !== REPORTS || !isWrite(event)) return undefined;
  const report = event.object as { metadata?: ObjectMeta; status?: { remedies?: { positions?: SeenPosition[] } } } | undefined;
  const node = event.name ?? report?.metadata?.name ?? '';
  return { node, positions: event.verb === 'delete' ? [] : (report?.status?.remedies?.positions ?? []) };
}

/** Asked for by a remedy of this node, whose request may have been taken back by now. */
export function isOfRemedies({ spec, status }: SeenFence, episodes: ReadonlySet<string>): boolean {
  if (spec.requestedBy !== undefined) return spec.requestedBy.kind === REQUESTER;
  return episodeOf(status?.trigger?.requestUID, episodes) !== undefined;
}

export function isClaim({ spec }: SeenFence): boolean {
  return spec.requestedBy?.kind === REQUESTER;
}

/** Of the run, or of the release, with this id. */
export function episodeOf(id: string | undefined, episodes: Iterable<string>): string | undefined {
  for (const episode of episodes) if (id?.startsWith(`${episode}-`) === true) return episode;
  return undefined;
}

export function toldOf({ spec }: SeenJob, name: string): string {
  return spec.template.spec.containers[0]?.env?.find((entry) => entry.name === name)?.value ?? '';
}

export function hasEnded({ status }: SeenJob): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'));
}
