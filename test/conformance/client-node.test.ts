// What the field's own client library makes of a server: its types, its defaults, its discovery, its watch. Each sentence must hold for the embedded server and for a real one.
import {
  ApiException,
  AuthorizationV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { startEmbeddedServer } from './embedded-server.ts';
import { GROUP, NAMESPACE } from './fixtures.ts';
import { prepare } from './prepare.ts';
import { startRealServer } from './real-server.ts';
import type { RunningServer } from './running-server.ts';

const assets = findAssets(process.env, ['etcd', 'kube-apiserver']) ?? '';
const namespace = NAMESPACE.metadata.name;
const OBSERVED_DEADLINE_MS = 10_000;
const WATCHED = { labels: { watched: 'yes' } };

describe.each([
  { where: 'the embedded API server', start: startEmbeddedServer, isHere: true },
  { where: 'a real kube-apiserver (needs a real control plane)', start: () => startRealServer(assets), isHere: assets !== '' },
])('@kubernetes/client-node against $where', ({ start, isHere }) => {
  describe.runIf(isHere)('as the library', { timeout: 60_000 }, () => {
    let server: RunningServer;
    let config: KubeConfig;
    let core: CoreV1Api;

    beforeAll(async () => {
      server = await start();
      await prepare(server.target);
      config = configOf(server);
      core = config.makeApiClient(CoreV1Api);
    }, 150_000);

    afterAll(async () => {
      await server.stop();
    });

    it('reads the version, the served kinds and its own rights', async () => {
      expect(await config.makeApiClient(VersionApi).getCode()).toMatchObject({ major: '1', minor: expect.stringMatching(/^\d+$/) as string });
      const { resources } = await core.getAPIResources();
      expect(resources.find(({ name }) => name === 'nodes')).toMatchObject({ kind: 'Node', namespaced: false, shortNames: ['no'] });
      const review = { spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } } };
      const { status } = await config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body: review });
      expect(status?.allowed).toBe(true);
    });

    it('replaces only the version that it has read', async () => {
      const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'replaced' }, data: { key: 'first' } } });
      expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
      await core.replaceNamespacedConfigMap({ namespace, name: 'replaced', body: { ...made, data: { key: 'second' } } });
      const late = core.replaceNamespacedConfigMap({ namespace, name: 'replaced', body: { ...made, data: { key: 'third' } } });
      expect(await refusalOf(late)).toMatchObject({ code: 409, reason: 'Conflict' });
      expect((await core.readNamespacedConfigMap({ namespace, name: 'replaced' })).data).toEqual({ key: 'second' });
    });

    it('patches in each of the four ways', async () => {
      const name = 'patched';
      const taint = (key: string): object => ({ key, effect: 'NoSchedule' });
      await core.createNode({ body: { metadata: { name }, spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } } });
      const as = (strategy: PatchStrategy): ReturnType<typeof setHeaderOptions> => setHeaderOptions('Content-Type', strategy);
      const strategic = await core.patchNode({ name, body: { spec: { taints: [taint('b')] } } }, as(PatchStrategy.StrategicMergePatch));
      // Their list has no merge key: whoever patches it writes all of it.
      expect(strategic.spec?.taints?.map(({ key }) => key)).toEqual(['b']);
      const merged = await core.patchNode({ name, body: { spec: { taints: [taint('c')] } } }, as(PatchStrategy.MergePatch));
      expect(merged.spec?.taints?.map(({ key }) => key)).toEqual(['c']);
      const test = [
        { op: 'test', path: '/spec/taints/0/key', value: 'c' },
        { op: 'remove', path: '/spec/taints/0' },
      ];
      expect((await core.patchNode({ name, body: test }, as(PatchStrategy.JsonPatch))).spec?.taints ?? []).toEqual([]);
      const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { applied: 'yes' } } };
      const result = await core.patchNode({ name, body: applied, fieldManager: 'library' }, as(PatchStrategy.ServerSideApply));
      expect(result.metadata?.labels).toMatchObject({ applied: 'yes' });
      const other = { ...applied, metadata: { name, labels: { applied: 'no' } } };
      const conflict = core.patchNode({ name, body: other, fieldManager: 'another' }, as(PatchStrategy.ServerSideApply));
      expect(await refusalOf(conflict)).toMatchObject({ code: 409, reason: 'Conflict' });
    });

    it('pages through a list by its continue token', async () => {
      const names = ['page-1', 'page-2', 'page-3'];
      for (const name of names) await core.createNamespacedSecret({ namespace, body: { metadata: { name, labels: { paged: 'yes' } } } });
      const first = await core.listNamespacedSecret({ namespace, labelSelector: 'paged=yes', limit: 2 });
      expect(first.items.map(({ metadata }) => metadata?.name)).toEqual(names.slice(0, 2));
      const token = first.metadata?._continue ?? '';
      expect(token).not.toBe('');
      const rest = await core.listNamespacedSecret({ namespace, labelSelector: 'paged=yes', limit: 2, _continue: token });
      expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(names.slice(2));
      expect(rest.metadata?._continue ?? '').toBe('');
      expect(rest.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
    });

    it('keeps the microseconds of a Lease', async () => {
      const leases = config.makeApiClient(CoordinationV1Api);
      const at = new V1MicroTime('2026-01-02T03:04:05.678Z');
      await leases.createNamespacedLease({
        namespace,
        body: { metadata: { name: 'held' }, spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: at } },
      });
      const { body } = await server.target.request({
        method: 'GET',
        path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/held`,
        status: 200,
      });
      expect(body).toMatchObject({ spec: { renewTime: '2026-01-02T03:04:05.678000Z' } });
    });

    it('deletes what it means and nothing else: by uid, and only when no finalizer stands', async () => {
      const name = 'finalized';
      const body = { metadata: { name, finalizers: ['example.com/held'] } };
      const { metadata } = await core.createNamespacedConfigMap({ namespace, body });
      const wrong = core.deleteNamespacedConfigMap({ namespace, name, body: { preconditions: { uid: 'another' } } });
      expect(await refusalOf(wrong)).toMatchObject({ code: 409, reason: 'Conflict' });
      await core.deleteNamespacedConfigMap({ namespace, name, body: { preconditions: { uid: metadata?.uid ?? '' } } });
      expect((await core.readNamespacedConfigMap({ namespace, name })).metadata?.deletionTimestamp).toBeInstanceOf(Date);
      const release = [{ op: 'remove', path: '/metadata/finalizers' }];
      await core.patchNamespacedConfigMap({ namespace, name, body: release }, setHeaderOptions('Content-Type', PatchStrategy.JsonPatch));
      expect(await refusalOf(core.readNamespacedConfigMap({ namespace, name }))).toMatchObject({ code: 404, reason: 'NotFound' });
    });

    it('finds a custom kind by discovery, and writes its status apart from its spec', async () => {
      const objects = KubernetesObjectApi.makeApiClient(config);
      const widget = {
        apiVersion: `${GROUP}/v1`,
        kind: 'Widget',
        metadata: { name: 'found' },
        spec: { colour: 'red' },
        status: { phase: 'Ignored' },
      };
      const made = await objects.create<typeof widget>(widget);
      expect(made).toMatchObject({ spec: { colour: 'red', size: 3, kept: 'kept' } });
      expect(made.status).toBeUndefined();
      const custom = config.makeApiClient(CustomObjectsApi);
      const which = { group: GROUP, version: 'v1', plural: 'widgets', name: 'found' };
      const patch = { ...which, body: { spec: { colour: 'green' }, status: { phase: 'Set' } } };
      const patched: unknown = await custom.patchClusterCustomObjectStatus(patch, setHeaderOptions('Content-Type', PatchStrategy.MergePatch));
      expect(patched).toMatchObject({ spec: { colour: 'red' }, status: { phase: 'Set' } });
      const refused = objects.create({ ...widget, metadata: { name: 'refused' }, spec: { colour: 'blue' } });
      expect(await refusalOf(refused)).toMatchObject({ code: 422, reason: 'Invalid' });
    });

    it('watches from the version of a list, and sees each change once and in order', async () => {
      const { metadata } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'watched=yes' });
      const seen: string[] = [];
      const query = { resourceVersion: metadata?.resourceVersion, labelSelector: 'watched=yes', allowWatchBookmarks: true };
      const watch = await new Watch(config).watch(
        `/api/v1/namespaces/${namespace}/configmaps`,
        query,
        (phase, object: { metadata: { name: string }; data?: { key: string } }) => {
          if (phase !== 'BOOKMARK') seen.push(`${phase} ${object.metadata.name} ${object.data?.key ?? ''}`);
        },
        () => undefined,
      );
      try {
        await changeOne(core, 'seen');
        await expect.poll(() => seen, { timeout: OBSERVED_DEADLINE_MS }).toEqual(['ADDED seen one', 'MODIFIED seen two', 'DELETED seen two']);
      } finally {
        watch.abort();
      }
    });

    it('keeps an informer up to date', async () => {
      const seen: string[] = [];
      const list = (): ReturnType<CoreV1Api['listNamespacedConfigMap']> => core.listNamespacedConfigMap({ namespace, labelSelector: 'watched=yes' });
      const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, 'watched=yes');
      informer.on('add', ({ data }) => seen.push(`add ${data?.['key'] ?? ''}`));
      informer.on('update', ({ data }) => seen.push(`update ${data?.['key'] ?? ''}`));
      informer.on('delete', ({ data }) => seen.push(`delete ${data?.['key'] ?? ''}`));
      await informer.start();
      try {
        await changeOne(core, 'informed');
        await expect.poll(() => seen, { timeout: OBSERVED_DEADLINE_MS }).toEqual(['add one', 'update two', 'delete two']);
        expect(informer.list()).toEqual([]);
      } finally {
        await informer.stop();
      }
    });
  });
});

function configOf({ url, caPem, adminToken }: RunningServer): KubeConfig {
  const config = new KubeConfig();
  const cluster = { name: 'server', server: url, caData: Buffer.from(caPem).toString('base64'), skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'admin', token: adminToken });
  return config;
}

async function changeOne(core: CoreV1Api, name: string): Promise<void> {
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name, ...WATCHED }, data: { key: 'one' } } });
  const two = { data: { key: 'two' } };
  await core.patchNamespacedConfigMap({ namespace, name, body: two }, setHeaderOptions('Content-Type', PatchStrategy.MergePatch));
  await core.deleteNamespacedConfigMap({ namespace, name });
}

/** The Status by which a server refuses; a call that is not refused is an error. */
async function refusalOf(call: Promise<unknown>): Promise<{ code: number; reason?: string }> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ApiException)) throw error;
    const { code, body } = error as ApiException<string | { reason?: string }>;
    return { code, ...(typeof body === 'string' ? (JSON.parse(body) as { reason?: string }) : body) };
  }
  throw new Error('the server took what it should have refused');
}
