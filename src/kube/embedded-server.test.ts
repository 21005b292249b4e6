import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveHttps, type HttpShell } from '../testbed/apiserver/http-shell.ts';
import { ApiServer } from '../testbed/apiserver/server.ts';
import { inProcessTransport } from '../testbed/apiserver/transport.ts';
import type { ApiEvent } from '../laws/trace.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigMap } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { CONFIG_MAPS, NODES } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { SystemRandom } from '../runtime/system-random.ts';
import { ApiClient } from './client.ts';
import { StoredCredential } from './credentials/stored-credential.ts';
import { InlineText } from './credentials/text-source.ts';
import { HttpsTransport } from './https-transport.ts';
import { LeaderElector } from './leader-elector.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorTimings } from './reflector-timings.ts';
import { EventRecorder } from './events/recorder.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const random = new SystemRandom();
const USERS = [{ name: 'admin', groups: ['system:masters'], token: 'admin-token' }];

const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({ metadata: { name, namespace: 'default' }, data });

function reflect(transport: ApiTransport, clock: Clock, timings: Partial<ReflectorTimings> = {}, metrics = NO_METRICS.watch): Reflector<ConfigMap> {
  return new Reflector<ConfigMap>({
    transport,
    clock,
    random,
    logger: SILENT,
    metrics,
    resource: CONFIG_MAPS,
    namespace: 'default',
    timings,
  });
}

describe('the Kubernetes layer on the embedded server in one process', () => {
  let clock: ManualClock;
  let audit: ApiEvent[];
  let transport: ApiTransport;
  let client: ApiClient;

  function serve(streamsLists: boolean): void {
    clock = new ManualClock();
    audit = [];
    const told = { audit: (event: ApiEvent) => audit.push(event) };
    const server = new ApiServer({ clock, random, users: USERS, authorization: 'rbac', ...told, historyLimit: 20, streamsLists });
    transport = inProcessTransport(server, 'admin');
    client = new ApiClient({ transport });
  }

  beforeEach(() => {
    serve(true);
  });

  const verbs = (verb: ApiEvent['verb'], resource = 'configmaps'): number =>
    audit.filter((event) => event.verb === verb && event.resource === resource && event.status < 300).length;

  it('writes by compare-and-swap: an old resourceVersion or another uid is a conflict', async () => {
    const created = await client.create(CONFIG_MAPS, map('a'));
    const first = await client.replace(CONFIG_MAPS, { ...created, data: { by: 'first' } });
    await expect(client.replace(CONFIG_MAPS, { ...created, data: { by: 'second' } })).rejects.toMatchObject({ status: 409 });
    const recreated = { ...first, metadata: { ...first.metadata, uid: 'another' } };
    await expect(client.replace(CONFIG_MAPS, recreated)).rejects.toMatchObject({ status: 409 });
    await expect(client.remove(CONFIG_MAPS, 'a', { namespace: 'default', uid: 'another' })).rejects.toMatchObject({ status: 409 });
    expect((await client.get(CONFIG_MAPS, 'a', 'default'))?.data).toEqual({ by: 'first' });
    expect(await client.remove(CONFIG_MAPS, 'a', { namespace: 'default', uid: created.metadata.uid ?? '' })).toBe(true);
    expect(await client.get(CONFIG_MAPS, 'a', 'default')).toBeUndefined();
  });

  it.each([
    ['in three pages from a server without streams', false, 3],
    ['as one stream from a server that has them', true, 0],
  ])('reads 1,200 objects %s, follows every change, and lists no more', async (_case, streamsLists, expected) => {
    serve(streamsLists);
    for (let index = 0; index < 1200; index++) {
      await client.create(CONFIG_MAPS, map(`m${String(index)}`));
    }
    const pagesBefore = verbs('list');
    const reflector = reflect(transport, clock);
    reflector.start();
    await clock.settle();
    expect([...reflector.lister.all()].filter(({ metadata }) => metadata.name.startsWith('m'))).toHaveLength(1200);
    const pages = verbs('list') - pagesBefore;
    expect(pages).toBe(expected);
    const created = await client.create(CONFIG_MAPS, map('new', { a: '1' }));
    await client.replace(CONFIG_MAPS, { ...created, data: { a: '2' } });
    await client.remove(CONFIG_MAPS, 'm7', { namespace: 'default' });
    await clock.settle();
    expect(reflector.lister.get('default/new')?.data).toEqual({ a: '2' });
    expect(reflector.lister.get('default/m7')).toBeUndefined();
    await clock.advance(3_600_000);
    // Nothing is written, so no bookmark comes: after each 75 s of silence the version is asked for, which the audit knows as a list, and seven times, in three pages,
    // whether something was kept back.
    expect(verbs('list') - pagesBefore).toBe(pages + 3_600 / 75 + 7 * (3 - 1));
    reflector.close();
  });

  it('sees an object that was deleted and made again as another one', async () => {
    const reflector = reflect(transport, clock);
    const uids: (string | undefined)[] = [];
    reflector.lister.onChange((before, after) => uids.push(after === undefined ? `-${before?.metadata.uid ?? ''}` : after.metadata.uid));
    reflector.start();
    await clock.settle();
    uids.length = 0;
    const first = await client.create(CONFIG_MAPS, map('a'));
    await client.remove(CONFIG_MAPS, 'a', { namespace: 'default' });
    const second = await client.create(CONFIG_MAPS, map('a'));
    await clock.settle();
    expect(uids).toEqual([first.metadata.uid, `-${first.metadata.uid ?? ''}`, second.metadata.uid]);
    reflector.close();
  });

  it('lists again when the server has forgotten where its watch stood', async () => {
    serve(false);
    const reflector = reflect(transport, clock);
    reflector.start();
    await clock.settle();
    reflector.close();
    const late = reflect(
      {
        request: (request) => transport.request(request),
        // The connection is cut at once; meanwhile the world moves on past the server's memory.
        watch: (request, sink) => {
          const isFirst = request.query['resourceVersion'] !== undefined && verbs('watch') < 2;
          const close = transport.watch(request, sink);
          if (isFirst) {
            close();
          }
          return close;
        },
      },
      clock,
    );
    late.start();
    await clock.settle();
    for (let index = 0; index < 100; index++) {
      await client.create(CONFIG_MAPS, map(`m${String(index)}`));
    }
    await clock.advance(60_000);
    expect(late.lister.get('default/m99')).toBeDefined();
    expect(verbs('list')).toBe(3);
    late.close();
  });

  it('elects one leader, whose epoch grows with each change', async () => {
    const log: string[] = [];
    const candidate = (name: string): LeaderElector =>
      new LeaderElector({
        cluster: client,
        clock,
        random,
        logger: SILENT,
        metrics: NO_METRICS.lease,
        namespace: 'kube-system',
        name: 'nodefence',
        identity: name,
        records: { highestEpoch: () => Promise.resolve(0) },
        onAcquired: (epoch) => log.push(`${name} ${String(epoch)}`),
        onLost: (reason) => log.push(`${name} lost: ${reason}`),
      });
    const [first, second] = [candidate('a'), candidate('b')];
    first.start();
    await clock.advance(1_000);
    second.start();
    await clock.advance(100_000);
    expect(log).toEqual(['a 1']);
    await first.release();
    await clock.advance(3000);
    expect([log, second.isLeading]).toEqual([['a 1', 'b 2'], true]);
    second.close();
  });

  it('writes Events that the server accepts and counts', async () => {
    const node = await client.create(NODES, { metadata: { name: 'n' }, spec: {}, status: {} });
    const parts = { cluster: client, clock, random, logger: SILENT, metrics: NO_METRICS.event };
    const recorder = new EventRecorder({ ...parts, component: 'nodefence-controller', instance: 'x' });
    recorder.event(node, 'Warning', 'FencingStarted', 'Node n is fenced.');
    await clock.advance(100);
    recorder.event(node, 'Warning', 'FencingStarted', 'Node n is fenced.');
    await recorder.close(1000);
    expect(audit.filter(({ resource }) => resource === 'events').map(({ verb, status }) => `${verb} ${String(status)}`)).toEqual([
      'create 201',
      'patch 200',
    ]);
  });
});

