import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { DEFAULT_CHOICE } from '../../src/manifests/deployment.ts';
import { installation, MANIFEST_FILES, OPTIONAL_FILES } from '../../src/manifests/installation.ts';
import { DEFINITION_FOLDERS, OVERLAYS, overlayObjects } from '../../src/manifests/overlays.ts';
import { renderObjects } from '../../src/manifests/render.ts';
import { CLUSTER_FILES } from '../../src/manifests/cluster-files.ts';
import { PATCHED_FILES } from '../../src/manifests/node-daemonset-files.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { KUBECTL, kubectlMinor } from './cluster.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const GENERATED = [...MANIFEST_FILES, ...OPTIONAL_FILES, ...PATCHED_FILES, ...CLUSTER_FILES];
const CONFIG = globSync('config/**/*.{yaml,yml}', { cwd: ROOT }).sort();
const PAGES = globSync(['README.md', 'docs/**/*.md', 'agents/*/README.md'], { cwd: ROOT }).sort();
const FENCED = /^( *)```ya?ml\n(.*?)^\1```$/gmsu;
const MARK = 'example.com/read-by';

function read(text: string, version: '1.1' | '1.2'): unknown[] {
  return parseAllDocuments(text, { version }).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The YAML that a page shows, each without its indentation in the page. */
function shownIn(page: string): string[] {
  return [...textOf(page).matchAll(FENCED)].map(([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** As kubectl reads it, whose library knows YAML 1.1 in Go's way; reaches no cluster. */
function readByKubectl(text: string): unknown[] {
  const words = ['annotate', '--local', '-f', '-', '-o', 'json', `${MARK}=kubectl`];
  const env = { PATH: process.env['PATH'] ?? '', HOME: tmpdir() };
  const said = execFileSync(KUBECTL, words, { env, input: text, encoding: 'utf8', timeout: 60_000 });
  return said
    .split(/(?<=^\})\n/m)
    .filter((json) => json !== '')
    .map((json) => unmarked(JSON.parse(json) as KubeObject));
}

function unmarked({ metadata, ...object }: KubeObject): KubeObject {
  const { annotations: { [MARK]: _mark, ...annotations } = {}, ...rest } = metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? rest : { ...rest, annotations } };
}

describe.each(['1.1', '1.2'] as const)('read as YAML %s', (version) => {
  it.each(GENERATED.map(({ path, objects }) => [path, objects] as const))('config/%s is what is in memory', (path, objects) => {
    expect(read(textOf(`config/${path}`), version)).toEqual(objects);
  });

  it('nodefence manifests prints what is in memory, whatever is chosen', () => {
    for (const policyVersion of ['v1', 'v1beta1'] as const) {
      const choice = { ...DEFAULT_CHOICE, namespace: 'on', policyVersion, image: '1_000', preservation: 'own' as const };
      const objects = installation(choice, overlayObjects(OVERLAYS));
      expect(read(renderObjects(objects), version)).toEqual(objects);
    }
    for (const folder of DEFINITION_FOLDERS) expect(read(renderObjects(overlayObjects([folder])), version)).toEqual(overlayObjects([folder]));
  });
});

describe('the same for readers of YAML 1.1 and of 1.2', () => {
  it('is looked for in every file', () => {
    expect(CONFIG).toEqual(expect.arrayContaining(GENERATED.map(({ path }) => `config/${path}`)));
    expect(CONFIG).toEqual(expect.arrayContaining(['config/samples/nodes.yaml', 'config/templates/redfish.yaml']));
    expect(PAGES.flatMap(shownIn).length).toBeGreaterThanOrEqual(20);
  });

  it.each(CONFIG)('is %s', (file) => {
    expect(read(textOf(file), '1.1')).toEqual(read(textOf(file), '1.2'));
  });

  it.each(PAGES.filter((page) => shownIn(page).length > 0))('is what %s shows', (page) => {
    for (const text of shownIn(page)) expect(read(text, '1.1')).toEqual(read(text, '1.2'));
  });
});

describe.runIf(kubectlMinor() >= 0)('read by kubectl (needs kubectl)', { timeout: 60_000 }, () => {
  /** What kubectl takes: the rules of Prometheus are no object. */
  const objects = CONFIG.filter((file) => !file.endsWith('kustomization.yaml') && !file.startsWith('config/prometheus/'));

  it.each(objects)('%s is what a reader of YAML 1.2 sees', (file) => {
    expect(readByKubectl(textOf(file))).toEqual(read(textOf(file), '1.2'));
  });
});
