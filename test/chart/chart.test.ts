import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VERSION } from '../../src/cli/version.ts';
import { chartFiles } from '../../src/manifests/chart/chart-files.ts';
import { DEFAULT_CHOICE } from '../../src/manifests/deployment.ts';
import { installation } from '../../src/manifests/installation.ts';
import { NODE_DAEMON_DUTIES } from '../../src/manifests/node-daemonset.ts';
import { OVERLAYS, overlayObjects } from '../../src/manifests/overlays.ts';
import { violations } from '../../src/manifests/violations.ts';
import type { JsonSchema } from '../../src/manifests/schema.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { KUBECTL, kubectlMinor } from '../installation/cluster.ts';
import { CHART, HELM, HELM_INSTALLED_BY, rendered } from './helm.ts';

const CONFIG = join(import.meta.dirname, '..', '..', 'config');
const NAMESPACE = 'fencing';
const KEPT = 'helm.sh/resource-policy';
const KEYED: Readonly<Record<string, string>> = { env: 'name', volumes: 'name', volumeMounts: 'mountPath' };

function textOf(file: string): string {
  return readFileSync(join(CHART, file), 'utf8');
}

/** Kinds are kept by a note of Helm; the namespace is made by whoever installs. In an order of its own, as kubectl's and Helm's differ. */
function comparable(objects: readonly KubeObject[]): unknown[] {
  return objects
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => JSON.parse(JSON.stringify(object), sorted) as KubeObject)
    .map(({ metadata: { annotations: { [KEPT]: _kept, ...annotations } = {}, ...metadata }, ...rest }) => ({
      ...rest,
      metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
    }))
    .sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
}

function sorted(key: string, value: unknown): unknown {
  const by = KEYED[key];
  if (by === undefined || !Array.isArray(value)) return value;
  const items = value as Record<string, unknown>[];
  return items.toSorted((one, other) => String(one[by]).localeCompare(String(other[by])));
}

function nameOf({ kind = '', metadata }: KubeObject): string {
  return [kind, metadata.namespace ?? '', metadata.name].join(' ');
}

describe('the chart', () => {
  it('has values that its own schema admits, and refuses those that it does not know', () => {
    const schema = JSON.parse(textOf('values.schema.json')) as JsonSchema;
    const values = parse(textOf('values.yaml')) as Record<string, unknown>;
    const closed = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
      key === 'additionalProperties' && typeof value === 'boolean' ? undefined : value,
    ) as JsonSchema;
    const free = ['resources', 'podAnnotations', 'nodeSelector', 'affinity', 'nodeDaemons.nodeSelector'];
    const unexpected = violations(values, closed).filter(({ path }) => !free.some((name) => path.startsWith(name)));
    expect(unexpected).toEqual([]);
    expect(violations({ ...values, mod: 'enforce' }, closed)).toContainEqual({ path: 'mod', message: 'is unknown' });
    expect(violations({ ...values, mode: 'perhaps' }, closed)).toContainEqual({ path: 'mode', message: 'must be one of observe, enforce' });
  });

  it('has a switch for each folder of config/ that may be installed beside', () => {
    expect(Object.keys((parse(textOf('values.yaml')) as { with: object }).with)).toEqual([...OVERLAYS]);
  });

  it('holds no template of a folder that is gone', () => {
    const written = chartFiles(VERSION).map(({ path }) => path);
    const found = globSync('templates/config/*', { cwd: CHART }).map((file) => `charts/nodefence/${file}`);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((file) => !written.includes(file))).toEqual([]);
  });
});

