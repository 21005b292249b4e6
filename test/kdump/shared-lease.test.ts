import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DumpRecords } from '../../src/controllers/kdump/records.ts';
import { KDUMP_LEASE, recordKey } from '../../src/domain/kdump/record.ts';
import type { DumpRecord } from '../../src/domain/kdump/record.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { connect } from '../connection.ts';
import { Cluster, kubectlMinor, overlaysFor } from '../installation/cluster.ts';

const ASSETS = findAssets(process.env);
const OLDEST_KUBECTL = 30;
const HAS_KUBECTL = kubectlMinor() >= OLDEST_KUBECTL;
const TIMEOUT_MS = 240_000;
const SERVERS: Readonly<Record<string, { isThere: boolean; assets?: string }>> = {
  'the embedded API server': { isThere: HAS_KUBECTL },
  'a real API server': { isThere: HAS_KUBECTL && ASSETS !== undefined, ...(ASSETS !== undefined && { assets: ASSETS }) },
};
const ONE = '11111111-1111-4111-8111-111111111111';
const TWO = '22222222-2222-4222-8222-222222222222';
/** Nothing is written more often. */
const REST_MS = 2_100;

function recordOf(count: number, seconds: number, by: string): DumpRecord {
  const [first, last] = [0, seconds].map((after) => new Date(Date.UTC(2026, 0, 1, 0, 0, after)).toISOString());
  return { source: '192.0.2.7', first: first ?? '', last: last ?? '', heardForMs: seconds * 1_000, count, state: 'DUMPING', by };
}

for (const [name, server] of Object.entries(SERVERS)) {
  describe.skipIf(!server.isThere)(`what replicas hear of dumps, on ${name}, with the rights that are installed`, { timeout: TIMEOUT_MS }, () => {
    const cluster = new Cluster();
    let client: ApiClient;

    /** Of a controller process of its own. */
    function recordsOf(replica: string): DumpRecords {
      return new DumpRecords({ clock: new SystemClock(), cluster: client, namespace: NAMESPACE, name: KDUMP_LEASE, replica });
    }

    async function written(records: DumpRecords, ...all: DumpRecord[]): Promise<string | undefined> {
      records.offer(new Map(all.map((record) => ['node-a', record])));
      await records.close();
      return records.problem;
    }

    async function keys(): Promise<string[]> {
      return Object.keys((await client.get(LEASES, KDUMP_LEASE, NAMESPACE))?.metadata.annotations ?? {}).sort();
    }

    beforeAll(async () => {
      await cluster.start(server.assets);
      await cluster.must(`apply -k ${overlaysFor(server.assets)}/enforce`);
      const kubeconfig = JSON.parse(readFileSync(await cluster.controllerKubeconfig(), 'utf8')) as {
        clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
        users: [{ user: { token: string } }];
      };
      const { server: url, 'certificate-authority-data': ca } = kubeconfig.clusters[0].cluster;
      const caPem = Buffer.from(ca, 'base64').toString();
      client = new ApiClient({ transport: connect({ server: url, caPem, token: kubeconfig.users[0].user.token }) });
    }, TIMEOUT_MS);

    afterAll(async () => {
      await cluster.end();
    });

    it('is not shared before its right is installed, and says so', async () => {
      expect(await written(recordsOf(ONE), recordOf(2, 5, 'host-1'))).toMatch(/nodefence-kdump.*is forbidden/);
    });

    const isNew = overlaysFor(server.assets) === 'config';
    it.skipIf(isNew)('has its right from a folder of its own where there is no overlay', async () => {
      expect(await cluster.must('apply -k config/kdump')).toContain('created');
    });

    it.runIf(isNew).each(['observe', 'enforce'])('is installed by its command, with a controller that hears messages: %s', async (mode) => {
      await cluster.must(`apply -k config/${mode}-with-kdump`);
      const said = await cluster.must(`-n ${NAMESPACE} get deployment nodefence-controller -o json`);
      const pod = (JSON.parse(said) as { spec: { template: { spec: { hostNetwork?: boolean; containers: [{ args: string[]; ports: object[] }] } } } })
        .spec.template.spec;
      expect(pod.hostNetwork).toBe(true);
      expect(pod.containers[0].args).toEqual(expect.arrayContaining(['--mode', mode, '--kdump-address', ':7410']));
      expect(pod.containers[0].ports).toContainEqual(expect.objectContaining({ containerPort: 7_410, protocol: 'UDP' }));
      const again = (await cluster.must('apply -k config/kdump')).trim().split('\n');
      expect(again.filter((line) => !line.endsWith('unchanged'))).toEqual([]);
    });

    it('is written by two replicas, each its own, and each reads the other', async () => {
      const [one, two] = [recordsOf(ONE), recordsOf(TWO)];
      expect(await written(one, recordOf(2, 5, 'host-1')), 'which makes the Lease').toBeUndefined();
      expect(await written(two, recordOf(3, 9, 'host-2'))).toBeUndefined();
      const lease = await client.get(LEASES, KDUMP_LEASE, NAMESPACE);
      expect([...one.read(lease)]).toEqual([[TWO, new Map([['node-a', recordOf(3, 9, 'host-2')]])]]);
      expect([...two.read(lease)]).toEqual([[ONE, new Map([['node-a', recordOf(2, 5, 'host-1')]])]]);
    });

    it('is taken back by whoever wrote it, and leaves that of the other', async () => {
      const two = recordsOf(TWO);
      await written(two, recordOf(4, 10, 'host-2'));
      expect(await keys()).toEqual([recordKey(ONE), recordKey(TWO)]);
      await new SystemClock().sleep(REST_MS);
      expect(await written(two)).toBeUndefined();
      expect(await keys()).toEqual([recordKey(ONE)]);
    });

    it('gives a right to this Lease, and to no other', async () => {
      const patch = { metadata: { annotations: { [recordKey(ONE)]: '{}' } } };
      for (const other of ['somebody-else', 'nodefence-storage']) {
        const patched = client.mergePatch(LEASES, other, patch, { namespace: NAMESPACE });
        await expect(patched).rejects.toMatchObject({ status: 403 });
      }
      await expect(client.mergePatch(LEASES, KDUMP_LEASE, patch, { namespace: NAMESPACE })).resolves.toBeDefined();
    });
  });
}
