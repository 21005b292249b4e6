// Whoever copies an example of a page gets a configuration that `nodefence validate` takes.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { validate } from '../../src/cli/validate/validation.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'nodefence-pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a program printed. */
const SHOWN = ['docs/first-hour.md', 'docs/upgrade-transcript.md'];
const NO_PROOF = /no method switches the node off or revokes its storage/u;

interface Example {
  page: string;
  text: string;
}

/** What a page's example rightly leaves open: it shows one step of a fence, or a value that only its reader has. */
const LEFT_OPEN: Readonly<Record<string, RegExp>> = {
  'agents/ack/README.md': NO_PROOF,
  'agents/cordon/README.md': NO_PROOF,
  'agents/ethernet-switch/README.md': NO_PROOF,
  'agents/exec/README.md': /fence_netio is not part of this version, and its program of ClusterLabs cannot run/u,
  'agents/fc-switch/README.md': NO_PROOF,
  'agents/gce/README.md': /serviceaccount must be the JSON of a credential file/u,
  'agents/ssh/README.md': NO_PROOF,
  'agents/taint/README.md': NO_PROOF,
  'agents/unfence/README.md': NO_PROOF,
};

const NODE = `---
apiVersion: v1
kind: Node
metadata: { name: worker-1 }
spec: { providerID: 'aws:///eu-central-1a/i-0123456789abcdef0' }
status: { addresses: [{ type: InternalIP, address: 192.0.2.90 }, { type: InternalIP, address: 10.0.0.5 }] }
`;

/** Blocks that hold a whole ConfigMap of fencing; a part of one has no `apiVersion`. */
function examplesOf(page: string): Example[] {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```yaml\n(.*?)^\1```/gmsu)];
  const texts = blocks.map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gmu'), ''));
  return texts
    .filter((text) => /^apiVersion:/mu.test(text) && /^kind: ConfigMap$/mu.test(text) && /\bfence-/u.test(text))
    .map((text) => ({ page, text }));
}

const examples = globSync(['README.md', 'docs/*.md', 'agents/*/README.md'], { cwd: ROOT, exclude: SHOWN }).sort().flatMap(examplesOf);

function problemsOf({ text }: Example): string[] {
  const file = join(folder, 'example.yaml');
  writeFileSync(file, `${text}${NODE}`);
  const { report } = validate(inputFromFiles([file], 'nodefence-system'), standardRegistry(), []);
  return report.problems.map(({ severity, where, message }) => `${severity} ${where}: ${message}`);
}

describe('examples on pages', () => {
  it('are found', () => {
    expect(new Set(examples.map(({ page }) => page)).size).toBeGreaterThan(20);
  });

  it.for(examples.map((example, index) => ({ ...example, name: `${example.page} (${index})` })))('$name', (example) => {
    const leftOpen = LEFT_OPEN[example.page];
    const problems = problemsOf(example);
    expect(problems.filter((problem) => leftOpen?.test(problem) !== true)).toEqual([]);
    expect(problems.length > 0).toBe(leftOpen !== undefined);
  });
});