describe.runIf(HELM !== undefined)(`what helm template renders (needs helm: ${HELM_INSTALLED_BY})`, { timeout: 60_000 }, () => {
  const choice = { ...DEFAULT_CHOICE, namespace: NAMESPACE, policyVersion: 'v1' as const };

  it('has nothing wrong to helm lint', () => {
    const { status, stdout } = spawnSync(HELM ?? 'helm', ['lint', '--strict', CHART], { encoding: 'utf8', timeout: 60_000 });
    expect({ status, wrong: stdout.split('\n').filter((line) => /^\[(WARNING|ERROR)\]/.test(line)) }).toEqual({ status: 0, wrong: [] });
  });

  it('is what config/observe installs, and what nodefence manifests prints', () => {
    const { objects, err } = rendered({}, NAMESPACE);
    expect(err).toBe('');
    expect(comparable(objects)).toEqual(comparable(installation(choice)));
  });

  it('keeps every kind when the release goes, and leaves kinds alone when told so', () => {
    const kinds = (values: object): KubeObject[] => rendered(values, NAMESPACE).objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    const all = kinds({ with: { remediation: true } });
    expect(all.length).toBeGreaterThanOrEqual(6);
    expect(all.filter(({ metadata }) => metadata.annotations?.[KEPT] !== 'keep')).toEqual([]);
    expect(kinds({ definitions: false })).toEqual([]);
  });

  it.each(OVERLAYS.map((name) => [name]))('with %s is what nodefence manifests prints with it', (name) => {
    const { objects, err } = rendered({ with: { [name]: true } }, NAMESPACE);
    expect(err).toBe('');
    expect(comparable(objects)).toEqual(comparable(installation(choice, overlayObjects([name]))));
  });

  it('with all of them at once has each object once', () => {
    const names = Object.fromEntries(OVERLAYS.map((name) => [name, true]));
    const { objects } = rendered({ with: names, preservation: 'own', serveNodeDaemons: true, nodeDaemons: { enabled: true } }, NAMESPACE);
    const called = objects.map(nameOf);
    expect(called.length).toBeGreaterThan(60);
    expect(called.filter((name, index) => called.indexOf(name) !== index)).toEqual([]);
  });

  it('enforces and preserves when told so, from the image that is named', () => {
    const image = { repository: 'registry.example.com/ha/nodefence', digest: `sha256:${'a'.repeat(64)}` };
    const { objects } = rendered({ mode: 'enforce', preservation: 'own', image }, NAMESPACE);
    const chosen = { ...choice, mode: 'enforce' as const, preservation: 'own' as const, image: `${image.repository}@${image.digest}` };
    expect(comparable(objects)).toEqual(comparable(installation(chosen)));
  });

  it('adds to the Deployment what an installation has of its own', () => {
    const secret = { name: 'cloud', secret: { secretName: 'cloud' } };
    const values = {
      replicas: 3,
      arguments: ['--programs', '/opt/nodefence-programs'],
      env: [{ name: 'AWS_REGION', value: 'eu-central-1' }],
      volumes: [secret],
      volumeMounts: [{ name: 'cloud', mountPath: '/cloud', readOnly: true }],
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      image: { tag: '1_000', pullPolicy: 'Always', pullSecrets: [{ name: 'registry' }] },
    };
    const found = rendered(values, NAMESPACE).objects.find(({ kind }) => kind === 'Deployment');
    expect(found).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: {
            imagePullSecrets: [{ name: 'registry' }],
            volumes: [secret],
            tolerations: expect.arrayContaining([{ key: 'dedicated', operator: 'Exists' }]) as unknown,
            containers: [
              {
                image: 'nodefence:1_000',
                imagePullPolicy: 'Always',
                args: ['controller', '--mode', 'observe', '--programs', '/opt/nodefence-programs'],
                env: expect.arrayContaining([{ name: 'AWS_REGION', value: 'eu-central-1' }]) as unknown,
                volumeMounts: [{ name: 'cloud', mountPath: '/cloud', readOnly: true }],
              },
            ],
          },
        },
      },
    });
  });

  it.each([
    ['mode', { mode: 'perhaps' }],
    ['unknown', { unknown: true }],
    ['duties', { nodeDaemons: { duties: ['fly'] } }],
    ['everything', { with: { everything: true } }],
    ['replicas', { replicas: 0 }],
    ['digest', { image: { digest: 'sha256:abc' } }],
  ])('refuses a wrong %s, and says which', (name, values) => {
    const { objects, err } = rendered(values, NAMESPACE);
    expect(objects).toEqual([]);
    expect(err).toContain(name);
  });

  describe.runIf(kubectlMinor() >= 30)('beside what kubectl kustomize renders (needs kubectl 1.30)', () => {
    const home = mkdtempSync(join(tmpdir(), 'chart-'));
    const folder = join(home, 'duties');
    const kustomized = (path: string): KubeObject[] => {
      const text = execFileSync(KUBECTL, ['kustomize', path], { env: { PATH: process.env['PATH'] ?? '', HOME: home }, encoding: 'utf8' });
      return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
    };
    const duties = Object.keys(NODE_DAEMON_DUTIES);
    const daemons = (values: object, namespace = 'nodefence-system'): KubeObject[] => {
      const plain = new Set(rendered({}, namespace).objects.map(nameOf));
      return rendered(values, namespace).objects.filter((object) => !plain.has(nameOf(object)));
    };

    beforeAll(() => mkdirSync(folder));
    afterAll(() => rmSync(home, { recursive: true }));

    it.each([['observe'], ['enforce']] as const)('mode %s is the folder of that name, with node daemons, and with kdump', (mode) => {
      const render = (values: object): unknown => comparable(rendered({ mode, ...values }, 'nodefence-system').objects);
      expect(render({})).toEqual(comparable(kustomized(join(CONFIG, mode))));
      expect(render({ serveNodeDaemons: true })).toEqual(comparable(kustomized(join(CONFIG, `${mode}-with-node-daemons`))));
      expect(render({ hearKdump: true })).toEqual(comparable(kustomized(join(CONFIG, `${mode}-with-kdump`))));
    });

    it.each([
      ['node-daemonset', []],
      ['node-daemonset-watchdog', ['watchdog']],
      ['node-daemonset-self-fence', ['watchdog', 'self-fence']],
    ])('the node daemons are those of config/%s', (name, chosen) => {
      expect(comparable(daemons({ nodeDaemons: { enabled: true, duties: chosen } }))).toEqual(comparable(kustomized(join(CONFIG, name))));
    });

    it.each([...duties, 'watchdog,soft-fence,unfence,storage-lease-device,conditions', duties.join()])(
      'the duties %s are what kustomize makes of their patches',
      (names) => {
        const chosen = names.split(',');
        const at = (name: string): string => relative(folder, join(CONFIG, name));
        const components = chosen.map((duty) => at(`node-daemonset-parts/${duty}`));
        writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources: [at('node-daemonset')], components }));
        expect(comparable(daemons({ nodeDaemons: { enabled: true, duties: chosen } }))).toEqual(comparable(kustomized(folder)));
      },
    );
  });
});
