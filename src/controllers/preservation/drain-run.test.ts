import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Pod } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister } from '../fence/testing/bench.ts';
import { drainNode } from './drain-run.ts';

const NODE = { kind: 'Node' as const, name: 'a', uid: 'uid-a' };
const OPTIONS = { isForced: false, timeoutMs: 600_000, evictionRetriesMax: 5 };

function podOn(nodeName: string, uid: string): Pod {
  return { metadata: { name: 'web-0', namespace: 'default', uid }, spec: { nodeName } };
}

/** One pod by its name, as an API server holds it. */
class OnePod {
  standing: Pod | undefined = podOn('a', 'old');

  asCluster(): Cluster {
    const cluster: Pick<Cluster, 'list' | 'evict'> = {
      list: (_resource, options) => {
        const here = this.standing !== undefined && options?.fieldSelector === `spec.nodeName=${this.standing.spec.nodeName ?? ''}`;
        return Promise.resolve((here ? [this.standing] : []) as never);
      },
      evict: (_name, _namespace, { uid } = {}) => {
        if (uid !== undefined && uid !== this.standing?.metadata.uid) return Promise.reject(new ApiStatusError(409, 'Conflict', 'another uid'));
        this.standing = undefined;
        return Promise.resolve();
      },
    };
    return cluster as Cluster;
  }
}

async function drained(server: OnePod, beforeWrite: () => void): Promise<string | undefined> {
  const clock = new ManualClock();
  const mayWrite = (): boolean => {
    beforeWrite();
    return true;
  };
  const reach = { clock, cluster: server.asCluster(), pods: new FakeLister<Pod>(), mayWrite };
  const draining = drainNode(reach, { node: NODE, options: OPTIONS }, new AbortController().signal);
  await clock.advance(5_000);
  return draining;
}

describe('a gentle drain', () => {
  it('evicts the pod that it saw', async () => {
    const server = new OnePod();
    expect(await drained(server, () => undefined)).toBeUndefined();
    expect(server.standing).toBeUndefined();
  });

  it('leaves the one alone that came back under the same name on another node, and ends', async () => {
    const server = new OnePod();
    const successor = podOn('b', 'new');
    expect(await drained(server, () => (server.standing = successor))).toBeUndefined();
    expect(server.standing).toBe(successor);
  });
});
