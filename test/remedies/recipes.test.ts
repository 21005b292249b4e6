import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isRemedies } from '../../src/config/cluster-checks.ts';
import { Problems } from '../../src/config/problems.ts';
import { checkRemedyReach, readRemedies } from '../../src/config/remedies.ts';

const FOLDER = new URL('../../config/remedy-recipes/', import.meta.url);
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .sort();

interface ConfigMap {
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  data: Record<string, string>;
}

const mapsOf = (file: string): ConfigMap[] =>
  parseAllDocuments(readFileSync(new URL(file, FOLDER), 'utf8')).map((document) => document.toJS() as ConfigMap);
const remediesOf = (file: string) =>
  mapsOf(file)
    .map(({ metadata: { name, labels }, data }) => ({ name, labels, data }))
    .filter(isRemedies);

describe('recipes of remedies', () => {
  it.each(FILES)('%s is read without a word', (file) => {
    const problems = new Problems();
    const found = readRemedies(remediesOf(file), problems);
    expect(problems.all()).toEqual([]);
    expect(found).toHaveLength(1);
  });

  it('say what is done, in which order, and after how long', () => {
    const found = readRemedies(FILES.flatMap(remediesOf), new Problems());
    const lines = found.flatMap(({ name, thresholds }) =>
      thresholds.map(({ id, periodMs, remedies }) => [name, id, periodMs / 60_000, ...remedies.map((use) => `${use.name}:${use.remedy.kind}`)]),
    );
    expect(lines).toEqual([
      ['alertmanager', 'AlertManager_NodeDiskFailing=True', 15, 'drain:evict'],
      ['ansible', 'ContainerRuntimeUnhealthy=True', 2, 'restart-services:podTemplate', 'drain:evict'],
      ['corrupt-docker-overlay2', 'CorruptDockerOverlay2=True', 1, 'drain:evict'],
      ['disk-pressure', 'DiskPressure=True', 10, 'prune-images:podTemplate', 'drain:evict'],
      ['frequent-kubelet-restart', 'FrequentKubeletRestart=True', 10, 'drain:evict', 'fence:fence'],
      ['kernel-deadlock', 'KernelDeadlock=True', 2, 'drain:evict', 'fence:fence'],
      ['readonly-filesystem', 'ReadonlyFilesystem=True', 1, 'drain:evict', 'fence:fence'],
    ]);
  });

  it('can all be applied together: no two answer the same condition', () => {
    const problems = new Problems();
    const labels = { 'example.com/remedy': 'ansible' };
    checkRemedyReach(readRemedies(FILES.flatMap(remediesOf), problems), [{ name: 'a', labels }], problems);
    expect(problems.all()).toEqual([]);
  });

  it('fence nothing before the pods that can leave had time to', () => {
    const thresholds = readRemedies(FILES.flatMap(remediesOf), new Problems()).flatMap((one) => one.thresholds);
    const uses = thresholds.map(({ remedies }) => remedies).filter((all) => all.some(({ remedy }) => remedy.kind === 'fence'));
    expect(uses.map(([first]) => [first?.remedy.kind, (first?.periodMs ?? 0) >= 300_000])).toEqual(uses.map(() => ['evict', true]));
  });

  it('are all in the README, and nothing else is', () => {
    const readme = readFileSync(new URL('README.md', FOLDER), 'utf8');
    const told = [...readme.matchAll(/^\| `([a-z0-9/-]+\.yaml)`/gm)].map(([, name]) => name);
    expect(told.toSorted()).toEqual(FILES);
  });
});
