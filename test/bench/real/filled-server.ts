import { X509Certificate } from 'node:crypto';
import { ApiClient } from '../../../src/kube/client.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { NAMESPACE } from '../../../src/manifests/access.ts';
import { GROUP, NODE_LEASE_NAMESPACE, VERSION } from '../../../src/ports/resources.ts';
import { install } from '../../../src/drill/run/installation.ts';
import { RealServer } from '../../integration/real-server.ts';
import { CONTROLLER_USER } from '../../scenarios/witness.ts';
import { EtcdWriter } from './etcd-writer.ts';
import { startFarm } from '../agents/farm.ts';
import type { Farm } from '../agents/farm.ts';
import { bmcOf, configuration, LEASE, microTime, NODE, nodeStatus, POD, reportStatus } from './samples.ts';

const CALL_MS = 30_000;
const CHANGES_PER_SECOND = 150;
const CHANGED_EVERY = 5;
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const LEASES_PATH = `/apis/coordination.k8s.io/v1/namespaces/${NODE_LEASE_NAMESPACE}/leases`;
const PODS_PATH = '/api/v1/namespaces/default/pods';
const REPORTS_PATH = `/apis/${GROUP}/${VERSION}/nodefencereports`;

type Copied = KubeObject & Record<string, unknown>;

/** A real API server with many objects in it and nobody who acts, and a BMC that answers for each of the nodes. */
export class FilledServer {
  readonly server: RealServer;
  readonly nodes: number;
  readonly pods: number;
  readonly #transport: ApiTransport;
  readonly #etcd: EtcdWriter;
  readonly #bmcs: Farm;
  #samples: { node: Copied; lease: Copied; pod: Copied } | undefined;

  private constructor(server: RealServer, bmcs: Farm, nodes: number, pods: number) {
    this.#bmcs = bmcs;
    this.server = server;
    this.nodes = nodes;
    this.pods = pods;
    this.#transport = server.transport('operator');
    this.#etcd = new EtcdWriter(server.plane.etcdUrl);
  }

  static async start(nodes: number, pods: number): Promise<FilledServer> {
    const bmcs = await startFarm({ protocol: 'redfish', count: 1, isEverywhere: true });
    const filled = new FilledServer(await RealServer.start({ isAlone: true, people: [CONTROLLER_USER] }), bmcs, nodes, pods);
    try {
      await install({ transport: filled.#transport, cluster: new ApiClient({ transport: filled.#transport }) });
      await filled.server.bindController();
      await filled.#fill();
      return filled;
    } catch (error) {
      await filled.end();
      throw error;
    }
  }

  /** As a kubelet renews its Lease. */
  async renew(number: number): Promise<void> {
    await this.#send('PATCH', `${LEASES_PATH}/${nameOf(number)}`, { spec: { renewTime: microTime() } }, MERGE);
  }

  /** As a kubelet reports. */
  async report(number: number): Promise<void> {
    await this.#send('PATCH', `/api/v1/nodes/${nameOf(number)}/status`, { status: nodeStatus(number) }, STRATEGIC);
  }

  /** A change of every fifth Node and Pod; returns how many. Faster, and no Lease is renewed any more on two busy cores: a leader would end. */
  changeSome(round: string): Promise<number> {
    return this.#etcd.putAll(this.#entries(round, CHANGED_EVERY), CHANGES_PER_SECOND);
  }

  /** As the controller leaves them some minutes after its installation. */
  async fillReports(): Promise<void> {
    const report = await this.#send('POST', REPORTS_PATH, {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: 'NodeFenceReport',
      metadata: { name: 'sample' },
    });
    await this.#send('DELETE', `${REPORTS_PATH}/sample`);
    const { ipport = '', certificate = '' } = this.#bmcs.devices[0] ?? {};
    const bmc = { port: ipport, certificateExpiresAt: new X509Certificate(certificate).validToDate.toISOString() };
    const entries = Array.from({ length: this.nodes }, (_unused, number): [string, Copied] => {
      const [name, uid] = [nameOf(number), `40000000-0000-4000-8000-${suffix(number)}`];
      return [`/registry/${GROUP}/nodefencereports/${name}`, { ...named(report, name, uid), status: reportStatus(number, nodeUidOf(number), bmc) }];
    });
    await this.#etcd.putAll(entries);
  }

  async end(): Promise<void> {
    this.#etcd.close();
    await this.#bmcs.close();
    await this.server.end();
  }

  async #fill(): Promise<void> {
    for (const object of configuration(this.#bmcs.devices[0] ?? {}))
      await this.#send('POST', `/api/v1/namespaces/${NAMESPACE}/${String(object.kind).toLowerCase()}s`, object);
    await this.#send('POST', '/api/v1/nodes', NODE);
    const node = await this.#send('PATCH', '/api/v1/nodes/sample/status', { status: nodeStatus(0) }, STRATEGIC);
    const lease = await this.#send('POST', LEASES_PATH, LEASE);
    const pod = await this.#send('POST', PODS_PATH, POD);
    this.#samples = { node, lease, pod };
    await this.#etcd.putAll(this.#entries(''));
    await this.#send('DELETE', '/api/v1/nodes/sample');
    await this.#send('DELETE', `${LEASES_PATH}/sample`);
    await this.#send('DELETE', `${PODS_PATH}/sample`, { gracePeriodSeconds: 0 });
  }

  *#entries(round: string, every = 1): Generator<[string, Copied]> {
    if (this.#samples === undefined) throw new Error('the server has not been filled');
    const { node, lease, pod } = this.#samples;
    for (let number = 0; number < this.nodes; number += every) {
      const name = nameOf(number);
      const labels = {
        ...node.metadata.labels,
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `z${number % 3}`,
        'example.com/bmc': bmcOf(number),
        round,
      };
      yield [`/registry/minions/${name}`, { ...named(node, name, nodeUidOf(number), { labels }), status: nodeStatus(number) }];
      if (every > 1) continue;
      const spec = { ...(lease['spec'] as object), holderIdentity: name, renewTime: microTime() };
      yield [`/registry/leases/${NODE_LEASE_NAMESPACE}/${name}`, { ...named(lease, name, `20000000-0000-4000-8000-${suffix(number)}`), spec }];
    }
    for (let number = 0; number < this.pods; number += every) {
      const name = `app-7d4f8-${number.toString(36)}`;
      const labels = { ...pod.metadata.labels, app: `a${number % 100}`, round };
      const spec = { ...(pod['spec'] as object), nodeName: nameOf(number % this.nodes) };
      yield [`/registry/pods/default/${name}`, { ...named(pod, name, `30000000-0000-4000-8000-${suffix(number)}`, { labels }), spec }];
    }
  }

  async #send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, contentType = 'application/json'): Promise<Copied> {
    const response = await this.#transport.request({ method, path, ...(body === undefined ? {} : { body }), contentType, deadlineMs: CALL_MS });
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body as Copied;
  }
}

function named(sample: Copied, name: string, uid: string, more: object = {}): Copied {
  const { resourceVersion: _stored, ...metadata } = sample.metadata;
  return { ...sample, metadata: { ...metadata, name, uid, ...more } };
}

function nodeUidOf(number: number): string {
  return `10000000-0000-4000-8000-${suffix(number)}`;
}

function nameOf(number: number): string {
  return `n${number}`;
}

function suffix(number: number): string {
  return String(number).padStart(12, '0');
}
