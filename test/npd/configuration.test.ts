import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '../../src/testbed/compile-cache.ts';
import { LINE_MAX } from '../../src/node/checks/verdict.ts';
import { durationMs, refusals } from './plugin-rules.ts';
import type { PluginConfig, PluginRule } from './plugin-rules.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = ['config/npd/nodefence-fast.json', 'config/npd/nodefence-slow.json'];
const PLUGIN = '/usr/local/bin/nodefence';
const configOf = (file: string): PluginConfig => JSON.parse(readFileSync(ROOT + file, 'utf8')) as PluginConfig;
const RULES: readonly PluginRule[] = FILES.flatMap((file) => configOf(file).rules ?? []);
const folder = mkdtempSync(join(tmpdir(), 'nodefence-npd-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('config/npd', () => {
  it.each(FILES)('%s is taken by node-problem-detector', (file) => {
    expect(refusals(configOf(file), (path) => path === PLUGIN)).toEqual([]);
  });

  it.each(FILES)('%s knows no key that node-problem-detector would drop in silence', (file) => {
    const { plugin, pluginConfig = {}, source, conditions = [], rules = [], ...rest } = configOf(file);
    expect({ plugin, rest: Object.keys(rest), source: typeof source }).toEqual({ plugin: 'custom', rest: ['metricsReporting'], source: 'string' });
    expect(Object.keys(pluginConfig).sort()).toEqual([
      'concurrency',
      'enable_message_change_based_condition_update',
      'invoke_interval',
      'max_output_length',
      'timeout',
    ]);
    expect(conditions.map((condition) => Object.keys(condition).sort().join())).toEqual(conditions.map(() => 'message,reason,type'));
    const known = ['args', 'condition', 'path', 'reason', 'timeout', 'type'];
    expect(rules.flatMap((rule) => Object.keys(rule)).filter((key) => !known.includes(key))).toEqual([]);
    expect(pluginConfig['max_output_length']).toBe(LINE_MAX);
  });

  it('declare each condition in one file only, and set each by one rule', () => {
    const declared = FILES.flatMap((file) => (configOf(file).conditions ?? []).map(({ type }) => type));
    expect(declared.sort()).toEqual(['FenceDeviceUnreachable', 'HardwareErrorRate', 'KdumpNotArmed', 'SharedStorageUnreachable', 'WatchdogNotArmed']);
    expect(
      RULES.filter(({ type }) => type === 'permanent')
        .map(({ condition }) => condition ?? '')
        .sort(),
    ).toEqual(declared);
    expect(RULES.filter(({ type }) => type === 'temporary').map(({ reason }) => reason)).toEqual(['PreviousBootCrashed']);
  });

  it('leave each check the time that it may take, and end before they begin again', () => {
    for (const file of FILES) {
      const { pluginConfig = {}, rules = [] } = configOf(file);
      const waits = rules.map(({ timeout = '' }) => durationMs(timeout));
      expect(waits.reduce((total, wait) => total + wait, 0) / Number(pluginConfig['concurrency'])).toBeLessThanOrEqual(
        durationMs(String(pluginConfig['invoke_interval'])),
      );
      for (const [index, { args = [] }] of rules.entries()) {
        const deadline = args.includes('--deadline') ? Number(args[args.indexOf('--deadline') + 1]) : 0;
        expect((waits[index] ?? 0) / 1000).toBeGreaterThan(deadline + 4);
      }
    }
  });

  it.each(RULES.map((rule) => [rule.reason, rule.args ?? []] as const))(
    '%s calls a check that there is',
    { timeout: 60_000 },
    (_reason, parameters) => {
      const call = [programPath('main'), ...parameters, '--root', folder, '--state', join(folder, 'state')];
      const { status, stdout, stderr } = spawnSync(process.execPath, call, { encoding: 'utf8', env: { PATH: '', ...compileCache() } });
      expect({ status, begins: stdout.slice(0, 12), stderr: stderr.startsWith('error') }).toEqual({
        status: parameters.includes('--once') ? 0 : 2,
        begins: 'not checked:',
        stderr: false,
      });
    },
  );
});

describe('the rules of node-problem-detector', () => {
  const sound: PluginConfig = { plugin: 'custom', conditions: [], rules: [] };
  const rule: PluginRule = { type: 'temporary', reason: 'X', path: PLUGIN };

  it.each<[string, PluginConfig]>([
    ['the plugin is not "custom"', { ...sound, plugin: 'other' }],
    ['the global invoke_interval is not above zero', { ...sound, pluginConfig: { invoke_interval: '0s' } }],
    ['the global timeout is no duration', { ...sound, pluginConfig: { timeout: '5 s' } }],
    ['X: its timeout is above the global one', { ...sound, rules: [{ ...rule, timeout: '6s' }] }],
    ['X: its invoke_interval is not above zero', { ...sound, rules: [{ ...rule, invoke_interval: '-1s' }] }],
    ['X: there is no /nowhere', { ...sound, rules: [{ ...rule, path: '/nowhere' }] }],
    ['X: its condition Y is not declared', { ...sound, rules: [{ ...rule, type: 'permanent', condition: 'Y' }] }],
  ])('say %s', (words, config) => {
    expect(refusals(config, (path) => path === PLUGIN)).toEqual([words]);
  });
});
