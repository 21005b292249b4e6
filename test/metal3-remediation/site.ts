import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { ManualClock } from '../../src/runtime/manual-clock.ts';

export const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';

export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export function rights(kind: string): Resource {
  const namespaced = kind === 'Role' || kind === 'RoleBinding';
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced };
}

/** One API server; the controller comes as its service account, with the rights that are shipped. */
export class Site {
  readonly operator: Cluster;
  readonly transport: ApiTransport;
  readonly controllers: ApiTransport;
  /** What everybody has asked of it. */
  readonly trace: ApiEvent[] = [];
  /** Of Kubernetes, 1.x. */
  minor = 27;
  isReachable = true;
  /** What the controller may not do now, whatever its roles say. */
  denies: (request: ApiRequest) => boolean = () => false;

  constructor(clock: ManualClock) {
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER, groups: ['system:serviceaccounts', 'system:serviceaccounts:nodefence-system', 'system:authenticated'] },
    ];
    const audit = (event: ApiEvent): void => void this.trace.push(event);
    const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac', audit });
    this.transport = inProcessTransport(server, 'admin');
    this.controllers = inProcessTransport(server, CONTROLLER);
    this.operator = new ApiClient({ transport: this.transport });
  }
}
