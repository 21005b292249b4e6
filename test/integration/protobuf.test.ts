import { request } from 'node:https';
import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeObject } from '../../src/kube/protobuf/decode.ts';
import { Texts } from '../../src/kube/protobuf/texts.ts';
import { pruneFor } from '../../src/kube/prune.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { pathOf } from '../../src/kube/resource-path.ts';
import { ANY_ATTACHMENT, ANY_LEASE, ANY_NODE, ANY_POD } from '../../src/kube/testing/any-object.ts';
import type { ApiResponse, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { LEASES, NODES, PODS, VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import type { Logger } from '../../src/ports/recorder.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { encodeObject } from '../../src/testbed/apiserver/protobuf/encode.ts';
import type { JsonObject } from '../../src/testbed/apiserver/json.ts';
import { assetsMinor } from '../node-daemon/guarded-plane.ts';
import { until } from '../scenarios/waiting.ts';
import { HAS_REAL_SERVER, NEEDS_REAL_SERVER, RealServer, START_DEADLINE_MS } from './real-server.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** The embedded server encodes as this one does: older ones write other fields of metadata. */
const ENCODED_SINCE = 36;
const CALL_MS = 10_000;
const TEST_MS = 60_000;
const OBJECTS = 60;
const SEED = 4;
const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type Plain = Record<string, unknown>;

interface Case {
  resource: Resource;
  any: Arbitrary<Plain>;
  /** Where its status is written. */
  hasStatus: boolean;
}

const CASES: readonly Case[] = [
  { resource: NODES, any: ANY_NODE, hasStatus: true },
  { resource: PODS, any: ANY_POD, hasStatus: true },
  { resource: LEASES, any: ANY_LEASE, hasStatus: false },
  { resource: VOLUME_ATTACHMENTS, any: ANY_ATTACHMENT, hasStatus: true },
];

describe.skipIf(!HAS_REAL_SERVER)(`objects in protobuf, ${NEEDS_REAL_SERVER}`, () => {
  let server: RealServer;
  let transport: ApiTransport;

  beforeAll(async () => {
    server = await RealServer.start({ isAlone: true });
    transport = server.transport('operator');
    for (const one of CASES) await fill(transport, one);
  }, START_DEADLINE_MS);

  afterAll(async () => {
    await server.end();
  });

  const read = (path: string): Promise<Buffer> => bytesOf(server, path);

  it.each(CASES)('of $resource.kind are what JSON shows', { timeout: TEST_MS }, async ({ resource }) => {
    const path = pathOf(resource, spaceOf(resource));
    const list = (await json(transport, path)) as { items: KubeObject[]; metadata: { resourceVersion: string } };
    // Of that moment: an API server writes by itself now and then, and each write counts.
    const { resourceVersion } = list.metadata;
    const same = `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    const binary = decodeObject(await read(same), new Texts()) as unknown as typeof list;
    expect(list.items.length).toBeGreaterThanOrEqual(OBJECTS);
    const prune = pruneFor(resource);
    expect(binary.items.map((item) => prune(item))).toEqual(list.items.map((item) => prune(item)));
    expect(binary.metadata.resourceVersion).toBe(resourceVersion);
  });

  it.each(CASES)('of $resource.kind are watched as JSON shows them', { timeout: TEST_MS }, async ({ resource }) => {
    const options = { clock: new SystemClock(), random: new SystemRandom(), logger: SILENT, metrics: NO_METRICS.watch, resource };
    const encodings = new Set<unknown>();
    const told: ApiTransport = {
      request: (asked) => transport.request(asked),
      watch: (asked, sink) => {
        encodings.add(asked.accept);
        return transport.watch(asked, sink);
      },
    };
    const inJson: ApiTransport = { ...told, watch: (asked, sink) => transport.watch({ ...asked, accept: 'application/json' }, sink) };
    const reflectors = [new Reflector({ ...options, transport: told }), new Reflector({ ...options, transport: inJson })];
    for (const reflector of reflectors) reflector.start();
    try {
      await Promise.all(reflectors.map((reflector) => reflector.untilSynced(TEST_MS)));
      const [binary, text] = reflectors.map(({ lister }) => [...lister.all()]);
      expect(binary).toEqual(text);
      expect(binary?.length).toBeGreaterThanOrEqual(OBJECTS);
      expect([...encodings]).toEqual([`${PROTOBUF}, application/json`]);
    } finally {
      for (const reflector of reflectors) reflector.close();
    }
  });

  it.skipIf(assetsMinor() < ENCODED_SINCE).each(CASES)(
    'of $resource.kind are sent by the embedded API server as by the real one, byte for byte',
    { timeout: TEST_MS },
    async ({ resource }) => {
      const list = (await json(transport, pathOf(resource, spaceOf(resource)))) as { items: KubeObject[] };
      for (const { metadata } of list.items) {
        const path = pathOf(resource, { name: metadata.name, namespace: metadata.namespace });
        expect(encodeObject((await json(transport, path)) as JsonObject).toString('latin1')).toBe((await read(path)).toString('latin1'));
      }
    },
  );

  it('are refused with a Status in protobuf, which is read as in JSON', async () => {
    const path = '/api/v1/nodes/nobody';
    const ask = (accept: string): unknown => transport.request({ method: 'GET', path, accept, deadlineMs: CALL_MS });
    const [binary, text] = (await Promise.all([ask(PROTOBUF), ask('application/json')])) as { status: number; body: Plain }[];
    expect(binary?.status).toBe(404);
    expect(binary?.body).toEqual(text?.body);
  });

  it('of kinds that definitions define come in JSON', { timeout: TEST_MS }, async () => {
    const names = { plural: 'tries', singular: 'try', kind: 'Try' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    const spec = { group: 'example.com', scope: 'Cluster', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'tries.example.com' }, spec };
    await transport.request({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body: definition,
      deadlineMs: CALL_MS,
    });
    const ask = (): Promise<ApiResponse> =>
      transport.request({ method: 'GET', path: '/apis/example.com/v1/tries', accept: `${PROTOBUF}, application/json`, deadlineMs: CALL_MS });
    await until('the definition is served', async () => ((await ask()).status === 200 ? true : undefined), CALL_MS);
    expect((await ask()).headers['content-type']).toBe('application/json');
  });

  it('with a text that is no UTF-8 are read in JSON, which shows them all the same', { timeout: TEST_MS }, async () => {
    const mark = 'QQQQ';
    const node = (
      await transport.request({
        method: 'POST',
        path: '/api/v1/nodes',
        body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'odd' } },
        deadlineMs: CALL_MS,
      })
    ).body as JsonObject;
    const sent = encodeObject({ ...node, status: { conditions: [{ type: 'Ready', status: 'True', message: mark }] } });
    sent.fill(0xff, sent.indexOf(mark), sent.indexOf(mark) + mark.length);
    await bytesOf(server, '/api/v1/nodes/odd/status', sent);
    const reflector = new Reflector({
      transport,
      clock: new SystemClock(),
      random: new SystemRandom(),
      logger: SILENT,
      metrics: NO_METRICS.watch,
      resource: NODES,
    });
    reflector.start();
    try {
      await reflector.untilSynced(TEST_MS);
      expect(reflector.lister.get('odd')?.status.conditions?.[0]?.message).toBe('\ufffd'.repeat(mark.length));
    } finally {
      reflector.close();
    }
  });
});

function spaceOf(resource: Resource): { namespace?: string } {
  return resource.namespaced ? { namespace: 'default' } : {};
}

/** Objects of all sorts; every third one is about to be deleted, where something holds it. */
async function fill(transport: ApiTransport, { resource, any, hasStatus }: Case): Promise<void> {
  const send = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object, contentType = 'application/json'): Promise<KubeObject> => {
    const response = await transport.request({ method, path, body, contentType, deadlineMs: CALL_MS });
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)} for ${JSON.stringify(body)}`);
    return response.body as KubeObject;
  };
  const path = pathOf(resource, spaceOf(resource));
  for (const [index, object] of fc.sample(any, { numRuns: OBJECTS, seed: SEED }).entries()) {
    const { status, metadata, ...rest } = object;
    const name = index % 4 === 0 ? { generateName: 'any-' } : { name: `any-${index}` };
    const created = await send('POST', path, {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { ...(metadata as object), ...name },
      ...rest,
    });
    const place = `${path}/${created.metadata.name}`;
    if (hasStatus) await send('PATCH', `${place}/status`, { status }, 'application/merge-patch+json');
    if (index % 3 === 0 && created.metadata.finalizers !== undefined) await send('DELETE', place, {});
  }
}

function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

async function json(transport: ApiTransport, path: string): Promise<unknown> {
  const response = await transport.request({ method: 'GET', path, deadlineMs: CALL_MS });
  expect(response.status).toBe(200);
  return response.body;
}

function bytesOf(server: RealServer, path: string, sent?: Buffer): Promise<Buffer> {
  const headers = { accept: PROTOBUF, 'content-type': PROTOBUF, authorization: `Bearer ${server.secrets[0]}` };
  return new Promise((resolve, reject) => {
    const call = request(
      new URL(path, server.plane.url),
      { method: sent === undefined ? 'GET' : 'PUT', ca: server.plane.caPem, agent: false, headers, timeout: CALL_MS },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          expect(response.headers['content-type']).toBe(PROTOBUF);
          resolve(Buffer.concat(chunks));
        });
      },
    );
    call.once('error', reject);
    call.end(sent);
  });
}
