import { request } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError, type ApiTransport, type WatchRequest } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { KubeObject, Node } from '../ports/objects.ts';
import type { Resource } from '../ports/cluster.ts';
import type { Logger } from '../ports/recorder.ts';
import { CONFIG_MAPS, LEASES, NODES, PODS, VOLUME_ATTACHMENTS } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { SystemRandom } from '../runtime/system-random.ts';
import { serveHttps, type HttpShell } from '../testbed/apiserver/http-shell.ts';
import { ApiServer } from '../testbed/apiserver/server.ts';
import { inProcessTransport } from '../testbed/apiserver/transport.ts';
import { ApiClient } from './client.ts';
import { StoredCredential } from './credentials/stored-credential.ts';
import { InlineText } from './credentials/text-source.ts';
import { HttpsTransport } from './https-transport.ts';
import { Reflector } from './reflector.ts';
import { listOf, ScriptedTransport } from './testing/scripted-transport.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const BOTH = 'application/vnd.kubernetes.protobuf, application/json';
const random = new SystemRandom();
const node = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, uid: `uid-${name}`, resourceVersion } });

describe('the encoding that a reflector asks for', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let reflector: Reflector<KubeObject>;

  function start(resource: Resource): void {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    transport.answer = () => ({ body: listOf('10', [node('a', '5')]) });
    reflector = new Reflector({ transport, clock, random, logger: SILENT, metrics: NO_METRICS.watch, resource });
    reflector.start();
  }

  const asked = (): (string | undefined)[] => [...transport.requests, ...transport.watches.map((watch) => watch.request)].map(({ accept }) => accept);

  afterEach(() => {
    reflector.close();
  });

  it.each([NODES, PODS, LEASES, VOLUME_ATTACHMENTS])('is protobuf for $plural, and JSON where the server has no other', async (resource) => {
    start(resource);
    await clock.settle();
    expect([...new Set(asked())]).toEqual([BOTH]);
  });

  it('is JSON for everything else', async () => {
    start(CONFIG_MAPS);
    await clock.settle();
    expect([...new Set(asked())]).toEqual(['application/json']);
  });

  it('is JSON from then on where a watch could not be read: what one object is at fault for must not leave the rest unseen', async () => {
    start(NODES);
    await clock.settle();
    transport.lastWatch.open().send('MODIFIED', node('a', '11')).end(new TransportError('garbled', 'a text is not UTF-8'));
    await clock.advance(1_000);
    expect(transport.lastWatch.request).toMatchObject({ accept: 'application/json', query: { resourceVersion: '11' } });
    transport.lastWatch.open().send('MODIFIED', node('a', '12')).end();
    await clock.advance(1_000);
    expect(transport.lastWatch.request).toMatchObject({ accept: 'application/json', query: { resourceVersion: '12' } });
  });

  it('is JSON from then on where a list could not be read', async () => {
    start(NODES);
    let accepts: (string | undefined)[] = [];
    transport.answer = ({ accept }) => {
      accepts = [...accepts, accept];
      return accept === BOTH ? new TransportError('garbled', 'no protobuf') : { body: listOf('10', [node('a', '5')]) };
    };
    await clock.advance(60_000);
    expect([...new Set(accepts)]).toEqual([BOTH, 'application/json']);
    expect(reflector.lister.synced).toBe(true);
  });

  it('stays as it is after a watch that broke or was refused', async () => {
    start(NODES);
    await clock.settle();
    for (const error of [new TransportError('unreachable', 'gone'), new ApiStatusError(500, 'InternalError', 'no')]) {
      transport.lastWatch.open().end(error);
      await clock.advance(30_000);
      expect(transport.lastWatch.request.accept).toBe(BOTH);
    }
  });
});

