import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/ports/objects.ts';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { Cluster, kubectlMinor } from '../installation/cluster.ts';
import { refusalsIn } from '../installation/rights.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { CHART, helm, HELM, HELM_INSTALLED_BY } from './helm.ts';
import type { Said } from './helm.ts';

const ASSETS = findAssets(process.env);
const hasTools = HELM !== undefined && kubectlMinor() >= 30;
const NAMESPACE = 'nodefence-system';
/** Folders that need no namespace of others. */
const BESIDE = ['jobs', 'remediation', 'flow-control', 'machine-health-check', 'preservation-own'].flatMap((name) => ['--set', `with.${name}=true`]);
const DAEMONS = ['--set', 'serveNodeDaemons=true,nodeDaemons.enabled=true,nodeDaemons.duties={watchdog,self-fence,conditions}'];

describe.runIf(hasTools)(`on the embedded API server (needs helm: ${HELM_INSTALLED_BY}; and kubectl 1.30)`, { timeout: 90_000 }, () => {
  const cluster = new Cluster();
  let daemon: Daemon | undefined;

  beforeAll(() => cluster.start(), 60_000);
  afterAll(async () => {
    await daemon?.kill();
    await cluster.end();
  });

  it('takes what helm template renders, by kubectl: it knows no protobuf, which helm speaks, and no policies', async () => {
    const words = ['template', 'nodefence', CHART, '--namespace', NAMESPACE, '--kube-version', '1.36.0', ...BESIDE];
    const { out } = await helm(words, cluster.folder);
    await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }));
    const created = (await cluster.must('apply -f -', out)).trim().split('\n');
    expect(created.filter((line) => !line.endsWith(' created'))).toEqual([]);
    expect(created.length).toBeGreaterThan(30);
  });

  it('lets the controller lead under exactly those rights', async () => {
    daemon = new Daemon(await cluster.controllerKubeconfig(), ['--mode', 'observe', '--preservation', 'own']);
    await daemon.says('leading', 60_000);
    await daemon.isReadyz(200, 60_000);
    expect(refusalsIn(cluster.trace())).toEqual([]);
  });
});

describe('on a real API server', () => {
  describe.runIf(hasTools && ASSETS !== undefined)(
    `the chart, installed by helm (needs helm: ${HELM_INSTALLED_BY}; and a real control plane)`,
    { timeout: 150_000 },
    () => {
      const cluster = new Cluster();
      let daemon: Daemon | undefined;
      const run = (...words: string[]): Promise<Said> =>
        helm([...words, '--namespace', NAMESPACE, '--kubeconfig', join(cluster.folder, 'kubeconfig-operator')], cluster.folder);
      const deployment = async (): Promise<unknown> => JSON.parse(await cluster.must(`get deployment nodefence-controller -n ${NAMESPACE} -o json`));

      beforeAll(async () => {
        await cluster.start(ASSETS);
      }, 200_000);
      afterAll(async () => {
        await daemon?.kill();
        await cluster.end();
      });

      it('installs with one command, and says what it did', async () => {
        const { code, out, err } = await run('install', 'nodefence', CHART, '--create-namespace');
        expect({ code, err }).toEqual({ code: 0, err: '' });
        expect(out).toContain('installed in namespace nodefence-system in mode observe');
        expect(await cluster.must('get crd -o name')).toContain('nodefences.ha.k8s.io');
      });

      it('lets the controller lead under exactly the rights that it installed', async () => {
        daemon = new Daemon(await cluster.controllerKubeconfig(), ['--mode', 'observe']);
        await daemon.says('leading', 60_000);
        await daemon.isReadyz(200, 60_000);
        expect(refusalsIn(cluster.trace())).toEqual([]);
      });

      it('upgrades to enforce, with node daemons and folders beside', async () => {
        const { code, err } = await run('upgrade', 'nodefence', CHART, '--reuse-values', '--set', 'mode=enforce', ...DAEMONS, ...BESIDE);
        expect({ code, err }).toEqual({ code: 0, err: '' });
        expect(await deployment()).toMatchObject({
          spec: { template: { spec: { containers: [{ args: ['controller', '--mode', 'enforce', '--node-daemons'] }] } } },
        });
        const names = await cluster.must(`get daemonset,role -n ${NAMESPACE} -o name`);
        for (const name of ['daemonset.apps/nodefence-node', 'role.rbac.authorization.k8s.io/nodefence-jobs']) expect(names).toContain(name);
        expect(await cluster.must('get validatingadmissionpolicy -o name')).toContain('/nodefence-node\n');
      });

      it('takes back what is chosen no more', async () => {
        const { code, err } = await run('upgrade', 'nodefence', CHART, '--reset-values', '--set', 'mode=enforce');
        expect({ code, err }).toEqual({ code: 0, err: '' });
        const names = await cluster.must(`get daemonset,role -n ${NAMESPACE} -o name`);
        expect(names).not.toContain('nodefence-node');
        expect(names).not.toContain('nodefence-jobs');
      });

      it('is uninstalled without the kinds and the records of them', async () => {
        const fence: KubeObject & { spec: object } = {
          apiVersion: 'ha.k8s.io/v1',
          kind: 'NodeFence',
          metadata: { name: 'node-fence-a' },
          spec: { node: 'a' },
        };
        await daemon?.kill();
        await cluster.must('create -f -', JSON.stringify(fence));
        const { code, err } = await run('uninstall', 'nodefence');
        expect({ code, err: err.replace(/.*resource policy.*\n|\[CustomResourceDefinition\] \S+\n?|\n/g, '') }).toEqual({ code: 0, err: '' });
        expect((await cluster.kubectl(`get deployment nodefence-controller -n ${NAMESPACE}`)).code).toBe(1);
        expect(await cluster.must('get nodefences -o name')).toContain('node-fence-a');
      });

      it('takes the kinds that it left back into its care when it is installed again', async () => {
        const { code, err } = await run('install', 'nodefence', CHART);
        expect({ code, err }).toEqual({ code: 0, err: '' });
      });
    },
  );
});
