import type { FastFacts, FastVerdict } from '../../../domain/node-daemon/fast-detection.ts';

/** Why, in words that stay the same for as long as the reason does. */
export function wordsOf(row: string, verdict: FastVerdict, since: string, { peers, silent, expected, isLeaseStale }: FastFacts): string {
  const reasons: Readonly<Record<string, string>> = {
    reached: `${peers.reachedBy.toSorted().slice(0, 3).join(', ')} still ${peers.reachedBy.length === 1 ? 'reaches' : 'reach'} it`,
    'many-silent': `${silent} of ${expected} nodes fell silent at once, so that it may be the controller's own network`,
    'peers-unsure': 'too few failure domains of its peers have said that it does not answer them',
    'reads-off': 'its peers do not reach it, and its devices read off',
    'lease-fresh': 'its peers do not reach it, but its kubelet has renewed its Lease lately',
    'lease-stale': 'its peers do not reach it, and its kubelet does not renew its Lease',
  };
  const is =
    verdict === 'failed' ? 'taken for failed' : verdict === 'held' ? 'not judged' : isLeaseStale ? 'suspected, its kubelet silent too' : 'suspected';
  return `No heartbeat since ${since}: ${is}: ${reasons[row] ?? row}.`;
}
