import { at, objectsAt, textAt, type ApiObject } from './json.ts';

/** Containers that are ready, of all: `1/1`. */
export function readyContainers(pod: ApiObject): string {
  const all = objectsAt(pod, 'spec', 'containers').length;
  const ready = objectsAt(pod, 'status', 'containerStatuses').filter((status) => status['ready'] === true).length;
  return `${String(ready)}/${String(all)}`;
}

/** The word that `kubectl get pods` shows as STATUS. */
export function podReason(pod: ApiObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  const waiting = objectsAt(pod, 'status', 'containerStatuses')
    .map((status) => textAt(status, 'state', 'waiting', 'reason') || textAt(status, 'state', 'terminated', 'reason'))
    .find((reason) => reason !== '');
  return waiting ?? (textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase'));
}

export function restarts(pod: ApiObject): string {
  const total = objectsAt(pod, 'status', 'containerStatuses').reduce((sum, status) => sum + Number(at(status, 'restartCount') ?? 0), 0);
  return String(total);
}
