import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testClock, testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { Cluster } from '../../src/ports/cluster.ts';

/** An API server in this process with the shipped kinds installed, and an administrator's access to it. */
export async function installedCluster(): Promise<Cluster> {
  const users = [{ name: 'admin', groups: ['system:masters'] }];
  const server = new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac' });
  const transport = inProcessTransport(server, 'admin');
  const cluster = new ApiClient({ transport });
  await install({ transport, cluster });
  return cluster;
}

/** The same cluster with some calls in other hands. */
export function bent(cluster: Cluster, changes: Partial<Cluster>): Cluster {
  return {
    get: (...given) => cluster.get(...given),
    list: (...given) => cluster.list(...given),
    create: (...given) => cluster.create(...given),
    replace: (...given) => cluster.replace(...given),
    replaceStatus: (...given) => cluster.replaceStatus(...given),
    mergePatch: (...given) => cluster.mergePatch(...given),
    remove: (...given) => cluster.remove(...given),
    evict: (...given) => cluster.evict(...given),
    ...changes,
  };
}
