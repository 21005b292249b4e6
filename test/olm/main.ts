// `node test/olm/main.ts`: validates the bundle in olm/ by the rules of the operator framework, and copies of it that they must refuse. Needs Go and its modules.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const KUBERNETES = '1.36.0';
const SERVICE_VERSION = 'manifests/nodefence.clusterserviceversion.yaml';

interface Found {
  Errors: { Detail: string }[] | null;
  Warnings: { Detail: string }[] | null;
}

/** Bundles with one mistake: what is replaced, and by what. */
const MISTAKES: Readonly<Record<string, readonly [string, string]>> = {
  'without an install mode': ['supported: true', 'supported: false'],
  'that owns a kind which it does not bring': ['- name: nodefences.ha.k8s.io', '- name: nodefences.example.com'],
  'of no version': ['version: "0.1.0"', 'version: ""'],
};

function validated(program: string, folder: string): { errors: string[]; warnings: string[] } {
  const { status, stdout, stderr } = spawnSync(program, [folder, KUBERNETES], { encoding: 'utf8' });
  if (status !== 0) return { errors: [stderr.trim()], warnings: [] };
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
  const details = (of: 'Errors' | 'Warnings'): string[] => [...new Set(found.flatMap((each) => (each[of] ?? []).map(({ Detail }) => Detail.trim())))];
  return { errors: details('Errors'), warnings: details('Warnings') };
}

function say(isSo: boolean, name: string, seen: string): void {
  process.stdout.write(`  ${isSo ? 'ok    ' : 'NOT SO'}  ${name}: ${seen}\n`);
  if (!isSo) process.exitCode = 1;
}

const work = mkdtempSync(join(tmpdir(), 'nodefence-olm-'));
try {
  const program = join(work, 'validator');
  execFileSync('go', ['build', '-o', program, '.'], { cwd: join(ROOT, 'test/olm/validator'), stdio: 'inherit' });
  const { errors, warnings } = validated(program, join(ROOT, 'olm'));
  for (const warning of warnings) process.stdout.write(`  warning ${warning}\n`);
  say(errors.length === 0, 'the bundle is valid', errors.join('; ') || `no error, ${warnings.length} warnings`);
  for (const [name, [from, to]] of Object.entries(MISTAKES)) {
    const folder = join(work, 'mistake');
    cpSync(join(ROOT, 'olm'), folder, { recursive: true });
    const text = readFileSync(join(folder, SERVICE_VERSION), 'utf8');
    writeFileSync(join(folder, SERVICE_VERSION), text.replace(from, to));
    const refused = validated(program, folder).errors;
    say(text.includes(from) && refused.length > 0, `a bundle ${name} is refused`, refused.join('; '));
    rmSync(folder, { recursive: true });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
