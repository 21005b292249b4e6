import { expect, it } from 'vitest';
import type { ClusterAccess } from '../../src/cli/cluster-access.ts';
import { listFleet } from '../../src/cli/commands/watched-cluster.ts';
import { LEADER_LEASE, LEADER_MODE } from '../../src/manager/composition.ts';
import { activeFaults } from '../../src/cli/self-check/installation-faults.ts';
import { installationProblems } from '../../src/cli/validate/installation.ts';
import { otherInstallation } from '../../src/controllers/self-check/other-installation.ts';
import { sentenceOf } from '../../src/controllers/self-check/questions.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { KubeObject, Lease } from '../../src/ports/objects.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import {
  eventually,
  expectNoTraces,
  narrowed,
  NODE_FENCE_DEFINITION,
  overwrite,
  TRUE_AND_FALSE,
  whileInstalled,
  WITHOUT_ENDING,
  WITHOUT_OFF_SENT,
  WITHOUT_PARTS,
} from './cases.ts';
import type { Site } from './cases.ts';

const CRD = '(mend it: kubectl apply -k config/crd)';
/** Servers from 1.25 on refuse what they do not know; older ones drop it. */
const ENDING_IS_UNKNOWN = /unknown field "spec\.ending"|the API server does not keep spec\.ending/;
const REMEDY = (folder: string): string => `(mend it: kubectl apply -k config/${folder})`;

function accessBy(transport: ApiTransport): ClusterAccess {
  const cluster = new ApiClient({ transport });
  return { transport, cluster, namespace: NAMESPACE, clock: new SystemClock(), random: new SystemRandom(), server: '', close: () => undefined };
}

