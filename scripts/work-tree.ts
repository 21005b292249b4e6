// What git and the folders say about the sources that a change is made in.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sources } from './import-graph.ts';

const FOLDERS = ['src', 'agents', 'test', 'scripts'];
const TRUNKS = ['origin/main', 'origin/master', 'main', 'master'];

function git(root: string, ...words: string[]): string[] {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    .split('\n')
    .filter((line) => line !== '');
}

/** The commit from which this branch began; HEAD on the trunk itself. */
export function branchPoint(root: string): string {
  const known = new Set(git(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/remotes'));
  const trunk = TRUNKS.find((name) => known.has(name));
  return git(root, ...(trunk === undefined ? ['rev-parse', 'HEAD'] : ['merge-base', 'HEAD', trunk]))[0] ?? 'HEAD';
}

/** What differs from this commit, with what is not committed and what git does not know yet; paths from the root. */
export function changedSince(root: string, commit: string): string[] {
  const known = git(root, 'diff', '--name-only', '--no-renames', commit, '--');
  return [...new Set([...known, ...git(root, 'ls-files', '--others', '--exclude-standard')])];
}

export function sourcesOf(root: string): Sources {
  const modules = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return new Map(modules.filter((file) => file.endsWith('.ts')).map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** A deleted file is changed, and there is nothing in it to check. */
export function isThere(root: string, file: string): boolean {
  return existsSync(join(root, file));
}
