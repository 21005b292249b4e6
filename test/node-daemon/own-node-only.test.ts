// On a real API server: what a node's own credential can write by what config/node-daemon installs. Each attempt at more is refused, and the test says with which words.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { findAssets, minorOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_PACE } from '../../src/testbed/control-plane/commands.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { connect } from '../connection.ts';

const assets = findAssets(process.env, ['etcd', 'kube-apiserver']);
/** ValidatingAdmissionPolicy is v1 from here on. */
const GUARDED_SINCE = 30;
const NAMESPACE = 'nodefence-system';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const ATTESTATION = 'nodefence.ha.k8s.io/attestation';
const GRANTS_ENDED = 'nodefence.ha.k8s.io/grants-ended';
const PEERS = 'nodefence.ha.k8s.io/peers';
const HA = '/apis/ha.k8s.io/v1';
const MERGE = 'application/merge-patch+json';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
interface Answer {
  status: number;
  body: { message?: string; metadata?: { name: string; uid: string; annotations?: Record<string, string> }; status?: { token?: string } };
}

async function call(transport: HttpsTransport, method: Method, path: string, body?: object): Promise<Answer> {
  const contentType = method === 'PATCH' ? { contentType: MERGE } : {};
  return (await transport.request({ method, path, deadlineMs: 10_000, ...(body === undefined ? {} : { body }), ...contentType })) as Answer;
}

function lease(name: string, annotations: Readonly<Record<string, string>>): object {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, annotations }, spec: { holderIdentity: name } };
}

function patched(annotations: Readonly<Record<string, string | null>>): object {
  return { metadata: { annotations }, spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } };
}

