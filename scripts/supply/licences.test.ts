import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lockedPackages } from './locked-packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What may be in the program that ships under Apache-2.0: they ask for their notice to be kept, and for nothing else. */
const SHIPPED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];
/** And in tools that only development runs. */
const IN_DEVELOPMENT = [...SHIPPED, 'BlueOak-1.0.0', 'MPL-2.0', 'PSF-2.0'];
const packages = lockedPackages(ROOT);

function outside(allowed: readonly string[], isDevelopment: boolean): string[] {
  return packages
    .filter((one) => one.isDevelopment === isDevelopment && !allowed.includes(one.licence))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence === '' ? 'no licence' : licence}`);
}

describe('the packages of the lock file', () => {
  it('that ship have a licence that was allowed', () => {
    expect(packages.filter(({ isDevelopment }) => !isDevelopment).length).toBeGreaterThan(40);
    expect(outside(SHIPPED, false)).toEqual([]);
  });

  it('that development runs have one too', () => {
    expect(packages.filter(({ isDevelopment }) => isDevelopment).length).toBeGreaterThan(200);
    expect(outside(IN_DEVELOPMENT, true)).toEqual([]);
  });

  it('would be found out with another one', () => {
    expect(outside(['ISC'], false)).toContain('axios 1.21.1: MIT');
  });

  it('run a script when they are installed only where package.json says whether they may', () => {
    const { allowScripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { allowScripts: Record<string, boolean> };
    const names = packages.filter(({ hasScript }) => hasScript).map(({ name }) => name);
    expect(names.sort()).toEqual(Object.keys(allowScripts).sort());
    expect(names.filter((name) => allowScripts[name] === true)).toEqual(['node-pty']);
  });

  it('are none that their authors advise against', () => {
    expect(packages.filter(({ deprecated }) => deprecated !== '').map(({ name, deprecated }) => `${name}: ${deprecated}`)).toEqual([]);
  });

  it('are pinned by what they contain', () => {
    expect(packages.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity)).map(({ path }) => path)).toEqual([]);
  });
});
