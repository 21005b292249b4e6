// Every folder of config/ is installed as the pages say, whatever stands there already; none is left to be tried by whoever needs it first.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/ports/objects.ts';
import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { placeOf, verbFor } from '../../src/testbed/shipped/manifests.ts';
import { Cluster, kubectlMinor } from './cluster.ts';
import { assetsMinor } from '../node-daemon/guarded-plane.ts';

const ASSETS = findAssets(process.env);
const hasKubectl = kubectlMinor() >= 30;
/** What others install by themselves, and what has to stand first. */
const WITH_NAMESPACE = 'rbac';
const SERVICE_MONITORS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: ServiceMonitor, listKind: ServiceMonitorList, plural: servicemonitors, singular: servicemonitor}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`;
/** Of kinds that only newer servers have. */
const GUARDS = ['guards', 'machine-remediation-guard', 'node-daemon', 'node-daemon-conditions', 'node-daemon-token', 'out-of-service-only'];
const DAEMON_SETS = ['node-daemonset', 'node-daemonset-self-fence', 'node-daemonset-watchdog'];
/** What a kind of cluster takes, guards among it. */
const OVERLAYS = ['bare-metal', 'cloud', 'gardener'];
const NEWEST: readonly string[] = [...GUARDS, ...DAEMON_SETS, ...OVERLAYS, 'stamps'].sort();

/** What was found valid, and has been applied by the schemas of the server, is not so again: kubectl reads them all anew, which is most of what it costs. */
const AGAIN = 'apply --validate=false --openapi-patch=false';

interface CustomKind {
  spec: { group: string; names: { plural: string }; versions: { name: string }[] };
}

interface Server {
  server: string;
  isThere: boolean;
  assets: string | undefined;
  /** Folders with kinds that it does not have. */
  unserved: readonly string[];
  /** Of folders that are put together of others, these only: what is in them is in those, and the other server has them all. */
  composed?: readonly string[] | undefined;
  /** Is each folder applied a second time? By one server that has it. */
  isRepeated: boolean;
}

function kustomization(folder: string): string {
  const file = join(placeOf(folder), 'kustomization.yaml');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Those that are installed by themselves: components are part of others. */
const FOLDERS = readdirSync(placeOf('')).filter((folder) => kustomization(folder).includes('kind: Kustomization'));

// A server that is older than the newest kind is tried with what it has by apply.test.ts.
const hasReal = hasKubectl && ASSETS !== undefined && assetsMinor() >= 36;

describe.for<Server>([
  {
    server: 'the embedded API server',
    isThere: hasKubectl,
    assets: undefined,
    unserved: NEWEST,
    composed: hasReal ? ['enforce-with-node-daemons'] : undefined,
    isRepeated: !hasReal,
  },
  { server: 'a real API server', isThere: hasReal, assets: ASSETS, unserved: [], isRepeated: true },
])('on $server', ({ isThere, assets, unserved, composed, isRepeated }) => {
  describe.runIf(isThere)('every folder of config/ (needs kubectl 1.30; the real one is of Kubernetes 1.36)', { timeout: 120_000 }, () => {
    const cluster = new Cluster();
    const lines = (said: string): string[] =>
      said
        .trim()
        .split('\n')
        .filter((line) => line !== '');
    /** kubectl replaces the selector of a budget each time, and says so. */
    const changes = (said: string): string[] => lines(said).filter((line) => !/ unchanged$|^poddisruptionbudget/.test(line));

    beforeAll(async () => {
      await cluster.start(assets);
      await cluster.must(`apply -k config/${WITH_NAMESPACE}`);
      await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'medik8s-leases' } }));
      await cluster.must('create -f -', SERVICE_MONITORS);
      await cluster.established('crd/servicemonitors.monitoring.coreos.com');
    }, 200_000);
    afterAll(() => cluster.end());

    it('is known', () => {
      expect(FOLDERS.length).toBeGreaterThan(40);
    });

    const isLeftOut = (folder: string): boolean => composed !== undefined && /^(enforce|observe)/.test(folder) && !composed.includes(folder);
    const served = FOLDERS.filter((folder) => !unserved.includes(folder) && !isLeftOut(folder));
    const sent = async (folder: string): Promise<object> => {
      const { code, out, err } = await cluster.kubectl(`${verbFor(folder)} -k config/${folder}`);
      return { code, didSomething: lines(out).length > 0, errors: lines(err).filter((line) => !line.startsWith('Warning:')) };
    };
    const installed = { code: 0, didSomething: true, errors: [] };
    const kindsOf = async (folder: string): Promise<string[]> => {
      const said = await cluster.must(`get -k config/${folder} -o json`);
      const found = JSON.parse(said) as { items?: CustomKind[] } & CustomKind;
      return (found.items ?? [found]).map(({ spec: { group, names, versions } }) => `/apis/${group}/${versions[0]?.name ?? ''}/${names.plural}`);
    };

    const again = isRepeated ? ', and a second time changes nothing' : '';
    const changedAgain = async (folder: string): Promise<string[]> => (isRepeated ? changes(await cluster.must(`${AGAIN} -k config/${folder}`)) : []);

    it.each(served.filter((folder) => verbFor(folder) === 'apply'))(`config/%s is applied${again}`, async (folder) => {
      expect(await sent(folder)).toEqual(installed);
      expect(await changedAgain(folder)).toEqual([]);
    });

    it.each(served.filter((folder) => verbFor(folder) === 'create'))('config/%s is created', async (folder) => {
      expect(await sent(folder)).toEqual(installed);
      // A server that does not serve a kind yet takes a minute to delete it; that its name is established does not say so.
      await cluster.established('crd --all');
      for (const path of await kindsOf(folder)) await cluster.must(`get --raw ${path}`);
      // Two folders have one kind, as its project has it and as it is proposed.
      await cluster.must(`delete -k config/${folder}`);
    });

    it.runIf(unserved.length > 0)('those with kinds that it does not have do not look installed', async () => {
      for (const folder of unserved) expect(await sent(folder), folder).toMatchObject({ code: 1, errors: [expect.any(String)] });
    });

    it.runIf(unserved.length > 0).each(OVERLAYS)('config/%s is applied without the guards, and a second time changes nothing', async (folder) => {
      const objects = parseAllDocuments(await cluster.must(`kustomize config/${folder}`)).map((document) => document.toJS() as KubeObject);
      const older = objects.filter(({ kind }) => !(kind ?? '').startsWith('ValidatingAdmission'));
      expect(older.length).toBeLessThan(objects.length);
      const text = older.map((object) => JSON.stringify(object)).join('\n');
      expect(lines(await cluster.must('apply -f -', text))).toContainEqual(expect.stringContaining('deployment.apps/nodefence-controller'));
      expect(changes(await cluster.must(`${AGAIN} -f -`, text))).toEqual([]);
    });

    it('config/controller-anywhere is a component of an overlay of one’s own', async () => {
      const [resources, components] = ['enforce', 'controller-anywhere'].map((name) => [relative(cluster.folder, placeOf(name))]);
      cluster.file(
        'kustomization.yaml',
        JSON.stringify({ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources, components }),
      );
      await cluster.must(`apply -k ${cluster.folder}`);
      const tolerations = await cluster.must('-n nodefence-system get deployment nodefence-controller -o jsonpath={.spec.template.spec.tolerations}');
      expect(JSON.parse(tolerations)).toContainEqual({ operator: 'Exists', effect: 'NoSchedule' });
    });
  });
});
