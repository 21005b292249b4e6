import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { parseXml } from '../../agents/shared/xml.ts';
import { fromStdin } from '../../src/cli/agent/fence-input.ts';
import { optionsOf } from '../../src/cli/agent/fence-options.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { Manifests } from '../../src/config/manifests/manifests.ts';
import { namedOnly } from '../../src/config/node-facts.ts';
import { parseWindows } from '../../src/config/policies-windows.ts';
import { parsePreservationPools } from '../../src/config/preservation-pools.ts';
import { Problems } from '../../src/config/problems.ts';
import { parseBoolean, parseDuration, parseList, parseProperties } from '../../src/config/properties.ts';
import { readRemedyTexts } from '../../src/config/remedies.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import { parseSelector } from '../../src/config/selector.ts';
import { conditionalMarks } from '../../src/controllers/fence/storm/marks.ts';
import { parseTimes } from '../../src/domain/node-daemon/times.ts';
import { parseCron } from '../../src/domain/policies/cron.ts';
import { serverConfigOfText } from '../../src/kube/kubeconfig/kubeconfig.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { redactedText } from '../../src/telemetry/redaction.ts';
import { anyText } from '../any-text.ts';

/** More of them by hand: `NODEFENCE_FUZZ_RUNS=100000 npx vitest run test/fuzz`. */
const RUNS = Number(process.env['NODEFENCE_FUZZ_RUNS'] ?? 60);
vi.setConfig({ testTimeout: 20_000 + RUNS * 50 });
/** Of the processor; what it is to find takes minutes, or for ever. */
const SOON_MS = 2_000;
const REGISTRY = standardRegistry();
const AGENTS = REGISTRY.names().flatMap((name) => REGISTRY.find(name) ?? []);

function planOf(text: string): unknown {
  const config = (name: string, key: string): { name: string; data: Record<string, string> } => ({ name, data: { [key]: text } });
  const maps = [
    config('fence-config-n', 'config.properties'),
    config('fence-cluster-config', 'config.properties'),
    config('fence-method-m-n', 'method.properties'),
    config('fence-policy-rate', 'config.properties'),
  ];
  return resolvePlan({ node: namedOnly('n'), configuration: configurationOf(maps, REGISTRY), secretKeys: () => undefined });
}

function remediesOf(text: string): unknown {
  const problems = new Problems();
  const found = readRemedyTexts([{ name: 'a', text, where: (line) => `line ${line}` }], problems);
  return [found.map(({ selects: _selects, ...rest }) => rest), problems.all()];
}

/** Every reader of text that somebody else wrote. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'properties of a ConfigMap': parseProperties,
  'a list, a duration, a yes': (text) => [parseList(text), parseDuration(text), parseBoolean(text)],
  'a plan of ConfigMaps': planOf,
  remedies: remediesOf,
  'pools of preservation': (text) => [...parsePreservationPools({ 'pools.yaml': text }, new Problems()).values()],
  'files of manifests': (text) => new Manifests([{ path: 'a.yaml', text }], 'fence').problems,
  'a selector': parseSelector,
  'windows and cron': (text) => [parseWindows(text), Object.keys(parseCron(text) ?? {})],
  'times told by a controller': parseTimes,
  'XML of a device': parseXml,
  'options from a fencer': (text) => AGENTS.map((agent) => [...fromStdin(text, optionsOf(agent)).values]),
  'a text for the log': redactedText,
};

const PROTOTYPE_WORDS = Object.getOwnPropertyNames(Object.prototype);
const WORDS = [
  ...PROTOTYPE_WORDS,
  ...['profile', 'minimum_evidence', 'power_management', 'isolation', 'template', 'agent_name', 'plug', 'ip', 'action', 'off', 'policy_name'],
  ...[
    '`; reboot`',
    '$(reboot)',
    '../../etc/shadow',
    '\u001B[2J',
    '\u0000',
    '%s%n',
    '{label:constructor}',
    '{annotation:__proto__}',
    '<<',
    '*a',
    '&a',
  ],
  ...['apiVersion', 'kind', 'metadata', 'spec', 'name', 'workers', '!!js/function', '!!binary', '-', '1e999', '0x10', '~'],
];
const word = fc.oneof(fc.constantFrom(...WORDS), anyText({ maxLength: 12 }));
const line = fc.tuple(word, fc.constantFrom('=', ': ', ' = ', ',', ':', ': [', '>', '</', ': {'), word).map((parts) => parts.join(''));
const text = fc
  .array(fc.oneof(line, word), { maxLength: 12 })
  .chain((lines) => fc.constantFrom('\n', '\n  ', '\r\n', '\n- ').map((between) => lines.join(between)));

/** A word that is looked up in a plain object finds what every object has. */
function functionsIn(value: unknown, path = ''): string[] {
  if (typeof value === 'function') return [path];
  if (typeof value !== 'object' || value === null || path.length > 200) return [];
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, member]) => functionsIn(member, `${path}.${String(key)}`));
}