describe('protobuf over HTTPS', () => {
  const clock = new SystemClock();
  const users = [{ name: 'admin', groups: ['system:masters'], token: 'admin-token' }];
  let shell: HttpShell;
  let server: ApiServer;
  let transport: HttpsTransport;

  beforeEach(async () => {
    server = new ApiServer({ clock, random, users, authorization: 'rbac', historyLimit: 2 });
    shell = await serveHttps({ server });
    const trust = { authority: new InlineText(shell.caPem), isVerified: true, serverName: undefined };
    const credential = new StoredCredential({ token: new InlineText('admin-token') });
    const at = { source: 'test', url: new URL(shell.url), ...trust, credential, headers: {}, namespace: 'default' };
    transport = new HttpsTransport({ server: at, clock, userAgent: 'nodefence/test' });
  });

  afterEach(async () => {
    transport.close();
    await shell.close();
  });

  function reflect(over: ApiTransport): Reflector<Node> {
    return new Reflector<Node>({ transport: over, clock, random, logger: SILENT, metrics: NO_METRICS.watch, resource: NODES });
  }

  it('brings what JSON brings: what is there, what changes, and what is deleted', async () => {
    const client = new ApiClient({ transport });
    const create = (name: string): Promise<Node> =>
      client.create(NODES, { metadata: { name, labels: { zone: 'ä' === name ? 'b' : 'a' } }, spec: { unschedulable: true }, status: {} });
    await create('first');
    const both = [reflect(transport), reflect(inProcessTransport(server, 'admin'))];
    for (const reflector of both) reflector.start();
    await Promise.all(both.map((reflector) => reflector.untilSynced(5_000)));
    await create('second');
    await client.mergePatch(NODES, 'first', { spec: { taints: [{ key: 'k', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }] } });
    await client.remove(NODES, 'second');
    await create('third');
    await waitFor(() => both.every(({ lister }) => lister.get('third') !== undefined));
    const [binary, text] = both.map(({ lister }) => [...lister.all()].map(({ status: _unset, ...rest }) => rest));
    expect(binary).toEqual(text);
    expect(binary?.map(({ metadata }) => metadata.name)).toEqual(['first', 'third']);
    for (const reflector of both) reflector.close();
  });

  it('is what the server answers in, to those who ask for it first and for kinds that it has in it', async () => {
    expect(await typeOf('/api/v1/nodes', BOTH)).toBe('application/vnd.kubernetes.protobuf');
    expect(await typeOf('/api/v1/nodes?watch=true', BOTH)).toBe('application/vnd.kubernetes.protobuf;stream=watch');
    expect(await typeOf('/api/v1/nodes', 'application/json, application/vnd.kubernetes.protobuf')).toBe('application/json');
    expect(await typeOf('/api/v1/configmaps', BOTH)).toBe('application/json');
    expect(await typeOf('/api/v1/configmaps?watch=true', BOTH)).toBe('application/json');
  });

  it('tells of refusals and of ERROR events what JSON tells', async () => {
    const end = (query: WatchRequest['query'], accept: string): Promise<unknown> =>
      new Promise((resolve) => {
        transport.watch(
          { path: '/api/v1/nodes', query, accept },
          {
            onOpen: () => undefined,
            onEvent: ({ type, object }) => resolve([type, object]),
            onEnd: (error) => resolve([error instanceof ApiStatusError ? error.status : 0, error?.message]),
          },
        );
      });
    const invalid = { sendInitialEvents: 'true' };
    expect(await end(invalid, BOTH)).toEqual(await end(invalid, 'application/json'));
    expect(await end(invalid, BOTH)).toEqual([422, expect.stringContaining('sendInitialEvents')]);
    const client = new ApiClient({ transport });
    for (const name of 'abcdefgh') await client.create(NODES, { metadata: { name }, spec: {}, status: {} });
    const forgotten = { resourceVersion: '1' };
    expect(await end(forgotten, BOTH)).toEqual(['ERROR', expect.objectContaining({ code: 410, reason: 'Expired' })]);
    expect(await end(forgotten, BOTH)).toEqual(await end(forgotten, 'application/json'));
  });

  it('of a field that the embedded server has no table of is an error of that server', async () => {
    const client = new ApiClient({ transport });
    const odd = { metadata: { name: 'odd' }, spec: { surprise: true }, status: {} } as unknown as Node;
    await client.create(NODES, odd);
    const response = await transport.request({ method: 'GET', path: '/api/v1/nodes', accept: BOTH, deadlineMs: 5_000 });
    expect([response.status, JSON.stringify(response.body)]).toEqual([500, expect.stringContaining('no field NodeList.items.spec.surprise')]);
  });

  function typeOf(path: string, accept: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const call = request(
        new URL(path, shell.url),
        { ca: shell.caPem, agent: false, headers: { accept, authorization: 'Bearer admin-token' } },
        (response) => {
          resolve(response.headers['content-type']);
          call.destroy();
        },
      );
      call.on('error', reject);
      call.end();
    });
  }

  async function waitFor(condition: () => boolean): Promise<void> {
    const untilMs = clock.monotonicMs() + 10_000;
    while (!condition() && clock.monotonicMs() < untilMs) await clock.sleep(5);
    expect(condition()).toBe(true);
  }
});
