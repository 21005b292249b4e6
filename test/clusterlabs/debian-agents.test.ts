import { readdirSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { callText, hasPlugs } from '../../agents/exec/call-text.ts';
import { FenceCatalogue } from '../../agents/exec/catalogue.ts';
import type { FenceProgram } from '../../agents/exec/catalogue.ts';
import { checkProgram, describeProgram } from '../../agents/exec/parameters.ts';
import { ProgramFolder } from '../../agents/shared/process/program-folder.ts';
import { runProgram } from '../../agents/shared/process/run-program.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

const FOLDER = '/usr/sbin';
const PATH = `${FOLDER}:/usr/bin:/sbin:/bin`;
/** Of fence-agents 4.12.1; other packages may bring more. */
const PROGRAMS_MIN = 80;

/** What has no status, on or off, or is no fence agent at all: refused in words before it is ever called. */
const UNUSABLE: readonly string[] = ['fence_ack_manual', 'fence_heuristics_ping', 'fence_kdump', 'fence_ovh', 'fence_rcd_serial', 'fence_watchdog'];

const programs = readdirSync(FOLDER).filter((name) => /^fence_[a-z0-9_]+$/.test(name));
const areThere = programs.includes('fence_ipmilan');

/** The least that the agent's own metadata ask for. */
function completed({ metadata }: FenceProgram): Record<string, string> {
  const parameters: Record<string, string> = { accept_known_faults: 'yes' };
  for (const { name, required, default: usual, options, type } of metadata?.parameters.values() ?? []) {
    if (required && usual === undefined) parameters[name] = options[0] ?? (type === 'string' ? 'x' : '1');
  }
  if (metadata?.parameters.has('ip') === true) parameters['ip'] = '192.0.2.1';
  if (metadata?.parameters.has('password') === true) parameters['password'] = 'a secret';
  return parameters;
}

describe.skipIf(!areThere)('every fence agent of Debian', { timeout: 600_000 }, () => {
  const catalogue = new FenceCatalogue(new ProgramFolder({ kind: 'folder', path: FOLDER }));

  it('is there, says what it is, and says it once', () => {
    expect(programs.length).toBeGreaterThanOrEqual(PROGRAMS_MIN);
    const silent = programs.filter((name) => catalogue.find(name)?.metadata === undefined);
    expect(silent).toEqual(['fence_ack_manual']);
    for (const name of programs) expect(catalogue.find(name)).toBe(catalogue.find(name.replaceAll('_', '-')));
  });

  it('can be called, or is refused in words', () => {
    const refused = programs.filter((name) => {
      const program = catalogue.find(name);
      return program === undefined || checkProgram(program, completed(program), true, catalogue.programs).length > 0;
    });
    expect(refused.filter((name) => !UNUSABLE.includes(name))).toEqual([]);
    expect(UNUSABLE.filter((name) => programs.includes(name) && !refused.includes(name))).toEqual([]);
  });

  it('keeps what is secret out of what is shown', () => {
    const found = programs.flatMap((name) => catalogue.find(name) ?? []);
    expect(found.length).toBeGreaterThanOrEqual(PROGRAMS_MIN);
    for (const program of found) {
      const shown = describeProgram(program).filter(({ secret }) => !secret);
      expect(
        shown.filter(
          ({ name: parameter, description }) =>
            /^pass(?:word|wd)$|community|token$|secret_key|apikey/.test(parameter) && !description.startsWith('Refused'),
        ),
      ).toEqual([]);
    }
  });

  it('finds nothing amiss in what it is told: it validates the call itself, and no device is asked', async () => {
    const usable = programs.filter((name) => !UNUSABLE.includes(name) && catalogue.find(name)?.metadata?.actions.has('validate-all') === true);
    expect(usable.length).toBeGreaterThanOrEqual(PROGRAMS_MIN - UNUSABLE.length - 2);
    const amiss: string[] = [];
    const waiting = [...usable];
    const work = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const program = catalogue.find(name);
        if (program?.metadata === undefined) throw new Error(name);
        const plug = hasPlugs(program.metadata) ? '3' : '';
        const stdin = callText(program.metadata, { action: 'status', plug, parameters: completed(program), powerTimeout: 5 });
        const { code, stderr } = await runProgram({
          argv: [`${FOLDER}/${program.name}`],
          stdin: stdin.replace('action=status\n', 'action=validate-all\n'),
          path: PATH,
          clock: new SystemClock(),
          signal: new AbortController().signal,
          deadlineMs: 60_000,
        });
        if (code !== 0 || /Parse error|Failed:/.test(stderr)) amiss.push(`${name}: ${code ?? 'killed'} ${stderr}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(amiss).toEqual([]);
  });
});
