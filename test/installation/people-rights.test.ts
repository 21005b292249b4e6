// The commands of people, as processes of their own, under exactly the rights that an administrator binds: on the embedded API server and on a real one.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { Cluster, kubectlMinor } from './cluster.ts';
import type { Said } from './cluster.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
const ASSETS = findAssets(process.env);
const hasKubectl = kubectlMinor() >= 30;
const ROLE = 'nodefence-operator';
const PLACES = ['nodefence-system', 'kube-node-lease', 'medik8s-leases'];
const BEGAN = new Date().toISOString();
const BEGAN_MICRO = BEGAN.replace('Z', '000Z');

function lease(namespace: string, name: string, holderIdentity: string, annotations = {}): string {
  const spec = { holderIdentity, leaseDurationSeconds: 3_600, acquireTime: BEGAN_MICRO, renewTime: BEGAN_MICRO, leaseTransitions: 1 };
  return JSON.stringify({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace, annotations }, spec });
}

describe.for([
  { server: 'the embedded API server', isThere: hasKubectl, assets: undefined },
  { server: 'a real API server', isThere: hasKubectl && ASSETS !== undefined, assets: ASSETS },
])('on $server', ({ isThere, assets }) => {
  describe.runIf(isThere)(`a person with the rights of ${ROLE}`, { timeout: 120_000 }, () => {
    const cluster = new Cluster();
    let kubeconfig = '';
    const nodefence = (words: string): Promise<Said> => {
      const child = spawn(process.execPath, [MAIN, ...words.split(' '), '--kubeconfig', kubeconfig], { stdio: ['ignore', 'pipe', 'pipe'] });
      const said = { out: '', err: '' };
      child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
      return new Promise((resolve) => {
        child.once('close', (code) => resolve({ ...said, code: code ?? -1 }));
      });
    };
    /** In the cluster, or in one namespace. */
    const bind = async (namespace?: string): Promise<void> => {
      const kind = namespace === undefined ? 'ClusterRole' : 'Role';
      const metadata = { name: 'olga', ...(namespace !== undefined && { namespace }) };
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: ROLE };
      const subjects = [{ kind: 'ServiceAccount', name: 'olga', namespace: 'default' }];
      const object = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: `${kind}Binding`, metadata, roleRef, subjects };
      await cluster.must('create -f -', JSON.stringify(object));
    };
    /** As lines of a terminal are no wider than they are. */
    const unwrapped = ({ out }: Said): string => out.replaceAll(/\s+/gu, ' ');
    const commandFor = (place: string): string => `kubectl -n ${place} create rolebinding NAME --role=${ROLE} --user=YOU`;

    beforeAll(async () => {
      await cluster.start(assets);
      await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'medik8s-leases' } }));
      await cluster.must('apply -k config/crd');
      await cluster.must('apply -k config/rbac');
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: BEGAN, lastHeartbeatTime: BEGAN }];
      await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' }, status: { conditions } }));
      const status = cluster.file('status.json', JSON.stringify({ status: { conditions } }));
      await cluster.must(`patch node worker-1 --subresource=status --type=merge --patch-file ${status}`);
      const person = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'olga', namespace: 'default' } };
      await cluster.must('create -f -', JSON.stringify(person));
      await cluster.must('create -f -', lease('nodefence-system', 'nodefence-controller', 'pod-1', { 'nodefence.ha.k8s.io/mode': 'enforce' }));
      await cluster.must('create -f -', lease('kube-node-lease', 'worker-1', 'worker-1'));
      await cluster.must('create -f -', lease('medik8s-leases', 'node-worker-1', 'node-maintenance'));
      await bind();
      const token = (await cluster.must('-n default create token olga')).trim();
      kubeconfig = cluster.file('kubeconfig-olga', cluster.kubeconfigText({ token }));
    }, 200_000);
    afterAll(() => cluster.end());

    it('reads no Lease of the cluster but those that are named', async () => {
      const can = async (words: string): Promise<string> => (await cluster.kubectl(`auth can-i ${words} --kubeconfig ${kubeconfig}`)).out.trim();
      expect(await can('list leases.coordination.k8s.io --all-namespaces')).toBe('no');
      expect(await can('get leases.coordination.k8s.io -n kube-system')).toBe('no');
      expect(await can('get leases.coordination.k8s.io/nodefence-controller -n kube-system')).toBe('no');
    });

    it('bound in the cluster alone: sees what there is to see, and what may not be read is named with the command that gives the right', async () => {
      const status = await nodefence('status');
      expect([status.code, status.err]).toEqual([0, '']);
      expect(unwrapped(status)).toContain(
        `who leads is not known: you may not read Leases of nodefence-system (ask an administrator: ${commandFor(PLACES[0] ?? '')})`,
      );
      expect(unwrapped(status)).toContain(
        `Of remediation is not shown: Leases of medik8s-leases (ask an administrator: ${commandFor('medik8s-leases')})`,
      );
      expect(unwrapped(status)).not.toContain('no controller leads');
      expect(JSON.parse((await nodefence('status -o json')).out)).toMatchObject({
        leader: { isAlive: false, unread: expect.stringContaining('create rolebinding') as string },
      });
      const explain = await nodefence('explain worker-1');
      expect([explain.code, explain.err]).toEqual([0, '']);
      for (const place of PLACES) expect(unwrapped(explain)).toContain(`Leases of ${place} (ask an administrator: ${commandFor(place)})`);
      expect(unwrapped(explain)).toContain('its lease, which tells of a later one, may not be read');
      expect(unwrapped(explain)).not.toContain('no controller leads');
      expect((await nodefence('stop worker-1 --reason maintenance')).code).toBe(0);
      expect((await nodefence('resume worker-1')).code).toBe(0);
      // What would be released is read from the namespace, and told.
      const plan = await nodefence('plan worker-1');
      expect([plan.code, plan.err.replaceAll(/\s+/gu, ' ')]).toEqual([1, expect.stringContaining(commandFor('nodefence-system'))]);
    });

    it('with the Role of each namespace: sees all of it, and nothing is missing', async () => {
      await cluster.must('apply -k config/medik8s');
      for (const place of PLACES) await bind(place);
      for (const words of ['status', 'status worker-1', 'explain worker-1', 'plan worker-1', 'validate', 'history worker-1', 'problems']) {
        const said = await nodefence(words);
        expect([words, said.err]).toEqual([words, '']);
        expect(unwrapped(said), words).not.toMatch(/Leases of|not shown|is not known/u);
      }
      expect(unwrapped(await nodefence('status'))).toMatch(/leader pod-1, .*mode enforce.* Lease medik8s-leases\/node-worker-1 of node-maintenance/u);
      expect(unwrapped(await nodefence('explain worker-1'))).toContain('lease or heartbeat');
    });

    it('where there is no medik8s: is told of no right that is missing', async () => {
      await cluster.must('delete namespace medik8s-leases --wait=false');
      await cluster.kubectl('-n medik8s-leases delete rolebinding,role --all');
      const isGone = async (): Promise<boolean> => (await cluster.kubectl('get namespace medik8s-leases')).code !== 0;
      // A real one needs a controller to let it go.
      if (assets !== undefined) {
        const body = cluster.file(
          'finalize.json',
          JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'medik8s-leases' }, spec: { finalizers: [] } }),
        );
        await cluster.kubectl(`replace --raw /api/v1/namespaces/medik8s-leases/finalize -f ${body}`);
      }
      expect(await isGone()).toBe(true);
      expect(unwrapped(await nodefence('status'))).not.toMatch(/not shown/u);
    });
  });
});
