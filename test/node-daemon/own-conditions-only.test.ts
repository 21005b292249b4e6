// On a real API server: which conditions a node's daemon can post by what config/node-daemon-conditions installs, and what of its Node and of others it cannot touch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { OwnNodeConditions } from '../../src/node/shell/node-conditions.ts';
import { call, CAN_BE_GUARDED, GuardedPlane, NAMESPACE, NO_DAEMONS, UNKNOWN_DAEMON } from './guarded-plane.ts';
import type { Answer } from './guarded-plane.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const OWN = '/api/v1/nodes/worker-1';
const OTHER = '/api/v1/nodes/worker-2';
const TIME = '2026-01-01T00:00:00Z';

function condition(
  type: string,
  status = 'True',
  at = TIME,
): { type: string; status: string; reason: string; message: string; lastHeartbeatTime: string; lastTransitionTime: string } {
  return { type, status, reason: 'KdumpArmed', message: 'as it is', lastHeartbeatTime: at, lastTransitionTime: TIME };
}

const statusOf = (...conditions: readonly object[]): object => ({ status: { conditions } });

describe.runIf(CAN_BE_GUARDED)("a node's daemon on a real API server (needs a real control plane)", { timeout: 60_000 }, () => {
  let plane: GuardedPlane;
  let node: HttpsTransport;
  let unbound: HttpsTransport;
  const patch = async (path: string, body: object, as = node): Promise<Answer> => call(as, 'PATCH', path, body, STRATEGIC);

  beforeAll(async () => {
    plane = await GuardedPlane.start(['crd', 'node-daemon', 'node-daemon-conditions'], [UNKNOWN_DAEMON, ...NO_DAEMONS]);
    node = plane.as(await plane.tokenFor('Pod', 'worker-1'));
    unbound = plane.as(await plane.tokenFor());
    const kubeletStatus = {
      capacity: { cpu: '4' },
      addresses: [{ type: 'InternalIP', address: '192.0.2.7' }],
      nodeInfo: { bootID: 'boot-1' },
      images: [{ names: ['registry/a:1'], sizeBytes: 7 }],
    };
    for (const path of [OWN, OTHER])
      await patch(
        `${path}/status`,
        { status: { ...kubeletStatus, conditions: [condition('Ready'), condition('DiskPressure', 'False')] } },
        plane.admin,
      );
    await plane.until(
      async () => (await patch(`${OTHER}/status`, {})).body.message?.includes('own Node only') === true,
      'the shipped policy takes no effect',
    );
    await plane.until(async () => (await patch(`${OWN}/status`, {})).status === 200, 'the shipped rights take no effect');
  }, 150_000);

  afterAll(async () => plane.stop());

  const conditionsOf = async (path: string): Promise<string[]> =>
    ((await call(plane.admin, 'GET', path)).body.status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`).sort();

  it('posts its conditions, reads which stand there by the same right, and touches no other', async () => {
    const own = new OwnNodeConditions(node, 'worker-1', 10_000);
    await own.post([condition('KdumpNotArmed'), condition('SharedStorageUnreachable', 'False')]);
    expect(await conditionsOf(OWN)).toEqual(['DiskPressure=False', 'KdumpNotArmed=True', 'Ready=True', 'SharedStorageUnreachable=False']);
    await own.post([condition('KdumpNotArmed', 'False', '2026-01-01T00:05:00Z')]);
    const standing = await own.standing();
    expect(standing).toHaveLength(4);
    expect(standing).toContainEqual({
      type: 'KdumpNotArmed',
      status: 'False',
      lastHeartbeatTime: '2026-01-01T00:05:00Z',
      lastTransitionTime: TIME,
      reason: 'KdumpArmed',
    });
  });

  it('says what is missing where its rights are', async () => {
    const other = new OwnNodeConditions(node, 'worker-2', 10_000);
    await expect(other.standing()).rejects.toThrow(/own Node only.*\(is config\/node-daemon-conditions installed\?\)/);
  });

  const ONLY_THESE = 'writes conditions SharedStorageUnreachable, FenceDeviceUnreachable, KdumpNotArmed, HardwareErrorRate, WatchdogNotArmed only';
  const NOTHING_ELSE = 'changes nothing of the status but conditions';
  const NO_LABELS = 'changes no labels, annotations, finalizers and owners';
  const OWN_NODE = 'writes the status of its own Node only';
  it.each<[string, string, () => Promise<Answer>]>([
    ['post a condition of another node', OWN_NODE, async () => patch(`${OTHER}/status`, statusOf(condition('KdumpNotArmed')))],
    ['say that another node is not ready', OWN_NODE, async () => patch(`${OTHER}/status`, statusOf(condition('Ready', 'False')))],
    ['post by a token that is bound to no node', OWN_NODE, async () => patch(`${OWN}/status`, statusOf(condition('KdumpNotArmed')), unbound)],
    [
      'post by a token of which nothing is known',
      OWN_NODE,
      async () => patch(`${OWN}/status`, statusOf(condition('KdumpNotArmed')), plane.as(UNKNOWN_DAEMON.token)),
    ],
    ['say that its own node is ready', ONLY_THESE, async () => patch(`${OWN}/status`, statusOf(condition('Ready', 'Unknown')))],
    ['post a condition of another type', ONLY_THESE, async () => patch(`${OWN}/status`, statusOf(condition('Fenced')))],
    ['remove a condition of somebody else', ONLY_THESE, async () => patch(`${OWN}/status`, statusOf({ $patch: 'delete', type: 'DiskPressure' }))],
    [
      'hide a condition of somebody else among its own',
      ONLY_THESE,
      async () => patch(`${OWN}/status`, statusOf(condition('KdumpNotArmed'), condition('Ready', 'False'))),
    ],
    [
      'change the addresses',
      NOTHING_ELSE,
      async () => patch(`${OWN}/status`, { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.8' }] } }),
    ],
    ['change the capacity', NOTHING_ELSE, async () => patch(`${OWN}/status`, { status: { capacity: { cpu: '400' } } })],
    ['change the boot ID', NOTHING_ELSE, async () => patch(`${OWN}/status`, { status: { nodeInfo: { bootID: 'boot-2' } } })],
    ['say which volumes are attached', NOTHING_ELSE, async () => patch(`${OWN}/status`, { status: { volumesInUse: ['x'] } })],
    ['hide which images it has', NOTHING_ELSE, async () => patch(`${OWN}/status`, { status: { images: null } })],
    ['label its node', NO_LABELS, async () => patch(`${OWN}/status`, { metadata: { labels: { zone: 'x' } } })],
    ['annotate its node', NO_LABELS, async () => patch(`${OWN}/status`, { metadata: { annotations: { fence: 'never' } } })],
    [
      'have its node deleted with another object',
      NO_LABELS,
      async () => patch(`${OWN}/status`, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] } }),
    ],
    ['keep its node from being deleted', NO_LABELS, async () => patch(`${OWN}/status`, { metadata: { finalizers: ['example.com/kept'] } })],
    ['taint its node', 'is forbidden: User', async () => patch(OWN, { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } })],
    ['delete its node', 'is forbidden: User', async () => call(node, 'DELETE', OWN)],
    ['read another node', 'is forbidden: User', async () => call(node, 'GET', OTHER)],
  ])('cannot %s: %s', async (_, words, attempt) => {
    const { status, body } = await attempt();
    expect({ status, message: body.message }).toEqual({ status: 403, message: expect.stringContaining(words) as string });
  });

  it('takes its own conditions away again where nobody else has said anything', async () => {
    const standing = (await call(plane.admin, 'GET', OWN)).body.status?.conditions ?? [];
    expect(await patch(`${OWN}/status`, statusOf({ $patch: 'replace' }, condition('KdumpNotArmed')), plane.admin)).toMatchObject({ status: 200 });
    expect(await patch(`${OWN}/status`, statusOf({ $patch: 'delete', type: 'KdumpNotArmed' }))).toMatchObject({ status: 200 });
    expect(await conditionsOf(OWN)).toEqual([]);
    expect(await patch(`${OWN}/status`, statusOf(...standing), plane.admin)).toMatchObject({ status: 200 });
  });

  it('changes no spec by the way of the status', async () => {
    expect(await patch(`${OWN}/status`, { spec: { unschedulable: true } })).toMatchObject({ status: 200 });
    expect((await call(plane.admin, 'GET', OWN)).body).not.toMatchObject({ spec: { unschedulable: true } });
  });

  it.each(NO_DAEMONS)('leaves another account what it may: $name', async ({ token }) => {
    expect(await patch(`${OTHER}/status`, statusOf(condition('Mended')), plane.as(token))).toMatchObject({ status: 200 });
  });

  it('changes and deletes no Node where somebody gave its account the right to', async () => {
    const RBAC = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['patch', 'delete'] }];
    await plane.made(`${RBAC}/clusterroles`, { metadata: { name: 'too-much' }, rules });
    await plane.made(`${RBAC}/clusterrolebindings`, {
      metadata: { name: 'too-much' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'too-much' },
      subjects: [{ kind: 'ServiceAccount', name: 'nodefence-node', namespace: NAMESPACE }],
    });
    const attempts = [(): Promise<Answer> => patch(OWN, { spec: { unschedulable: true } }), (): Promise<Answer> => call(node, 'DELETE', OWN)];
    for (const attempt of attempts) {
      await plane.until(async () => (await attempt()).body.message?.includes('is forbidden: User') !== true, 'the role takes no effect');
      expect(await attempt()).toMatchObject({ status: 403, body: { message: expect.stringContaining(OWN_NODE) as string } });
    }
  });
});