/** What the self-check must say of an installation, on whichever server. */
export function selfCheckSuite(given: () => Site): void {
  it('finds nothing wrong with what is shipped, and leaves nothing behind', async () => {
    await eventually(given(), (sentence) => sentence === '');
    await expectNoTraces(given());
  });

  it.each<[string, KubeObject, (string | RegExp)[]]>([
    ['a definition in which on and off became true and false', TRUE_AND_FALSE, ['it refuses "on", "off" as status.', 'nodefences.ha.k8s.io']],
    ['a definition that knows no status.journal[].offSent', WITHOUT_OFF_SENT, ['it drops status.journal[].offSent']],
    ['a definition that knows no request for a part of a fence', WITHOUT_PARTS, ['it drops spec.lastStep', 'spec.methods']],
    ['a definition that lacks a field of the spec', WITHOUT_ENDING, ['it drops spec.ending', ENDING_IS_UNKNOWN]],
  ])('refuses %s, until it is mended', async (_what, definition, words) => {
    await overwrite(given(), definition);
    const sentence = await eventually(given(), (said) => words.every((word) => (typeof word === 'string' ? said.includes(word) : word.test(said))));
    expect(sentence).toContain(CRD);
    await overwrite(given(), NODE_FENCE_DEFINITION);
    await eventually(given(), (said) => said === '');
  });

  it('says the same to whoever validates, or looks at the status, with his own rights', async () => {
    const access = accessBy(given().admin);
    const notes: string[] = [];
    expect(await installationProblems(access, notes)).toEqual([]);
    await overwrite(given(), WITHOUT_OFF_SENT);
    const [noNodes] = narrowed().filter(({ missing }) => missing === 'nodes');
    if (noNodes === undefined) throw new Error('no role names nodes');
    await overwrite(given(), noNodes.role);
    const said = await eventually(given(), (sentence) => sentence.includes('offSent') && sentence.includes('patch nodes'));
    const problems = await installationProblems(access, notes);
    expect(problems.map(({ severity }) => severity)).toEqual(['error', 'error']);
    expect(problems.map(({ message }) => message).join()).toContain('may not get, list, watch, patch nodes');
    expect(said).toContain(sentenceOf(await activeFaults(access)).split(' (mend it')[0]);
    await installationProblems(accessBy(given().controller), notes);
    expect(notes.join()).toContain("you may not ask what the controller's account may do");
    await overwrite(given(), NODE_FENCE_DEFINITION);
    await overwrite(given(), noNodes.whole);
    await eventually(given(), (sentence) => sentence === '');
  });

  it.each(['machine-health-check-crd', 'machine-health-check-proposed-crd'])('takes the definition of %s for one that was chosen', async (folder) => {
    const access = accessBy(given().admin);
    await whileInstalled(given(), folder, async () => {
      expect(sentenceOf(await activeFaults(access))).toBe('');
      expect(await installationProblems(access, [])).toEqual([]);
    });
  });

  it('says to whoever validates, or looks at the status, that another installation came first, and nothing of one that is gone', async () => {
    const access = accessBy(given().admin);
    const { cluster, clock } = access;
    const spec = (renewedAgoMs: number): Lease['spec'] => ({
      holderIdentity: 'pod-1',
      leaseDurationSeconds: 15,
      renewTime: new Date(clock.wallMs() - renewedAgoMs).toISOString().replace('Z', '000Z'),
    });
    const metadata = { name: LEADER_LEASE, namespace: 'default' };
    // The free one that the installation left is older, and then the other came second.
    await cluster.remove(LEASES, LEADER_LEASE, { namespace: NAMESPACE });
    const lease = await cluster.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: spec(0) });
    const said = 'another installation, in namespace default, fences the nodes of this cluster (its leader is pod-1)';
    const [problem, ...more] = await installationProblems(access, []);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ severity: 'error', message: expect.stringContaining(said) as string });
    expect((await listFleet(access)).installation?.join()).toContain(said);
    await cluster.mergePatch(LEASES, LEADER_LEASE, { spec: spec(60_000) }, { namespace: 'default' });
    expect(await installationProblems(access, [])).toEqual([]);
    await cluster.mergePatch(
      LEASES,
      LEADER_LEASE,
      { metadata: { annotations: { [LEADER_MODE]: 'observe' } }, spec: spec(0) },
      { namespace: 'default' },
    );
    expect(await installationProblems(access, [])).toEqual([]);
    await cluster.remove(LEASES, LEADER_LEASE, { namespace: 'default', ...(lease.metadata.uid !== undefined && { uid: lease.metadata.uid }) });
  });

  it("finds another installation that is alive with the controller's own rights, which show it no other Lease, and nothing of one that is gone", async () => {
    const { cluster, clock } = accessBy(given().admin);
    const own = new ApiClient({ transport: given().controller });
    const acts = (): boolean => true;
    const question = otherInstallation({ cluster: own, clock, namespace: NAMESPACE, leaseName: LEADER_LEASE, acts });
    const renewed = (): Lease['spec'] => ({ holderIdentity: 'pod-1', renewTime: new Date(clock.wallMs()).toISOString().replace('Z', '000Z') });
    await cluster.remove(LEASES, LEADER_LEASE, { namespace: NAMESPACE });
    await cluster.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: LEADER_LEASE, namespace: 'default' },
      spec: renewed(),
    });
    const asked = question.ask();
    await clock.sleep(1_000);
    await cluster.mergePatch(LEASES, LEADER_LEASE, { spec: renewed() }, { namespace: 'default' });
    expect((await asked).map(({ message }) => message).join()).toContain('another installation, in namespace default, fences the nodes');
    await cluster.remove(LEASES, LEADER_LEASE, { namespace: 'default' });
    expect(await question.ask()).toEqual([]);
    // A free one, as the installation left it: who leads next does not wait for the end of one that is gone.
    const free = { holderIdentity: '', leaseDurationSeconds: 1 };
    await cluster.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: LEADER_LEASE, namespace: NAMESPACE },
      spec: free,
    });
    await expect(own.list(LEASES)).rejects.toThrow(/forbidden/u);
    await expect(own.list(LEASES, { fieldSelector: 'metadata.name=other' })).rejects.toThrow(/forbidden/u);
  });

  it('names the resource of every rule that a role lacks', { timeout: 120_000 }, async () => {
    const roles = narrowed();
    expect(roles.length).toBeGreaterThan(20);
    for (const { role, whole, missing } of roles) {
      await overwrite(given(), role);
      const sentence = await eventually(given(), (said) => said.includes(missing) && said.includes('may not'));
      const { namespace = NAMESPACE } = role.metadata;
      expect(sentence).toContain(REMEDY(namespace === NAMESPACE ? 'rbac' : 'other-namespaces'));
      await overwrite(given(), whole);
      await eventually(given(), (said) => said === '');
    }
  });
}
