import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VERSION } from '../../src/cli/version.ts';
import { bundleFiles } from '../../src/manifests/olm/bundle-files.ts';
import { violations } from '../../src/manifests/violations.ts';
import type { JsonSchema } from '../../src/manifests/schema.ts';
import type { KubeObject } from '../../src/ports/objects.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Beside the ClusterServiceVersion and definitions, what OLM creates for a bundle. */
const TAKEN_BY_OLM = ['ClusterRole', 'PodDisruptionBudget', 'Role'];
const ACCOUNT = 'nodefence-controller';
const NARROW = new Set(['leases', 'endpointslices', 'configmaps', 'secrets']);

interface Rule {
  resources: string[];
  resourceNames?: string[];
}

interface Rules {
  serviceAccountName: string;
  rules: Rule[];
}

interface Container {
  args: string[];
  env: { name: string; value?: string }[];
}

interface DeploymentSpec {
  template: { spec: { containers: Container[]; serviceAccountName: string } };
}

interface ServiceVersion extends KubeObject {
  spec: {
    customresourcedefinitions: { owned: { name: string; version: string; kind: string; description: string }[] };
    install: { spec: { permissions: Rules[]; clusterPermissions: Rules[]; deployments: { name: string; spec: DeploymentSpec }[] } };
    installModes: { type: string; supported: boolean }[];
    description: string;
    relatedImages: { image: string }[];
    minKubeVersion: string;
    version: string;
  };
}

interface Shipped extends KubeObject {
  rules?: object[];
  spec?: object;
}

interface Definition extends KubeObject {
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: JsonSchema } }[] };
}

function objectsIn(pattern: string): Shipped[] {
  return globSync(pattern, { cwd: ROOT })
    .sort()
    .flatMap((path) => parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).map((document) => document.toJS() as Shipped));
}

const bundle = objectsIn('olm/manifests/*.yaml');
const version = bundle.find(({ kind }) => kind === 'ClusterServiceVersion') as ServiceVersion;
const definitions = bundle.filter(({ kind }) => kind === 'CustomResourceDefinition') as Definition[];
const { permissions, clusterPermissions, deployments } = version.spec.install.spec;

/** In the words of config/rbac: where, and what. */
function rulesOfConfig(): { own: object[]; cluster: object[]; elsewhere: { place: string; rule: object }[] } {
  const roles = objectsIn('config/rbac/controller.yaml').filter(({ rules }) => rules !== undefined);
  const inside = (namespace: string | undefined): object[] =>
    roles.filter(({ metadata }) => metadata.namespace === namespace).flatMap(({ rules = [] }) => rules);
  const elsewhere = roles.flatMap(({ metadata: { namespace }, rules = [] }) =>
    namespace === undefined || namespace === 'nodefence-system' ? [] : rules.map((rule) => ({ place: namespace, rule })),
  );
  return { own: inside('nodefence-system'), cluster: inside(undefined), elsewhere };
}

