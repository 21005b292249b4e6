// On a real API server: what a node's own credential can write by what config/node-daemon installs. Each attempt at more is refused, and the test says with which words.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { call, CAN_BE_GUARDED, GuardedPlane, NAMESPACE, NO_DAEMONS, UNKNOWN_DAEMON } from './guarded-plane.ts';
import type { Answer } from './guarded-plane.ts';

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const ATTESTATION = 'nodefence.ha.k8s.io/attestation';
const GRANTS_ENDED = 'nodefence.ha.k8s.io/grants-ended';
const PEERS = 'nodefence.ha.k8s.io/peers';
const HA = '/apis/ha.k8s.io/v1';

function lease(name: string, annotations: Readonly<Record<string, string>>): object {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, annotations }, spec: { holderIdentity: name } };
}

function patched(annotations: Readonly<Record<string, string | null>>): object {
  return { metadata: { annotations }, spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } };
}

const CREDENTIALS = ['a token that is bound to the Node, for systemd', 'a token that is bound to a pod of the DaemonSet'] as const;

describe.runIf(CAN_BE_GUARDED)('a node on a real API server (needs a real control plane)', { timeout: 60_000 }, () => {
  let plane: GuardedPlane;
  let admin: HttpsTransport;
  const as = new Map<string, HttpsTransport>();

  beforeAll(async () => {
    plane = await GuardedPlane.start(['crd', 'node-daemon'], [UNKNOWN_DAEMON, ...NO_DAEMONS]);
    ({ admin } = plane);
    await plane.made(LEASES, lease('nodefence-controller', {}));
    await plane.made(LEASES, lease('nodefence-node-worker-2', { [ATTESTATION]: '{}' }));
    await plane.made(`/api/v1/namespaces/${NAMESPACE}/configmaps`, { metadata: { name: 'nodefence-controllers' }, data: { addresses: '' } });
    await plane.made(`/api/v1/namespaces/${NAMESPACE}/secrets`, {
      metadata: { name: 'nodefence-controllers-exchange-key' },
      stringData: { key: 'x' },
    });
    as.set(CREDENTIALS[0], plane.as(await plane.tokenFor('Node', 'worker-1')));
    as.set(CREDENTIALS[1], plane.as(await plane.tokenFor('Pod', 'worker-1')));
    as.set('unbound', plane.as(await plane.tokenFor()));
    const other = `${LEASES}/nodefence-node-worker-2`;
    const probe = async (transport: HttpsTransport): Promise<Answer> => call(transport, 'PATCH', other, patched({ [ATTESTATION]: 'probe' }));
    await plane.until(async () => {
      const answers = await Promise.all([...as.values()].map(async (transport) => probe(transport)));
      return answers.every(({ body }) => body.message?.includes('nodefence-node') === true);
    }, 'the shipped policy takes no effect');
  }, 150_000);

  afterAll(async () => plane.stop());

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

    it('takes back what it attested', async () => {
      expect(await call(node(), 'PATCH', `${LEASES}/${own}`, patched({ [ATTESTATION]: null }))).toMatchObject({ status: 200 });
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
      [
        'have its Lease deleted with another object',
        'changes no finalizers and no owners',
        async () => {
          const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }];
          return call(node(), 'PATCH', `${LEASES}/${own}`, { metadata: { ownerReferences } });
        },
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
        async () => call(node(), 'PATCH', `/api/v1/namespaces/${NAMESPACE}/configmaps/nodefence-controllers`, { data: { addresses: '192.0.2.1:1' } }),
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

  it.each(['bound to no pod', 'known by its name alone'])('a token of the account that is %s attests nothing', async (what) => {
    const transport = what === 'bound to no pod' ? (as.get('unbound') ?? admin) : plane.as(UNKNOWN_DAEMON.token);
    const { status, body } = await call(transport, 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ [ATTESTATION]: 'x' }));
    expect({ status, message: body.message }).toEqual({
      status: 403,
      message: expect.stringContaining('must be bound to that Node, or to a pod on it') as string,
    });
  });

  it.each(NO_DAEMONS)('another account that may write Leases writes them: $name', async ({ token }) => {
    expect(await call(plane.as(token), 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ x: 'y' }))).toMatchObject({ status: 200 });
  });

  it("a kubelet's own credential attests nothing, and keeps its own Leases", async () => {
    const { kubelet } = plane;
    const { status, body } = await call(kubelet, 'PATCH', `${LEASES}/nodefence-node-worker-1`, patched({ [ATTESTATION]: 'x' }));
    expect({ status, message: body.message }).toEqual({ status: 403, message: expect.stringContaining('can only access leases in the') as string });
    const own = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    expect(await call(kubelet, 'POST', own, lease('worker-1', {}))).toMatchObject({ status: 201 });
  });

  it('leaves the controllers what is theirs', async () => {
    expect(await call(admin, 'PATCH', `${LEASES}/nodefence-node-worker-2`, patched({ [PEERS]: '{}' }))).toMatchObject({ status: 200 });
  });
});
