import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const BUILD_WITHIN_MS = 45 * 60_000;
const NAMES = ['kubelet', 'kube-scheduler'];
/** `v1.36.3`. */
const RELEASE = /^v1\.(\d+)\.\d+$/u;

export function programsFolder(release: string): string {
  return join(homedir(), '.cache', 'nodefence-machine', `kubernetes-${release}`);
}

/** The programs of this release of Kubernetes, one binary with a name for each, built once from its Go module and kept in ~/.cache. Their folder. */
export function kubernetesPrograms(release: string, tell: (line: string) => void): string {
  const minor = RELEASE.exec(release)?.[1];
  if (minor === undefined) throw new Error(`no release of Kubernetes is called ${release}`);
  const folder = programsFolder(release);
  if (existsSync(folder)) return folder;
  tell(`building ${NAMES.join(' and ')} ${release} in ${folder}: many minutes, once`);
  mkdirSync(dirname(folder), { recursive: true });
  const making = mkdtempSync(join(dirname(folder), 'making-'));
  try {
    const source = join(making, 'source');
    mkdirSync(source);
    writeModule(source, release);
    go(source, ['mod', 'tidy']);
    const version = [`gitVersion=${release}`, 'gitMajor=1', `gitMinor=${minor}`].map((word) => `-X k8s.io/component-base/version.${word}`);
    go(source, ['build', '-p', '2', `-ldflags=-s -w ${version.join(' ')}`, '-o', join(making, 'kubernetes'), '.']);
    rmSync(source, { recursive: true });
    for (const name of NAMES) symlinkSync('kubernetes', join(making, name));
    // Whole or not at all.
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Kubernetes names its staging modules by folders of its own repository; outside it they are the releases of the same number. */
function writeModule(source: string, release: string): void {
  const { Dir: upstream } = JSON.parse(go(source, ['mod', 'download', '-json', `k8s.io/kubernetes@${release}`])) as { Dir: string };
  const theirs = readFileSync(join(upstream, 'go.mod'), 'utf8').split('\n');
  const kept = theirs.filter((line) => /^(?:go|godebug) /u.test(line));
  const staged = theirs.flatMap((line) => /^\t(k8s\.io\/[\w-]+) => \.\/staging/u.exec(line)?.[1] ?? []);
  const replaced = staged.map((name) => `\t${name} => ${name} ${release.replace('v1.', 'v0.')}`);
  const lines = ['module machine', ...kept, `require k8s.io/kubernetes ${release}`, 'replace (', ...replaced, ')', ''];
  writeFileSync(join(source, 'go.mod'), lines.join('\n'));
  writeFileSync(join(source, 'go.sum'), readFileSync(join(upstream, 'go.sum')));
  copyFileSync(join(import.meta.dirname, 'main.go'), join(source, 'main.go'));
}

function go(folder: string, words: readonly string[]): string {
  return execFileSync('nice', ['-n', '10', 'go', ...words], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_WITHIN_MS,
  });
}