describe('the Kubernetes layer on the embedded server over HTTPS', () => {
  const clock = new SystemClock();
  let shell: HttpShell;
  let transport: HttpsTransport;
  let client: ApiClient;
  let audit: ApiEvent[];

  beforeEach(async () => {
    audit = [];
    shell = await serveHttps({ server: new ApiServer({ clock, random, users: USERS, authorization: 'rbac', audit: (event) => audit.push(event) }) });
    transport = connection('admin-token');
    client = new ApiClient({ transport });
  });

  afterEach(async () => {
    transport.close();
    await shell.close();
  });

  function connection(token: string): HttpsTransport {
    const credential = new StoredCredential({ token: new InlineText(token) });
    const trust = { authority: new InlineText(shell.caPem), isVerified: true, serverName: undefined };
    const server = { source: 'test', url: new URL(shell.url), ...trust, credential, headers: {}, namespace: 'default' };
    return new HttpsTransport({ server, clock, userAgent: 'nodefence/test' });
  }

  async function until(condition: () => boolean): Promise<void> {
    const untilMs = clock.monotonicMs() + 10_000;
    while (!condition() && clock.monotonicMs() < untilMs) {
      await clock.sleep(5);
    }
    expect(condition()).toBe(true);
  }

  it('is refused with a wrong token, and says so', async () => {
    const stranger = connection('wrong');
    await expect(new ApiClient({ transport: stranger }).list(NODES)).rejects.toMatchObject({ status: 401, reason: 'Unauthorized' });
    const reflector = reflect(stranger, clock);
    reflector.start();
    await expect(reflector.untilSynced(300)).rejects.toThrow(
      /configmaps: no first list after 300 ms \((?:watch|list) \S+: Unauthorized\); look at the API server, the credentials/,
    );
    reflector.close();
    stranger.close();
  });

  it.each(['silent', 'refuse'] as const)('goes on where it stood after the server was away (%s), without a list', async (how) => {
    const lists: number[] = [];
    const metrics = { ...NO_METRICS.watch, listed: (_resource: string, count: number) => lists.push(count) };
    const reflector = reflect(transport, clock, { idleMs: 400, openDeadlineMs: 200, backoff: { baseMs: 20, maxMs: 100 } }, metrics);
    reflector.start();
    await reflector.untilSynced(5000);
    await client.create(CONFIG_MAPS, map('before'));
    await until(() => reflector.lister.get('default/before') !== undefined);
    await shell.pause(how);
    await clock.sleep(900);
    const stalenessMs = clock.monotonicMs() - reflector.lister.freshAtMs;
    expect(stalenessMs).toBeGreaterThan(300);
    await shell.resume();
    await until(() => clock.monotonicMs() - reflector.lister.freshAtMs < 300);
    await client.create(CONFIG_MAPS, map('after'));
    await until(() => reflector.lister.get('default/after') !== undefined);
    expect(lists, 'listed once, when nothing was there').toEqual([0]);
    reflector.close();
  });
});