function prototypeState(): string[] {
  return [...Object.getOwnPropertyNames(Object.prototype), ...Object.getOwnPropertyNames(Array.prototype)];
}

describe.each(Object.entries(READERS))('%s', (_name, read) => {
  it('is read, or refused in words, whatever it says, and changes nothing of the process', () => {
    const before = prototypeState();
    fc.assert(
      fc.property(text, (given) => {
        expect(functionsIn(read(given))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    for (const each of PROTOTYPE_WORDS)
      for (const given of [each, `${each}=${each}`, `${each}: ${each}`]) expect(functionsIn(read(given)), given).toEqual([]);
    expect(prototypeState()).toEqual(before);
  });

  it.each([
    ['blanks', ' '.repeat(50_000)],
    ['blanks and a sign', `${' '.repeat(50_000)}#x`],
    ['one long word', `${'a'.repeat(50_000)}!`],
    ['digits', `${'1'.repeat(50_000)}x`],
    ['durations', `${'1h'.repeat(20_000)}!`],
    ['brackets', '['.repeat(300)],
    ['tags', '<a>'.repeat(5_000)],
    ['signs', '='.repeat(50_000)],
    ['lines', 'a=b\n'.repeat(5_000)],
    ['quotes', `password=${'"\\'.repeat(20_000)}`],
    ['commas', `${'0-5,'.repeat(10_000)}x * * * *`],
    [
      'references',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replaceAll(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
    ],
  ])('is read soon where it is made of many %s', (_what, given) => {
    const begin = process.threadCpuUsage();
    read(given);
    const { user, system } = process.threadCpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(SOON_MS);
  });
});

describe('taints of a Node', () => {
  it('are no mark of somebody who deletes it by a word that every object has: the node would never be fenced', () => {
    const taints = PROTOTYPE_WORDS.map((key) => ({ key, effect: 'NoSchedule' as const }));
    const circumstances = { isHanging: false, isCordonOurs: false, isEmpty: false };
    expect(conditionalMarks({ metadata: { name: 'n' }, spec: { taints }, status: {} }, circumstances)).toEqual([]);
  });
});

describe('a kubeconfig', () => {
  it('says nothing past the log, where nobody takes a token out', async () => {
    const said = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const kubeconfig = 'users: [{name: u, user: {token: !!js/function planted-token}}]';
    await expect(serverConfigOfText(kubeconfig, 'a Secret', new ManualClock())).rejects.toThrow('a Secret');
    expect(said.mock.calls).toEqual([]);
    said.mockRestore();
  });

  it('is read, or refused in words, whatever it says', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        const found = await serverConfigOfText(given, 'a Secret', new ManualClock()).catch((error: unknown) => error);
        expect(found).toBeInstanceOf(Error);
        expect((found as Error).message).toContain('a Secret');
      }),
      { numRuns: RUNS },
    );
  });
});

describe.each(AGENTS.map((agent) => [agent.name, agent] as const))('parameters of agent %s', (_name, agent) => {
  const names = agent.describe().flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const parameters = fc.dictionary(fc.constantFrom(...names, ...PROTOTYPE_WORDS), word, { maxKeys: 8 });

  it('are taken, or refused in words, and name a device that no other text names', () => {
    fc.assert(
      fc.property(parameters, fc.boolean(), (given, withSecrets) => {
        for (const { parameter, message } of agent.check(given, withSecrets))
          expect([typeof parameter, typeof message]).toEqual(['string', 'string']);
        expect(typeof agent.plugProblem?.(given['plug'] ?? '', given, undefined)).toMatch(/^(string|undefined)$/);
      }),
      { numRuns: RUNS },
    );
  });

  it('are no yes and no no by a word that every object has', () => {
    const flags = agent.describe().filter(({ default: usual }) => usual === 'yes' || usual === 'no');
    for (const { name } of flags)
      for (const given of PROTOTYPE_WORDS)
        expect(
          agent.check({ [name]: given }, false).map(({ parameter }) => parameter),
          given,
        ).toContain(name);
    expect(names.length).toBeGreaterThanOrEqual(flags.length);
  });
});
