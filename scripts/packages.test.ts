import { describe, expect, it } from 'vitest';
import { setUpPackages } from './packages.ts';
import type { Machine } from './packages.ts';

const PROGRAMS = [
  { command: 'git', package: 'git' },
  { command: 'snmpd', package: 'snmpd', services: ['snmpd.service'] },
];

function machine(facts: Partial<Machine>, present: Set<string>): { machine: Machine; installed: string[] } {
  const installed: string[] = [];
  const install = (packages: readonly string[], services: readonly string[]): void => {
    installed.push(...packages, ...services.map((service) => `no ${service}`));
    for (const name of packages) present.add(name);
  };
  return { machine: { isRoot: true, isDebian: true, has: (command) => present.has(command), install, ...facts }, installed };
}

describe('setting up the packages that tests use', () => {
  it('does nothing where everything is there', () => {
    const said: string[] = [];
    const { machine: complete, installed } = machine({}, new Set(['git', 'snmpd']));
    expect(setUpPackages(PROGRAMS, complete, (line) => said.push(line))).toEqual([]);
    expect([installed, said]).toEqual([[], []]);
  });

  it('installs what is missing as root on Debian', () => {
    const { machine: debian, installed } = machine({}, new Set(['git']));
    expect(setUpPackages(PROGRAMS, debian, () => undefined)).toEqual([]);
    expect(installed, 'and no service of it').toEqual(['snmpd', 'no snmpd.service']);
  });

  it('leaves the services of what was there before alone', () => {
    const { machine: debian, installed } = machine({}, new Set(['snmpd']));
    setUpPackages(PROGRAMS, debian, () => undefined);
    expect(installed).toEqual(['git']);
  });

  it.each([{ isRoot: false }, { isDebian: false }])('says the one line where it may not install: %o', (facts) => {
    const said: string[] = [];
    const { machine: other, installed } = machine(facts, new Set(['git']));
    expect(setUpPackages(PROGRAMS, other, (line) => said.push(line))).toEqual(['snmpd']);
    expect(installed).toEqual([]);
    expect(said.join()).toContain('sudo apt-get install -y --no-install-recommends snmpd');
  });

  it('goes on with words when the installation fails', () => {
    const said: string[] = [];
    const offline = (): void => {
      throw new Error('no network');
    };
    const { machine: alone } = machine({ install: offline }, new Set());
    expect(setUpPackages(PROGRAMS, alone, (line) => said.push(line))).toEqual(['git', 'snmpd']);
    expect(said[0]).toContain('failed: no network');
  });
});