function podOn(node: string): object {
  const spec = { nodeName: node, serviceAccountName: 'nodefence-node', containers: [{ name: 'daemon', image: 'nodefence' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `daemon-${node}`, namespace: NAMESPACE }, spec };
}

const CREDENTIALS = ['a token that is bound to the Node, for systemd', 'a token that is bound to a pod of the DaemonSet'] as const;

describe.runIf(assets !== undefined && minorOf(assets) >= GUARDED_SINCE)(
  'a node on a real API server (needs a real control plane)',
  { timeout: 60_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'node-daemon-'));
    const tokens = { admin: randomUUID(), kubelet: randomUUID() };
    let plane: ControlPlane;
    let admin: HttpsTransport;
    const as = new Map<string, HttpsTransport>();

    beforeAll(async () => {
      const users = [
        { name: 'admin', groups: ['system:masters'], token: tokens.admin },
        { name: 'system:node:worker-1', groups: ['system:nodes'], token: tokens.kubelet },
      ];
      plane = await ControlPlane.start({ assets: assets ?? '', folder, users, pace: SHORT_PACE, guardsNodes: true });
      admin = connect({ server: plane.url, caPem: plane.caPem, token: tokens.admin });
      await made('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
      await sendShipped(admin, ['crd', 'node-daemon']);
      for (const name of ['worker-1', 'worker-2']) await made('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      await made(LEASES, lease('nodefence-controller', {}));
      await made(LEASES, lease('nodefence-node-worker-2', { [ATTESTATION]: '{}' }));
      await made(`/api/v1/namespaces/${NAMESPACE}/configmaps`, { metadata: { name: 'nodefence-controllers' }, data: { addresses: '' } });
      await made(`/api/v1/namespaces/${NAMESPACE}/secrets`, { metadata: { name: 'nodefence-controllers-exchange-key' }, stringData: { key: 'x' } });
      as.set(CREDENTIALS[0], connect({ server: plane.url, caPem: plane.caPem, token: await tokenFor('Node', 'worker-1') }));
      as.set(CREDENTIALS[1], connect({ server: plane.url, caPem: plane.caPem, token: await tokenFor('Pod', 'worker-1') }));
      as.set('unbound', connect({ server: plane.url, caPem: plane.caPem, token: await tokenFor() }));
      await untilGuarded();
    }, 150_000);

    afterAll(async () => {
      await plane.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    async function made(path: string, object: object): Promise<Answer> {
      const answer = await call(admin, 'POST', path, object);
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body.message ?? ''}`);
      return answer;
    }

    /** A token as the kubelet mounts it into the daemon's pod, or as an admin asks for one for systemd; without a node one that any program may have asked for. */
    async function tokenFor(kind?: 'Node' | 'Pod', node = ''): Promise<string> {
      if (kind === 'Pod') await made(`/api/v1/namespaces/${NAMESPACE}/pods`, podOn(node));
      const found = kind === 'Pod' ? `/api/v1/namespaces/${NAMESPACE}/pods/daemon-${node}` : `/api/v1/nodes/${node}`;
      const { name, uid } = (await call(admin, 'GET', found)).body.metadata ?? { name: '', uid: '' };
      const bound = kind === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind, name, uid } };
      const spec = { audiences: ['https://control-plane.drill'], expirationSeconds: 3_600, ...bound };
      const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/nodefence-node/token`;
      const { body } = await made(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
      return body.status?.token ?? '';
    }

    /** Roles and policies take effect a moment after they are written. */
    async function untilGuarded(): Promise<void> {
      const other = `${LEASES}/nodefence-node-worker-2`;
      for (let tries = 0; tries < 200; tries += 1) {
        const answers = await Promise.all(
          [...as.values()].map(async (transport) => call(transport, 'PATCH', other, patched({ [ATTESTATION]: 'probe' }))),
        );
        if (answers.every(({ body }) => body.message?.includes('nodefence-node') === true)) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error('the shipped policy takes no effect');
    }

    describe.each(CREDENTIALS)('by %s', (credential) => {
      const own = 'nodefence-node-worker-1';
      const node = (): HttpsTransport => as.get(credential) ?? admin;

      beforeAll(async () => {
        await call(admin, 'DELETE', `${LEASES}/${own}`);
      });

      it('writes the attestation of its own node, reads it, and reads where the controllers are', async () => {
        expect(await call(node(), 'POST', LEASES, lease(own, { [ATTESTATION]: 'first' }))).toMatchObject({ status: 201 });
        expect(await call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [ATTESTATION]: 'second' }))).toMatchObject({ status: 200 });
        expect(await call(node(), 'GET', `${LEASES}/${own}`)).toMatchObject({
          status: 200,
          body: { metadata: { annotations: { [ATTESTATION]: 'second' } } },
        });
        expect(await call(node(), 'GET', `/api/v1/namespaces/${NAMESPACE}/configmaps/nodefence-controllers`)).toMatchObject({ status: 200 });
      });

      it('goes on writing it beside what the controller wrote there', async () => {
        await call(admin, 'PATCH', `${LEASES}/${own}`, patched({ [PEERS]: '{"peers":[]}', [GRANTS_ENDED]: '{}' }));
        expect(await call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [ATTESTATION]: 'third' }))).toMatchObject({ status: 200 });
      });

      const OWN_NODE = 'writes the attestation of its own node only';
      const CONTROLLERS = "peers and ended grants are the controller's";
      const RBAC = 'is forbidden: User';
      it.each<[string, string, () => Promise<Answer>]>([
        [
          'attest for another node',
          OWN_NODE,
          async () => call(node(), 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ [ATTESTATION]: 'forged' })),
        ],
        [
          'be the first to attest for another node',
          OWN_NODE,
          async () => call(node(), 'POST', LEASES, lease('nodefence-node-worker-3', { [ATTESTATION]: '{}' })),
        ],
        [
          "take the controllers' Lease",
          OWN_NODE,
          async () => call(node(), 'PATCH', `${LEASES}/nodefence-controller`, { spec: { holderIdentity: 'worker-1' } }),
        ],
        ['choose its own peers', CONTROLLERS, async () => call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [PEERS]: '{"peers":["x"]}' }))],
        ['take back that its grants ended', CONTROLLERS, async () => call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [GRANTS_ENDED]: null }))],
        [
          'say that its peers have promised',
          CONTROLLERS,
          async () => call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [GRANTS_ENDED]: '{"promised":["worker-2"]}' })),
        ],
        [
          'keep its Lease from being deleted',
          'changes no finalizers',
          async () => call(node(), 'PATCH', `${LEASES}/${own}`, { metadata: { finalizers: ['example.com/kept'] } }),
        ],
        ['delete its attestation', RBAC, async () => call(node(), 'DELETE', `${LEASES}/${own}`)],
        [
          "read the controllers' private key",
          'forbidden',
          async () => call(node(), 'GET', `/api/v1/namespaces/${NAMESPACE}/secrets/nodefence-controllers-exchange-key`),
        ],
        [
          'say where the controllers are',
          RBAC,
          async () =>
            call(node(), 'PATCH', `/api/v1/namespaces/${NAMESPACE}/configmaps/nodefence-controllers`, { data: { addresses: '192.0.2.1:1' } }),
        ],
        [
          'annotate another node',
          'forbidden',
          async () => call(node(), 'PATCH', '/api/v1/nodes/worker-2', { metadata: { annotations: { fence: 'never' } } }),
        ],
        [
          'fence another node',
          RBAC,
          async () =>
            call(node(), 'POST', `${HA}/nodefences`, { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: 'node-fence-worker-2' } }),
        ],
        [
          'acknowledge for another node',
          RBAC,
          async () =>
            call(node(), 'POST', `${HA}/nodefenceacknowledgements`, {
              apiVersion: 'ha.k8s.io/v1',
              kind: 'NodeFenceAcknowledgement',
              metadata: { name: 'x' },
            }),
        ],
        [
          'stop the fencing',
          RBAC,
          async () => call(node(), 'POST', `${HA}/nodefencestops`, { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceStop', metadata: { name: 'x' } }),
        ],
      ])('cannot %s: %s', async (_, words, attempt) => {
        const { status, body } = await attempt();
        expect({ status, message: body.message }).toEqual({ status: 403, message: expect.stringContaining(words) as string });
      });
    });

    it('a token of the account that is bound to no pod attests nothing', async () => {
      const { status, body } = await call(as.get('unbound') ?? admin, 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ [ATTESTATION]: 'x' }));
      expect({ status, message: body.message }).toEqual({
        status: 403,
        message: expect.stringContaining('must be bound to that Node, or to a pod on it') as string,
      });
    });

    it("a kubelet's own credential attests nothing, and keeps its own Leases", async () => {
      const kubelet = connect({ server: plane.url, caPem: plane.caPem, token: tokens.kubelet });
      const { status, body } = await call(kubelet, 'PATCH', `${LEASES}/nodefence-node-worker-1`, patched({ [ATTESTATION]: 'x' }));
      expect({ status, message: body.message }).toEqual({ status: 403, message: expect.stringContaining('can only access leases in the') as string });
      const own = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
      expect(await call(kubelet, 'POST', own, lease('worker-1', {}))).toMatchObject({ status: 201 });
    });

    it('leaves the controllers what is theirs', async () => {
      expect(await call(admin, 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ [PEERS]: '{}' }))).toMatchObject({ status: 200 });
    });
  },
);
