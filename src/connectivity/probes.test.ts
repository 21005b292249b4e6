import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { NO_ANSWERS } from '../ports/connectivity.ts';
import type { Questions } from '../ports/connectivity.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { gatewayIn } from './default-gateway.ts';
import { alertNames, etcdHealth, firingAlerts } from './http-answers.ts';
import { Probes } from './probes.ts';
import type { Asking } from './probes.ts';
import { reach, targetOf } from './tcp-target.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const ROUTES = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth1\t00000000\t0101A8C0\t0003\t0\t0\t50\t00000000\t0\t0\t0
eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
`;

describe('the default gateway', () => {
  it('is the one of the route with the least metric', () => {
    expect(gatewayIn(ROUTES)).toBe('192.168.1.1');
  });

  it('is none where no route has one', () => {
    expect(gatewayIn(ROUTES.split('\n').slice(0, 1).join('\n'))).toBeUndefined();
    expect(gatewayIn(`${ROUTES.split('\n')[0]}\neth0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\n`)).toBeUndefined();
  });
});

describe('a target', () => {
  it.each([
    ['10.0.0.1:8443', { host: '10.0.0.1', port: 8443 }],
    ['router', { host: 'router', port: 443 }],
    ['[fd00::1]:80', { host: 'fd00::1', port: 80 }],
  ])('%s', (text, target) => {
    expect(targetOf(text, 443)).toEqual(target);
  });

  it('is reached by a connection, and by a refusal: the host has answered', async () => {
    const server = createTcpServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await reach({ host: '127.0.0.1', port }, 4_000, false)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await reach({ host: '127.0.0.1', port }, 4_000, false)).toBe(true);
  });
});

describe('an answer of Prometheus', () => {
  it('names the alerts of a vector, each once', () => {
    const result = [{ metric: { alertname: 'PowerFeedDown' } }, { metric: { alertname: 'PowerFeedDown' } }, { metric: {} }];
    expect(alertNames({ status: 'success', data: { resultType: 'vector', result } })).toEqual(['PowerFeedDown', 'unnamed']);
  });

  it('is none where it is an error, or of somebody else', () => {
    expect(alertNames({ status: 'error' })).toBeUndefined();
    expect(alertNames('<html>')).toBeUndefined();
  });

  it('is asked for by a query, and is not known where nobody answers', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'success', data: { result: [{ metric: { alertname: 'A' } }] } }));
    });
    closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await firingAlerts({ url, names: [] }, 4_000)).toEqual(['A']);
    expect(decodeURIComponent((asked[0] ?? '').replaceAll('+', ' '))).toBe('/api/v1/query?query=ALERTS{alertstate="firing"}');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await firingAlerts({ url, names: [] }, 4_000)).toBeUndefined();
    expect(await firingAlerts({ url: 'no address', names: [] }, 4_000)).toBeUndefined();
    expect(await firingAlerts({ url: 'ftp://127.0.0.1', names: [] }, 4_000)).toBeUndefined();
  });

  it.each([
    ['a failure', 500, JSON.stringify({ status: 'success', data: { result: [] } })],
    ['a way to somebody else', 302, ''],
    ['no JSON', 200, 'firing'],
    ['too long', 200, `${JSON.stringify({ status: 'success', data: { result: [] } })}${' '.repeat(4_194_304)}`],
  ])('is not known where it is %s', async (_name, status, body) => {
    const elsewhere: string[] = [];
    const server = createServer((request, response) => {
      if (request.url === '/elsewhere') elsewhere.push(request.url);
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(body);
    });
    closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    expect(await firingAlerts({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, names: [] }, 4_000)).toBeUndefined();
    expect(elsewhere).toEqual([]);
  });
});

describe('the health of a member of etcd', () => {
  /** An address of this machine where nobody else listens. */
  const HOST = '127.77.3.1';

  it.each([
    ['well', '{"health":"true","reason":""}', true],
    ['ill', '{"health":"false"}', false],
    ['ill by a boolean', '{"health":false}', false],
    ['not known by other words', '"true"', undefined],
    ['not known where it says nothing', undefined, undefined],
  ])('is %s', async (_name, body, health) => {
    const server = createServer((_request, response) => {
      if (body !== undefined) response.writeHead(health === false ? 503 : 200).end(body);
    });
    closing.push(() => server.closeAllConnections());
    closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(2381, HOST, resolve));
    expect(await etcdHealth(HOST, 300)).toBe(health);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is not known where nobody listens', async () => {
    expect(await etcdHealth(HOST, 4_000)).toBeUndefined();
  });
});

class Stage {
  readonly clock = new ManualClock();
  readonly reached: string[] = [];
  answer: boolean | undefined = true;
  changes = 0;
  readonly probes: Probes;

  constructor(asking: Partial<Asking> = {}) {
    const quiet = (): void => undefined;
    this.probes = new Probes({
      clock: this.clock,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      cluster: { list: () => Promise.resolve([]) },
      asking: {
        gateway: () => Promise.resolve('192.168.1.1'),
        peers: () => Promise.resolve([{ host: '10.0.0.5', port: 6443 }]),
        reach: ({ host, port }) => {
          this.reached.push(`${host}:${port}`);
          return Promise.resolve(this.answer);
        },
        etcd: (host) => Promise.resolve(host === 'up' ? true : undefined),
        alerts: () => Promise.reject(new Error('a defect')),
        ...asking,
      },
    });
    this.probes.onChange(() => (this.changes += 1));
  }
}

const NOTHING: Questions = { targets: [], members: new Map(), alerts: new Map() };

describe('connectivity probes', () => {
  it('reach the gateway and the API servers where nothing is configured, every five seconds', async () => {
    const stage = new Stage();
    stage.probes.ask({ ...NOTHING, targets: undefined });
    await stage.clock.settle();
    expect([...stage.probes.answers.targets]).toEqual([
      ['gateway 192.168.1.1', true],
      ['API server 10.0.0.5:6443', true],
    ]);
    await stage.clock.advance(10_000);
    expect(stage.reached).toHaveLength(6);
    expect(stage.changes).toBe(1);
  });

  it('a configured target is not reached until it has answered', async () => {
    const stage = new Stage();
    stage.probes.ask({ ...NOTHING, targets: ['router:80'] });
    expect([...stage.probes.answers.targets]).toEqual([['router:80', undefined]]);
    await stage.clock.settle();
    expect([...stage.probes.answers.targets]).toEqual([['router:80', true]]);
    stage.answer = false;
    await stage.clock.advance(5_000);
    expect([...stage.probes.answers.targets]).toEqual([['router:80', false]]);
    expect(stage.changes).toBe(2);
  });

  it('as many targets are asked as may be configured, each once, however many policies name it', async () => {
    const stage = new Stage();
    const targets = Array.from({ length: 64 }, (_unused, index) => `10.0.0.${index}`);
    stage.probes.ask({ ...NOTHING, targets: [...targets, ...targets] });
    await stage.clock.settle();
    expect([...stage.probes.answers.targets]).toEqual(targets.map((target) => [target, true]));
    expect(stage.reached).toHaveLength(64);
  });

  it('a gateway that answers nothing is neither there nor gone', async () => {
    const stage = new Stage();
    stage.answer = undefined;
    stage.probes.ask({ ...NOTHING, targets: undefined });
    await stage.clock.settle();
    expect([...stage.probes.answers.targets]).toEqual([]);
  });

  it('send nothing any more, and forget what was answered, when nothing has failed', async () => {
    const stage = new Stage();
    stage.probes.ask({ ...NOTHING, targets: undefined });
    await stage.clock.settle();
    stage.probes.rest();
    await stage.clock.advance(60_000);
    expect(stage.reached).toHaveLength(2);
    expect(stage.probes.answers).toBe(NO_ANSWERS);
  });

  it('tell only members that answered, and an alert source that fails as not known', async () => {
    const stage = new Stage();
    const members = new Map([
      ['etcd-a', { host: 'up' }],
      ['etcd-b', { host: 'deaf' }],
    ]);
    stage.probes.ask({ ...NOTHING, members, alerts: new Map([['feed', { url: 'http://x', names: [] }]]) });
    await stage.clock.settle();
    expect([...stage.probes.answers.members]).toEqual([['etcd-a', true]]);
    expect([...stage.probes.answers.alerts]).toEqual([['feed', undefined]]);
  });
});
