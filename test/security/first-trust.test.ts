import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { FakeLister } from '../../src/config/testing/fake-lister.ts';
import { Dispatcher } from '../../src/dispatch/dispatcher.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { ConfigMap, Node, Secret } from '../../src/ports/objects.ts';
import type { ProbeRequest } from '../../src/ports/probes.ts';
import { createAuthority, type IssuedCertificate } from '../../src/runtime/certificates.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

const NODE: Node = { metadata: { name: 'a', uid: 'u' }, spec: {}, status: { nodeInfo: { systemUUID: '4c4c4544-0042-4810-8054-b4c04f573433' } } };
const LOGIN: Secret = { metadata: { name: 'login', namespace: 'ns' }, data: { username: 'cm9vdA==', password: 'aHVudGVyMg==' } };

/** A BMC that signs its own certificate, and knows who logs in. */
class SelfSigned {
  logins = 0;
  #server: Server | undefined;
  port = 0;

  async start({ certificatePem: cert, keyPem: key }: IssuedCertificate): Promise<void> {
    this.#server = createServer({ cert, key }, (request, response) => {
      if (request.headers.authorization !== undefined || request.method === 'POST') this.logins += 1;
      response.writeHead(404).end();
    });
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** What else each of them is told. */
const DEVICES = { redfish: 'auth=basic', proxmox: 'plug=101', vsphere: 'plug=vm', ovirt: 'plug=vm' };

describe('A BMC that nobody has pinned, with trust_on_first_use', () => {
  const bmc = new SelfSigned();
  afterEach(() => bmc.stop());

  it.each(Object.entries(DEVICES))(
    'is looked at without a login, logged in to as it is on record, and by nobody once it shows another certificate: %s',
    async (agent, more) => {
      const issue = (): IssuedCertificate => createAuthority('bmc').issue({ commonName: 'bmc', hosts: ['127.0.0.1'] });
      await bmc.start(issue());
      const trusted: { device: string; shown: string; since: string }[] = [];
      const cluster = {
        get: (_resource: unknown, name: string) => Promise.resolve(name === 'login' ? LOGIN : { metadata: { name: 'a' }, status: { trusted } }),
      } as unknown as Cluster;
      const [registry, clock] = [standardRegistry(), new SystemClock()];
      const [configMaps, secrets] = [new FakeLister<ConfigMap>(), new FakeLister<Secret>()];
      secrets.put(LOGIN);
      const method = `agent_name=${agent}\nip=127.0.0.1\nipport=${bmc.port}\naction=off\nsecret=login\n${more}\ntrust_on_first_use=yes`;
      configMaps.put({
        metadata: { name: 'fence-config-a', namespace: 'ns' },
        data: { 'config.properties': 'power_management=off', 'fence-method-off': method },
      });
      const planner = new LivePlanner({ cluster, configMaps, secrets, registry, namespace: 'ns' });
      const planned = planner.planFor(NODE).powerManagement[0]?.methods[0];
      if (planned === undefined) throw new Error(JSON.stringify(planner.planFor(NODE).problems));
      const dispatcher = new Dispatcher(registry, { cluster, clock });
      const request: ProbeRequest = {
        method: planned,
        identity: { node: 'a', systemUUID: NODE.status.nodeInfo?.systemUUID },
        deadlineMs: 5_000,
        signal: new AbortController().signal,
        parametersOf: (each) => planner.parametersFor('a', each),
      };

      expect((await dispatcher.probe(request))?.error).toContain(`nothing is on record of ${planned.device} yet`);
      const first = await dispatcher.trustShown(request);
      expect([first.kind, bmc.logins]).toEqual(['shown', 0]);

      if (first.kind === 'shown') trusted.push({ device: planned.device, shown: first.shown, since: 'then' });
      expect((await dispatcher.probe(request))?.error).not.toContain('not trusted');
      expect(bmc.logins).toBeGreaterThan(0);
      await dispatcher.close();

      await bmc.stop();
      await bmc.start(issue());
      bmc.logins = 0;
      const error = (await dispatcher.probe(request))?.error;
      expect(error).toContain('Misconfigured');
      expect(error).toContain('not the pinned');
      expect(bmc.logins).toBe(0);
      const second = await dispatcher.trustShown(request);
      expect(second).toMatchObject({ kind: 'shown' });
      expect(second).not.toEqual(first);
      await dispatcher.close();
    },
  );
});
