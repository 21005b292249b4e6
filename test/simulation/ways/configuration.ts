import { addressOf } from './programs.ts';
import { pathNames, STORAGE } from './ways.ts';
import type { Ways } from './ways.ts';

type Keys = Record<string, string>;

/** Settings of all nodes. */
export function wayKeys(ways: Ways | undefined): Keys {
  if (ways === undefined) return {};
  const { notReadyMs, podsPerMinute, storage } = ways;
  return {
    ...(ways.areUnnamed === true && { identity: 'unverified' }),
    not_ready_period: `${notReadyMs / 1000}s`,
    ...(podsPerMinute !== undefined && { pods_per_minute: String(podsPerMinute) }),
    ...(storage !== undefined && { minimum_evidence: storage.isAdmitted ? 'power-off,ack,storage-revoked' : 'power-off,ack' }),
  };
}

/** Steps of one node, with what they are without other ways. */
export function waySteps(node: string, ways: Ways | undefined, steps: Keys): Keys {
  if (ways === undefined) return steps;
  const paths = ways.storage === undefined ? [] : pathNames(node, ways.storage.count).map((_name, index) => `path-${index + 1}`);
  const program = ways.program === undefined ? [] : ['program'];
  const isIsolating = ways.program?.step === 'isolation';
  const listed = (...words: (string | undefined)[]): string => words.filter((word) => word !== undefined && word !== '').join(' ');
  return {
    ...steps,
    isolation: listed(steps['isolation'], ...(isIsolating ? program : []), ...paths.map((path) => `${path}-close`)),
    power_management: listed(...(isIsolating ? [] : program), steps['power_management']),
    recovery: listed(...paths.map((path) => `${path}-open`), steps['recovery']),
  };
}

/** Methods of one node, each as its lines. */
export function wayMethods(node: string, ways: Ways | undefined, secret: string): Readonly<Record<string, Keys>> {
  const { storage, program } = ways ?? {};
  const methods: Record<string, Keys> = {};
  for (const [index, address] of (storage === undefined ? [] : pathNames(node, storage.count)).entries()) {
    const common = { agent_name: 'sim-path', address, secret };
    const match = storage?.isWhole === true ? 'driver:drill.nodefence' : 'volume:disk-0';
    methods[`path-${index + 1}-close`] = { ...common, action: 'off', storage: STORAGE, storage_match: match };
    methods[`path-${index + 1}-open`] = { ...common, action: 'on' };
  }
  if (program !== undefined) methods['program'] = { agent_name: 'sim-ssh', action: 'run', address: addressOf(node) };
  return methods;
}
