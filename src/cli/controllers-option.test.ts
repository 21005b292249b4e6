import { describe, expect, it } from 'vitest';
import { secondaryControllersOf } from './controllers-option.ts';

describe('--controllers', () => {
  it.each([
    ['*', ['health-check', 'machine-remediation', 'metal3-remediation', 'preservation', 'probes', 'remediation', 'remedies']],
    ['*,-probes', ['health-check', 'machine-remediation', 'metal3-remediation', 'preservation', 'remediation', 'remedies']],
    ['-probes,*', ['health-check', 'machine-remediation', 'metal3-remediation', 'preservation', 'remediation', 'remedies']],
    ['*,-remediation', ['health-check', 'machine-remediation', 'metal3-remediation', 'preservation', 'probes', 'remedies']],
    ['*,-health-check', ['machine-remediation', 'metal3-remediation', 'preservation', 'probes', 'remediation', 'remedies']],
    ['*,-machine-remediation', ['health-check', 'metal3-remediation', 'preservation', 'probes', 'remediation', 'remedies']],
    ['*,-metal3-remediation', ['health-check', 'machine-remediation', 'preservation', 'probes', 'remediation', 'remedies']],
    ['probes', ['probes']],
    [' preservation , probes', ['preservation', 'probes']],
    ['-probes', []],
    ['', []],
  ])('%s', (text, names) => {
    expect([...secondaryControllersOf(text)].sort()).toEqual(names);
  });

  it.each(['fence', '-*', '*,-perhaps', 'Preservation'])('refuses %s, and names what there is', (text) => {
    expect(() => secondaryControllersOf(text)).toThrow(
      /is none of \*, preservation, probes, remediation, health-check, machine-remediation, metal3-remediation/,
    );
  });
});
