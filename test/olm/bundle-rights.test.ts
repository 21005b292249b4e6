// The controller under exactly the rights that the bundle's CSV grants, as OLM makes roles of them: on the embedded API server and on a real one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { Cluster, kubectlMinor } from '../installation/cluster.ts';
import { Daemon } from '../scenarios/daemon.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ASSETS = findAssets(process.env);
const hasKubectl = kubectlMinor() >= 30;
const API = 'rbac.authorization.k8s.io';
const NAMESPACE = 'nodefence-system';
const REMEDY = 'kubectl apply -k config/other-namespaces';

interface Granted {
  serviceAccountName: string;
  rules: object[];
}

const { spec } = parse(readFileSync(join(ROOT, 'olm/manifests/nodefence.clusterserviceversion.yaml'), 'utf8')) as {
  spec: { install: { spec: { permissions: Granted[]; clusterPermissions: Granted[] } } };
};

/** A role with its binding for each entry, by names of its own. */
function madeByOlm(kind: 'Role' | 'ClusterRole', granted: readonly Granted[]): object[] {
  return granted.flatMap(({ serviceAccountName, rules }, index) => {
    const place = kind === 'Role' ? { namespace: NAMESPACE } : {};
    const metadata = { name: `nodefence.v0.1.0-${String(index)}`, ...place };
    const subjects = [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: NAMESPACE }];
    const roleRef = { apiGroup: API, kind, name: metadata.name };
    return [
      { apiVersion: `${API}/v1`, kind, metadata, rules },
      { apiVersion: `${API}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects },
    ];
  });
}

describe.for([
  { server: 'the embedded API server', isThere: hasKubectl, assets: undefined },
  { server: 'a real API server', isThere: hasKubectl && ASSETS !== undefined, assets: ASSETS },
])('on $server', ({ isThere, assets }) => {
  describe.runIf(isThere)('a controller that OLM has installed', { timeout: 120_000 }, () => {
    const cluster = new Cluster();
    let daemon: Daemon | undefined;

    beforeAll(async () => {
      await cluster.start(assets);
      await cluster.must('apply -k config/crd');
      const { permissions, clusterPermissions } = spec.install.spec;
      const objects = [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'nodefence-controller', namespace: NAMESPACE } },
        ...madeByOlm('Role', permissions),
        ...madeByOlm('ClusterRole', clusterPermissions),
      ];
      await cluster.must('create -f -', objects.map((object) => JSON.stringify(object)).join('\n'));
      daemon = new Daemon(await cluster.controllerKubeconfig(), ['--mode', 'enforce']);
    }, 200_000);
    afterAll(async () => {
      await daemon?.kill();
      await cluster.end();
    });

    it('is not ready and does not lead, and names the folder that is missing, and no other', async () => {
      await daemon?.says('self-check refused');
      const [refused] = daemon?.log.filter(({ message }) => message === 'self-check refused') as { problem?: string }[];
      expect(refused?.problem).toMatch(/may not .*leases\.coordination\.k8s\.io in namespace kube-node-lease/u);
      expect(refused?.problem).toContain('endpointslices.discovery.k8s.io in namespace default');
      expect(refused?.problem?.match(/kubectl apply -k config\/[\w-]+/gu)).toEqual([REMEDY]);
      expect((await daemon?.isReadyz(503)) ?? '').toMatch(/FAILED .*leases/u);
    });

    it('begins to lead once that folder is applied, without a restart', async () => {
      await cluster.must('apply -k config/other-namespaces');
      await daemon?.says('self-check passed', 60_000);
      await daemon?.says('leading', 60_000);
      expect(await daemon?.isReadyz(200, 60_000)).toContain('ok');
    });
  });
});
