import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { assetsOf, findAssets } from '../../src/testbed/control-plane/assets.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import { connect } from '../connection.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { ApiStatusError, TransportError } from '../../src/ports/api-transport.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { PODS } from '../../src/ports/resources.ts';
import { until } from '../scenarios/waiting.ts';

const NAMESPACE = 'default';
/** Longer than a deletion by force is waited for, by us and by the server. */
const WEBHOOK_SECONDS = 7;
const PATIENCE_MS = 60_000;
const assets = findAssets(process.env, ['etcd', 'kube-apiserver']) ?? '';

/** What our promises about late writes rest on: how a real API server bounds a request, and what a webhook that never answers makes of it. */
describe.runIf(assets !== '')(
  'a webhook that hangs, to be ignored, on a real kube-apiserver (needs a real control plane)',
  { timeout: PATIENCE_MS },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'hanging-webhook-'));
    let plane: ControlPlane;
    let hook: Server;
    let transport: ApiTransport;
    let cluster: ApiClient;

    beforeAll(async () => {
      const token = randomUUID();
      const users = [{ name: 'operator', groups: ['system:masters'], token }];
      plane = await ControlPlane.start({ assets: assetsOf(process.env, ['etcd', 'kube-apiserver']), folder, users });
      transport = connect({ server: plane.url, caPem: plane.caPem, token });
      cluster = new ApiClient({ transport });
      const authority = createAuthority('a webhook that hangs');
      const { certificatePem, keyPem } = authority.issue({ commonName: 'webhook', hosts: ['127.0.0.1'] });
      hook = createServer({ cert: certificatePem, key: keyPem }, () => undefined);
      await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
      const url = `https://127.0.0.1:${String((hook.address() as AddressInfo).port)}/`;
      await create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
      await create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        metadata: { name: 'hangs' },
        webhooks: [
          {
            name: 'hangs.example.com',
            clientConfig: { url, caBundle: Buffer.from(authority.certificatePem).toString('base64') },
            rules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] },
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] },
            ],
            failurePolicy: 'Ignore',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            timeoutSeconds: WEBHOOK_SECONDS,
          },
        ],
      });
      for (const name of ['forced', 'evicted-by-force', 'evicted', 'probe']) {
        const spec = { nodeName: 'a', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
        await create(`/api/v1/namespaces/${NAMESPACE}/pods`, { metadata: { name }, spec });
      }
      // The server takes a new webhook up a moment after it was created.
      await until('the webhook is asked', async () => ((await isHeld('probe')) ? true : undefined), PATIENCE_MS);
    }, 150_000);

    afterAll(async () => {
      hook.closeAllConnections();
      hook.close();
      await plane.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    async function create(path: string, body: object): Promise<void> {
      const { status } = await transport.request({ method: 'POST', path, body, deadlineMs: PATIENCE_MS });
      if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${String(status)}`);
    }

    async function isHeld(name: string): Promise<boolean> {
      const query = { dryRun: 'All', timeout: '500ms' };
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}`;
      const answer = transport.request({ method: 'DELETE', path, query, deadlineMs: PATIENCE_MS });
      return await answer.then(({ status }) => status === 504, rethrownUnlessGivenUp);
    }

    it('lets a gentle eviction pass at its end; what is by force, the server gives up before, and it has no effect later', async () => {
      const forced = cluster.remove(PODS, 'forced', { namespace: NAMESPACE, gracePeriodSeconds: 0 });
      const byForce = cluster.evict('evicted-by-force', NAMESPACE, { gracePeriodSeconds: 0 });
      const gentle = cluster.evict('evicted', NAMESPACE, { mayBeLate: true });
      await Promise.all([
        expect(forced).rejects.toSatisfy(isGivenUpByServer),
        expect(byForce).rejects.toSatisfy(isGivenUpByServer),
        expect(gentle).resolves.toBeUndefined(),
      ]);
      // Each look of the server at the webhook is over by then, however often it looks.
      await new Promise((resolve) => setTimeout(resolve, 3 * WEBHOOK_SECONDS * 1_000));
      for (const name of ['forced', 'evicted-by-force']) {
        const pod = await cluster.get(PODS, name, NAMESPACE);
        expect(pod?.metadata, name).toBeDefined();
        expect(pod?.metadata.deletionTimestamp, name).toBeUndefined();
      }
      expect((await cluster.get(PODS, 'evicted', NAMESPACE))?.metadata.deletionTimestamp).toBeDefined();
    });
  },
);

/** Not our own time: it answers, 1.20 with 500, or, where its handler and its timeout end in one instant, closes the connection. */
function isGivenUpByServer(error: unknown): boolean {
  const isOver = (of: ApiStatusError): boolean => of.status === 504 || (of.status === 500 && of.message.includes('deadline exceeded'));
  return error instanceof ApiStatusError ? isOver(error) : error instanceof TransportError && error.kind === 'unreachable';
}

function rethrownUnlessGivenUp(error: unknown): true {
  if (isGivenUpByServer(error)) return true;
  throw error;
}