describe('the bundle for OLM', () => {
  it('gives the controller the rights of config/rbac in its own namespace and in the cluster; those in namespaces of others are a folder that it names', () => {
    const config = rulesOfConfig();
    expect(config.own.length + config.cluster.length).toBeGreaterThan(15);
    expect(permissions).toEqual([{ serviceAccountName: ACCOUNT, rules: config.own }]);
    expect(clusterPermissions).toEqual([{ serviceAccountName: ACCOUNT, rules: config.cluster }]);
    const folder = 'config/other-namespaces';
    const beside = objectsIn(`${folder}/access.yaml`).filter(({ kind }) => kind === 'Role');
    const ofController = beside.flatMap(({ metadata: { name, namespace: place }, rules = [] }) =>
      name === 'nodefence-operator' ? [] : rules.map((rule) => ({ place, rule })),
    );
    expect(ofController).toEqual(config.elsewhere);
    expect(version.spec.description).toContain(`kubectl apply -k ${folder}`);
  });

  it('lets nobody read all Leases or EndpointSlices of the cluster', () => {
    const ofAll = [...clusterPermissions, ...bundle.filter(({ kind }) => kind === 'ClusterRole')].flatMap(({ rules = [] }) => rules as Rule[]);
    const wide = ofAll.filter(({ resources, resourceNames = [] }) => resourceNames.length === 0 && resources.some((each) => NARROW.has(each)));
    expect([ofAll.length > 20, wide]).toEqual([true, []]);
  });

  it('is for its own namespace alone: for all of them, OLM would give the rights of permissions, to read Secrets, in every namespace', () => {
    expect(version.spec.installModes.flatMap(({ type, supported }) => (supported ? [type] : []))).toEqual(['OwnNamespace']);
    expect(JSON.stringify(clusterPermissions)).not.toContain('"secrets"');
  });

  it('runs the Deployment of config/controller, told by a variable, which a Subscription may change, that it observes', () => {
    const [shipped] = objectsIn('config/controller/deployment.yaml') as { spec: DeploymentSpec }[];
    const [container] = shipped?.spec.template.spec.containers ?? [];
    expect(container?.args).toEqual(['controller', '--mode', 'observe']);
    const env = [{ name: 'NODEFENCE_MODE', value: 'observe' }, ...(container?.env ?? [])];
    const expected = structuredClone(shipped?.spec);
    Object.assign(expected?.template.spec.containers[0] ?? {}, { args: ['controller'], env });
    expect(deployments).toEqual([expect.objectContaining({ name: 'nodefence-controller', spec: expected })]);
  });

  it('owns the kinds of config/crd, and brings them as they are', () => {
    const kinds = objectsIn('config/crd/nodefence*.yaml') as Definition[];
    const byName = (list: readonly KubeObject[]): KubeObject[] => list.toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name));
    expect(byName(definitions)).toEqual(byName(kinds));
    const owned = version.spec.customresourcedefinitions.owned.map(({ name, version: served, kind }) => ({ name, served, kind }));
    expect(owned).toHaveLength(4);
    for (const { metadata, spec } of kinds)
      expect(owned).toContainEqual({ name: metadata.name, served: spec.versions[0]?.name, kind: spec.names.kind });
  });

  it('has examples that the definitions admit, of the kinds that people write', () => {
    const examples = JSON.parse(version.metadata.annotations?.['alm-examples'] ?? '') as KubeObject[];
    expect(examples.map(({ kind }) => kind)).toEqual(['NodeFenceStop', 'NodeFenceAcknowledgement']);
    for (const { kind, ...example } of examples) {
      const definition = definitions.find(({ spec }) => spec.names.kind === kind);
      const { properties = {} } = definition?.spec.versions[0]?.schema.openAPIV3Schema ?? {};
      expect(violations((example as { spec?: object }).spec, properties['spec'] as JsonSchema), kind).toEqual([]);
    }
  });

  it('brings nothing that OLM does not create, no account, and no namespace, which is that of the Subscription', () => {
    const others = bundle.filter(({ kind = '' }) => !['ClusterServiceVersion', 'CustomResourceDefinition'].includes(kind));
    expect([...new Set(others.map(({ kind }) => kind))].sort()).toEqual(TAKEN_BY_OLM);
    expect(bundle.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
    const shipped = objectsIn('config/rbac/operator.yaml').filter(({ metadata: { namespace = 'nodefence-system' } }) => namespace === 'nodefence-system');
    const people = shipped.map(({ metadata: { namespace: _moved, ...metadata }, ...rest }) => ({ ...rest, metadata }));
    for (const role of people) expect(others).toContainEqual(role);
  });

  it('is of this version, names one image wherever it names one, and says of itself the same in its file and its labels', () => {
    const image = deployments[0]?.spec.template.spec.containers.map((container) => (container as Container & { image: string }).image);
    expect(image).toEqual([version.metadata.annotations?.['containerImage']]);
    expect(version.spec.relatedImages.map((related) => related.image)).toEqual(image);
    expect([version.metadata.name, version.spec.version]).toEqual([`nodefence.v${VERSION}`, VERSION]);
    const { annotations } = parse(readFileSync(join(ROOT, 'olm/metadata/annotations.yaml'), 'utf8')) as { annotations: Record<string, string> };
    const labels = readFileSync(join(ROOT, 'olm/bundle.Dockerfile'), 'utf8').matchAll(/^LABEL (.+)=(.+)$/gm);
    expect(Object.fromEntries([...labels].map(([, name, value]) => [name, value]))).toEqual(annotations);
    expect(Object.keys(annotations)).toHaveLength(6);
  });

  it('holds no file that nothing writes any more', () => {
    const written = bundleFiles(VERSION).map(({ path }) => path);
    expect(globSync('olm/**/*.*', { cwd: ROOT }).filter((path) => !written.includes(path))).toEqual([]);
  });
});
