import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/ports/objects.ts';
import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';

export const CHART = join(import.meta.dirname, '..', '..', 'charts', 'nodefence');
/** The version that these tests were written with; any of 3 does. */
export const HELM_INSTALLED_BY = 'go install helm.sh/helm/v3/cmd/helm@v3.19.4';
const CALL_MS = 60_000;
/** Built from source, helm takes an old Kubernetes for what it renders for. */
const FOR_KUBERNETES = ['--kube-version', '1.36.0'];

/** Named by HELM, in PATH, or where `go install` puts it. */
function findHelm(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go', 'bin')];
  return [process.env['HELM'], ...folders.map((folder) => join(folder, 'helm'))].find((path) => path !== undefined && existsSync(path));
}

export const HELM = findHelm();

export interface Said {
  code: number;
  out: string;
  err: string;
}

function environment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '', HOME: home, ...SHORT_LIVED };
}

/** helm with these words; it reaches a cluster only where they name a kubeconfig. */
export function helm(words: readonly string[], home: string): Promise<Said> {
  return new Promise((resolve) => {
    execFile(HELM ?? 'helm', [...words], { env: environment(home), timeout: CALL_MS, maxBuffer: 16 * 1024 * 1024 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : 1, out, err });
    });
  });
}

/** What `helm template` makes of the chart with these values, or what it says against them. */
export function rendered(values: object, namespace: string): { objects: KubeObject[]; err: string } {
  const words = ['template', 'nodefence', CHART, '--namespace', namespace, ...FOR_KUBERNETES, '--values', '-'];
  const { stdout, stderr } = spawnSync(HELM ?? 'helm', words, {
    env: environment('/nonexistent'),
    encoding: 'utf8',
    input: JSON.stringify(values),
    timeout: CALL_MS,
    maxBuffer: 16 * 1024 * 1024,
  });
  const documents = parseAllDocuments(stdout, { version: '1.1' });
  return { objects: documents.map((document) => document.toJS() as KubeObject | null).filter((object) => object !== null), err: stderr };
}
