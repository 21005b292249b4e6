import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createRegistry, clusterAgents } from '../../agents/registry.ts';
import type { AgentContext, AgentDefinition } from '../ports/agents.ts';
import { endingWhenReplaced } from './replaced-program.ts';

const [cordon] = clusterAgents as [AgentDefinition];
const CONTEXT = {} as AgentContext;

/** As Node itself has it: the runner of the tests imports in its own way. */
function importError(file: string): Error {
  const script = 'import(process.argv[1]).catch(({ message, code, url }) => console.log(JSON.stringify({ message, code, url })))';
  const { message, ...facts } = JSON.parse(execFileSync(process.execPath, ['-e', script, file], { encoding: 'utf8' })) as { message: string };
  return Object.assign(new Error(message), facts);
}

function registryOf(file: string): { find: (name: string) => AgentDefinition | undefined; ends: string[] } {
  const ends: string[] = [];
  const create = (): Promise<never> => Promise.reject(importError(file));
  const registry = endingWhenReplaced(createRegistry([{ ...cordon, create }]), (reason) => ends.push(reason));
  return { find: (name) => registry.find(name), ends };
}

describe('a program that is replaced while it runs', () => {
  it('ends once when the code of an agent is gone, and each call fails', async () => {
    const { find, ends } = registryOf(new URL('agent-of-before.js', import.meta.url).href);
    await expect(find('cordon')?.create(CONTEXT)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
    await expect(find('cordon')?.create(CONTEXT)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
    expect(ends).toEqual([expect.stringMatching(/^the program was replaced .*agent-of-before\.js/u)]);
  });

  it('runs on when a package was never installed', async () => {
    const { find, ends } = registryOf('a-package-that-nobody-has');
    await expect(find('cordon')?.create(CONTEXT)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
    expect(ends).toEqual([]);
  });

  it('is the same agent each time it is asked for, by any of its names', () => {
    const registry = endingWhenReplaced(createRegistry([{ ...cordon, aliases: ['kordon'] }]), () => undefined);
    expect(registry.find('cordon')).toBe(registry.find('kordon'));
    expect(registry.find('cordon')).toMatchObject({ name: 'cordon', kind: cordon.kind });
    expect(registry.find('other')).toBeUndefined();
  });
});
