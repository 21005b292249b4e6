import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RemedyConfiguration } from '../domain/remedy/configuration.ts';
import { Problems } from './problems.ts';
import { checkRemedyReach, readRemedies, readRemedyTexts } from './remedies.ts';

/** As the design printed it in 2018, byte for byte. */
const SEED = readFileSync(new URL('fixtures/node-remedy.yaml', import.meta.url), 'utf8');

function read(...texts: string[]): { told: string[]; configurations: RemedyConfiguration[] } {
  const problems = new Problems();
  const configurations = readRemedies(
    [{ name: 'fence-remedies', data: Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, text])) }],
    problems,
  );
  const told = problems.all().map(({ severity, where, message }) => `${severity} ${/line (\d+)/.exec(where)?.[1] ?? '-'}: ${message}`);
  return { told, configurations };
}

const small = (threshold: string, more = ''): string =>
  `apiVersion: node-remedy/v1alpha\nkind: Configuration\nthresholdConfigs:\n- nodeConditionType: KernelDeadlock\n  ${threshold}\n  remedy1: {name: drain}\n${more}`;
const STATUS = 'nodeConditionStatus: true\n  nodeConditionPeriod: 1m';

describe('remedies', () => {
  it('are read as the design prints them', () => {
    const { told, configurations } = read(SEED);
    expect(told).toEqual([]);
    expect(configurations).toHaveLength(1);
    const [configuration] = configurations;
    expect(configuration).toMatchObject({
      name: 'fence-remedies/0.yaml',
      where: 'ConfigMap fence-remedies, key 0.yaml, line 1',
      selector: 'type=compute',
      alarms: [],
    });
    expect(configuration?.selects({ type: 'compute' })).toBe(true);
    expect(configuration?.selects({ type: 'storage' })).toBe(false);
    const [ready, disk] = configuration?.thresholds ?? [];
    expect(ready).toMatchObject({
      id: 'Ready=False',
      conditionType: 'Ready',
      trigger: { kind: 'status', statuses: ['False', 'Unknown'] },
      periodMs: 5_000,
      clearPeriodMs: 5_000,
      isLatched: false,
      maxAttempts: 3,
      cooldownMs: 3_600_000,
      remedies: [
        { name: 'repair', periodMs: 180_000, cleansResources: false },
        { name: 'terminate', periodMs: 5_000, cleansResources: true },
      ],
      recovery: { name: 'recovery', remedy: { kind: 'planStep', step: 'recovery' } },
    });
    expect(ready).not.toHaveProperty('heartbeatPeriodMs');
    expect(disk).toMatchObject({
      id: 'DiskPressure=True',
      trigger: { kind: 'status', statuses: ['True'] },
      periodMs: 600_000,
      remedies: [{ name: 'storage-fence', remedy: { kind: 'planStep', step: 'isolation' }, periodMs: 600_000, cleansResources: true }],
    });
  });

  it('turn the name lists of a container into references and leave a pod as Kubernetes knows it', () => {
    const remedy = read(SEED).configurations[0]?.thresholds[0]?.remedies[0]?.remedy;
    expect(remedy).toEqual({
      kind: 'podTemplate',
      template: {
        spec: { containers: [{ name: 'repair', image: 'IMAGE:VERSION', command: ['binary', 'clean node command'] }], restartPolicy: 'Never' },
      },
      references: [{ container: 'repair', isInit: false, secrets: ['secret-key'], configMaps: ['fence-method-config'] }],
      runOn: 'other',
    });
  });

  it('keep what a container says in the words of Kubernetes', () => {
    const text = SEED.replace('env: ["secret-key"]', 'env: ["secret-key", {name: A, value: b}]');
    const remedy = read(text).configurations[0]?.thresholds[0]?.remedies[0]?.remedy;
    expect(remedy).toMatchObject({
      template: { spec: { containers: [{ env: [{ name: 'A', value: 'b' }] }] } },
      references: [{ secrets: ['secret-key'] }],
    });
  });

  it.each<[what: string, from: string, to: string, expected: string]>([
    ['another version', 'v1alpha', 'v2', 'error 1: apiVersion is node-remedy/v2: it must be node-remedy/v1alpha'],
    ['another kind', 'kind: Configuration', 'kind: Remedy', 'error 2: kind is Remedy: it must be Configuration'],
    ['a selector that is none', 'nodeSelector: type=compute', 'nodeSelector: "type compute"', 'error 4: nodeSelector type compute is no selector'],
    ['an empty selector', 'nodeSelector: type=compute', 'nodeSelector: ""', 'error 4: nodeSelector  is no selector'],
    ['a remedy that is nowhere', '- name: repair   \n', '- name: repir\n', 'error 12: remedy repir does not exist: did you mean repair?'],
    ['a period that is none', 'period: 3m', 'period: often', 'error 13: period must be a duration of at least 1s, such as 5s or 3m'],
    ['a period of nothing', 'nodeConditionPeriod: 5s', 'nodeConditionPeriod: 0', 'error 10: nodeConditionPeriod must be a duration of at least 1s'],
    ['no period', '  nodeConditionPeriod: 5s\n', '', 'error 8: nodeConditionPeriod must be a duration of at least 1s'],
    ['a period that stands twice', '- period: 3m', '- period: 3m\n   - period: 4m', 'error 14: remedy1 says period twice: keep one of them'],
    ['a gap', 'remedy2', 'remedy3', 'error 8: remedy2 is missing: number the remedies from 1 without a gap'],
    ['a status that is none', 'Status: false', 'Status: bad', 'error 9: nodeConditionStatus must be true, false or Unknown'],
    ['a misspelt key', 'Period: 10m', 'Period: 10m\n  cooldwn: 1h', 'warning 22: unknown key cooldwn: did you mean cooldown?'],
    [
      'a config that does nothing',
      'podTemplate:\n   spec:\n    containers:\n    - name: t',
      'podTemplates:\n   spec:\n    containers:\n    - name: t',
      'needs exactly one of podTemplate, fenceMethods, fence',
    ],
    [
      'a pod without an image',
      '      image: IMAGE:VERSION\n      command: [ "binary", "terminate',
      '      command: [ "binary", "terminate',
      'error 48: a container needs an image',
    ],
    ['a pod that never ends', 'restartPolicy: Never', 'restartPolicy: Always', 'error 42: restartPolicy must be Never or OnFailure'],
    ['a pod that chooses its node', 'restartPolicy: Never', 'restartPolicy: Never\n    nodeName: w', 'error 43: nodeName must not be there'],
    ['a cleaning that is neither true nor false', 'resourece: true', 'resourece: maybe', 'error 16: clean-resourece must be true or false'],
    [
      'a condition that is answered twice',
      'DiskPressure\n  nodeConditionStatus: true',
      'Ready\n  nodeConditionStatus: Unknown',
      'error 20: Ready Unknown is answered already by ConfigMap fence-remedies, key 0.yaml, line 8',
    ],
    ['broken YAML', 'thresholdConfigs:', 'thresholdConfigs: [', 'error'],
  ])('leave out a whole Configuration with %s, unless it is only unused', (_what, from, to, expected) => {
    const text = SEED.replace(from, to);
    expect(text).not.toBe(SEED);
    const { told, configurations } = read(text);
    expect(told.join('\n')).toContain(expected);
    expect(configurations).toHaveLength(expected.startsWith('warning') ? 1 : 0);
  });

  it.each<[written: string, status: string, statuses: string[]]>([
    ['Ready', 'false', ['False', 'Unknown']],
    ['Ready', '"False"', ['False', 'Unknown']],
    ['Ready', 'Unknown', ['Unknown']],
    ['Ready', 'true', ['True']],
    ['KernelDeadlock', 'false', ['False']],
    ['KernelDeadlock', 'Unknown', ['Unknown']],
  ])('%s: %s', (type, status, statuses) => {
    const { configurations } = read(small(`nodeConditionStatus: ${status}\n  nodeConditionPeriod: 1m`).replace('KernelDeadlock', type));
    expect(configurations[0]?.thresholds[0]?.trigger).toEqual({ kind: 'status', statuses });
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['"type in (compute, storage)"', { type: 'storage' }, { type: 'other' }],
    ['"type=compute,!spare"', { type: 'compute' }, { type: 'compute', spare: '' }],
    ['{type: compute}', { type: 'compute' }, {}],
    [
      '{matchLabels: {type: compute}, matchExpressions: [{key: zone, operator: NotIn, values: [a, b]}]}',
      { type: 'compute', zone: 'c' },
      { type: 'compute', zone: 'b' },
    ],
    ['{matchExpressions: [{key: gpu, operator: Exists}, {key: spare, operator: DoesNotExist}]}', { gpu: '' }, { gpu: '', spare: '' }],
  ])('nodeSelector %s', (selector, yes, no) => {
    const { told, configurations } = read(`nodeSelector: ${selector}\n${small(STATUS)}`);
    expect(told).toEqual([]);
    expect(configurations).toHaveLength(1);
    expect(configurations[0]?.selects(yes)).toBe(true);
    expect(configurations[0]?.selects(no)).toBe(false);
  });

  it.each<[string, string]>([
    ['{}', 'error 1: nodeSelector  is no selector'],
    ['{type: "a b"}', 'is no selector'],
    ['{matchExpressions: [{key: a, operator: Like}]}', 'operator must be In, NotIn, Exists or DoesNotExist'],
  ])('nodeSelector %s selects nobody', (selector, expected) => {
    const { told, configurations } = read(`nodeSelector: ${selector}\n${small(STATUS)}`);
    expect(told.join('\n')).toContain(expected);
    expect(configurations).toEqual([]);
  });

  it('know what the design does not: flaps, limits, other remedies, alarms', () => {
    const text = small(
      'flap: {changes: 5, window: 1h}\n  maxAttempts: 1\n  cooldown: 30m\n  heartbeatPeriod: 1m\n  latched: false',
      '  remedy2: [{name: repaired}, {clean-resource: true}, {release: evict}]\n  remedy3: {name: whole}\n  remedy4: {name: look}\n' +
        'remedyConfigs:\n- {name: repaired, fenceMethods: [fc-off, pdu-off]}\n- {name: whole, fence: true}\n' +
        '- {name: look, runOn: target, podTemplate: {spec: {containers: [{name: a, image: b}]}}}\nalarms:\n- {reason: KernelOops, count: 3, window: 24h}\n',
    );
    const { told, configurations } = read(text);
    expect(told).toEqual([]);
    expect(configurations[0]?.thresholds).toMatchObject([
      {
        id: 'KernelDeadlock~flap',
        trigger: { kind: 'flap', changes: 5, windowMs: 3_600_000 },
        periodMs: 0,
        clearPeriodMs: 3_600_000,
        heartbeatPeriodMs: 60_000,
        isLatched: false,
        maxAttempts: 1,
        cooldownMs: 1_800_000,
        remedies: [
          { remedy: { kind: 'evict', cordons: true } },
          { remedy: { kind: 'fenceMethods', methods: ['fc-off', 'pdu-off'] }, cleansResources: true, release: 'evict' },
          { remedy: { kind: 'fence' } },
          { remedy: { kind: 'podTemplate', runOn: 'target' } },
        ],
      },
    ]);
    expect(configurations[0]?.alarms).toMatchObject([{ reason: 'KernelOops', count: 3, windowMs: 86_400_000 }]);
  });

  it.each<[string, string, string]>([
    ['both a flap and a status', small(`${STATUS}\n  flap: {changes: 5, window: 1h}`), 'has nodeConditionStatus or flap, not both'],
    ['a flap of what is never taken back', small('flap: {changes: 5, window: 1h}'), 'a latched condition never flaps: write latched: false'],
    ['a flap of one change', small('flap: {changes: 1, window: 1h}'), 'changes must be a whole number from 2 to 32'],
    ['half a flap', small('flap: {changes: 3}'), 'flap needs changes and window'],
    ['no end of attempts', small(`${STATUS}\n  maxAttempts: 1000`), 'maxAttempts must be a whole number from 1 to 10'],
    ['fence: false', small(STATUS, 'remedyConfigs: [{name: a, fence: false}]'), 'fence must be true'],
    [
      'runOn somewhere',
      small(STATUS, 'remedyConfigs: [{name: a, runOn: there, podTemplate: {spec: {containers: [{name: a, image: b}]}}}]'),
      'runOn must be target',
    ],
    [
      'a name that stands twice',
      small(STATUS, 'remedyConfigs: [{name: a, fence: true}, {name: a, fence: true}]'),
      'there is a remedyConfig a already',
    ],
    ['a name without methods', small(STATUS, 'remedyConfigs: [{name: a, fenceMethods: []}]'), 'fenceMethods must be a list of names'],
    ['half an alarm', small(STATUS, 'alarms: [{reason: KernelOops}]'), 'an alarm needs count, window'],
  ])('refuse %s', (_what, text, expected) => {
    const { told, configurations } = read(text);
    expect(told.join('\n')).toContain(expected);
    expect(configurations).toEqual([]);
  });

  it('warn of what has no effect', () => {
    const { told, configurations } = read(
      small(`${STATUS}\n  heartbeatPeriod: 1m`, '  recovery: [{name: recovery}, {clean-resource: true}]\n')
        .replace('KernelDeadlock', 'Ready')
        .replace('{name: drain}', '{name: drain, release: evict}'),
    );
    expect(told.toSorted()).toEqual(
      [
        "warning 7: heartbeatPeriod is ignored: whether Ready is still true is told by the node's Lease",
        'warning 8: release is ignored: it says how clean-resource lets pods go',
        'warning 9: recovery lets no pods go: clean-resource is ignored',
      ].toSorted(),
    );
    expect(configurations[0]?.thresholds[0]?.recovery?.cleansResources).toBe(false);
  });

  it('of several documents and keys stand side by side, and one with an error takes none of the others with it', () => {
    const named = small(STATUS).replace('kind: Configuration', 'kind: Configuration\nmetadata: {name: mine}');
    const { told, configurations } = read(`${named}---\n${small('nodeConditionStatus: bad\n  nodeConditionPeriod: 1m')}---\n${small(STATUS)}`, SEED);
    expect(told).toEqual(['error 14: nodeConditionStatus must be true, false or Unknown']);
    expect(configurations.map(({ name }) => name)).toEqual(['mine', 'fence-remedies/0.yaml#3', 'fence-remedies/1.yaml']);
  });

  it('of one name are told, and neither acts', () => {
    const named = small(STATUS).replace('kind: Configuration', 'kind: Configuration\nmetadata: {name: mine}');
    const { told, configurations } = read(named, named);
    expect(told).toEqual(['error 1: there is a Configuration mine already, in ConfigMap fence-remedies, key 0.yaml, line 1: rename one of them']);
    expect(configurations).toEqual([]);
  });

  it('come from files too', () => {
    const problems = new Problems();
    const [one] = readRemedyTexts([{ name: 'a.yaml', text: SEED, where: (line) => `a.yaml:${line}` }], problems);
    expect([one?.name, one?.where, problems.all()]).toEqual(['a.yaml', 'a.yaml:1', []]);
  });

  it('that answer the same condition of a node are told with both names and the node', () => {
    const problems = new Problems();
    const { configurations } = read(
      SEED,
      small('nodeConditionStatus: Unknown\n  nodeConditionPeriod: 1m').replace('KernelDeadlock', 'Ready'),
      `nodeSelector: type=none\n${small(STATUS)}`,
    );
    checkRemedyReach(
      configurations,
      [
        { name: 'storage-1', labels: {} },
        { name: 'compute-1', labels: { type: 'compute' } },
        { name: 'compute-2', labels: { type: 'compute' } },
      ],
      problems,
    );
    expect(problems.all()).toEqual([
      {
        severity: 'error',
        where: 'ConfigMap fence-remedies, key 0.yaml, line 1',
        message:
          'fence-remedies/0.yaml and fence-remedies/1.yaml both answer Ready Unknown of node compute-1: neither does until their nodeSelectors differ',
      },
      { severity: 'warning', where: 'ConfigMap fence-remedies, key 2.yaml, line 1', message: 'its nodeSelector type=none matches no Node' },
    ]);
  });

  const job = (spec: string): string =>
    small(STATUS).replace('{name: drain}', '{name: own}') +
    `remedyConfigs:\n- name: own\n  podTemplate:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i}]\n${spec}`;

  it.each([
    ['that leads nowhere', '      volumes: *gone\n'],
    ['that leads to itself', '      volumes: &all [*all]\n'],
    [
      'of aliases that each stand for ten',
      `      a: &a [x]\n${Array.from('bcdefgh', (to, index) => `      ${to}: &${to} [${Array(10).fill(`*${'abcdefg'[index]}`).join()}]`).join('\n')}\n`,
    ],
  ])('with an alias in a podTemplate %s are told, and keep nobody else from theirs', (_what, spec) => {
    const { told, configurations } = read(job(spec), SEED);
    expect(told).toEqual([
      'error 11: spec cannot be read: an alias in it leads nowhere, in a circle, or to too much; quote values that begin with *',
    ]);
    expect(configurations.map(({ name }) => name)).toEqual(['fence-remedies/1.yaml']);
  });

  it('have what an alias in a podTemplate stands for', () => {
    const { told, configurations } = read(job('      securityContext: &safe {runAsUser: 1}\n      again: *safe\n'));
    expect(told).toEqual([]);
    expect(configurations[0]?.thresholds[0]?.remedies[0]?.remedy).toMatchObject({ template: { spec: { again: { runAsUser: 1 } } } });
  });

  it.each([
    ['matchLabels', 'nodeSelector:\n  matchLabels: *labels\n  matchExpressions: [{key: rack, operator: Exists}]\n'],
    ['an alarm', 'alarms:\n- {reason: *labels, count: 3, window: 24h}\n'],
  ])('with an alias elsewhere are told: without %s they would be others', (_what, more) => {
    const { told, configurations } = read(small(STATUS, `metadata: {name: m, labels: &labels {a: b}}\n${more}`));
    expect(told).toContainEqual(expect.stringMatching(/^error \d+: an alias is read in podTemplate only: write out what it stands for/) as string);
    expect(configurations).toEqual([]);
  });

  it.each([
    ['an alarm whose reason is none', small(STATUS, 'alarms:\n- {reason: [a], count: 3, window: 24h}\n'), 'reason must be a text'],
    ['labels of a pod that are none', job('').replace('    spec:', '    metadata: [a]\n    spec:'), 'metadata must be a map'],
    ['names of Secrets behind an alias', job('').replace('image: i}', 'image: i, env: *names}'), 'env must be written out'],
  ])('with %s are told', (_what, text, message) => {
    const { told, configurations } = read(text);
    expect(told).toContainEqual(expect.stringContaining(message) as string);
    expect(configurations).toEqual([]);
  });

  it('of any text are read without throwing', () => {
    const word = fc.constantFrom('&a ', '*a', '*b', '[', ']', '{', '}', ': ', '\n', '\n- ', '\n  ', 'podTemplate', 'spec', 'containers', 'x', '"');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        expect(() => read(job(`      ${words.join('')}\n`), words.join(''))).not.toThrow();
      }),
    );
  });

  it('without a key for them are told', () => {
    const problems = new Problems();
    expect(readRemedies([{ name: 'fence-remedies', data: { 'a.txt': SEED } }], problems)).toEqual([]);
    expect(problems.all()).toMatchObject([{ severity: 'warning', message: 'holds no key that ends in .yaml: remedies are read from such keys' }]);
  });
});
