import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const POLICY = 'src/domain/policies/storage-reachable.ts';
const POLICY_TEST = 'src/domain/policies/storage-reachable.test.ts';
const WORDS = 'src/controllers/node-daemons/storage/storage-words.ts';
const WORDS_TEST = 'src/controllers/node-daemons/storage/storage-words.test.ts';

/** Defects of the policy that asks whether a node, and others, reach their storage. */
export const STORAGE_REACHABLE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'storage that failed for all',
    defect: 'a host that alone cannot reach the storage is held although its peers cannot either, by the wrong reason',
    file: POLICY,
    edits: [['return hostReaches === false && peersReach !== false;', 'return hostReaches === false;']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease n n n with when='),
  },
  {
    name: 'peers that were not asked reach',
    defect: 'a host that cannot reach its storage is held only where a peer says that it can',
    file: POLICY,
    edits: [['return hostReaches === false && peersReach !== false;', 'return hostReaches === false && peersReach === true;']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease n ? ? with when='),
  },
  {
    name: 'storage failed for its peers alone',
    defect: 'a node that reaches the storage, and may write, is held because its peers do not',
    file: POLICY,
    edits: [['return peersReach === false && hostReaches !== true;', 'return peersReach === false;']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease y n ? with when='),
  },
  {
    name: 'peers that say nothing lost it',
    defect: 'a node is held for a storage that failed although no peer says anything of it',
    file: POLICY,
    edits: [['return peersReach === false && hostReaches !== true;', 'return peersReach !== true && hostReaches !== true;']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease ? ? y with when='),
  },
  {
    name: 'lease that nobody saw renewed',
    defect: 'a node of whose lease nothing is known counts as one that renews it',
    file: POLICY,
    edits: [['return renewsLease === true;', 'return renewsLease !== false;']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease ? ? ? with when='),
  },
  {
    name: 'cases that were not asked for',
    defect: 'a node is held by a case that the policy does not name',
    file: POLICY,
    edits: [['STORAGE_CASES.filter((name) => settings.when.includes(name))', 'STORAGE_CASES']],
    killedBy: byTest(POLICY_TEST, 'host, peers, lease n y n with when='),
  },
  {
    name: 'word of another boot',
    defect: 'what a daemon attested before its node booted counts as what it says now',
    file: WORDS,
    edits: [['heard?.bootID === bootID && heartbeats.isHeard(node, nowMs)', 'heartbeats.isHeard(node, nowMs)']],
    killedBy: byTest(WORDS_TEST, 'is no word of a boot that is over'),
  },
  {
    name: 'last word of a silent node',
    defect: 'what a node said of its storage before it fell silent holds its fence for ever',
    file: WORDS,
    edits: [['heard?.bootID === bootID && heartbeats.isHeard(node, nowMs)', 'heard?.bootID === bootID']],
    killedBy: byTest(WORDS_TEST, 'is no last word of one that is silent now'),
  },
  {
    name: 'peers of another storage',
    defect: 'nodes that share another storage lease speak for the storage of this one',
    file: WORDS,
    edits: [['lease === undefined ? all : (byLease', 'lease !== undefined ? all : (byLease']],
    killedBy: byTest(WORDS_TEST, 'is told by those of its own storage lease alone, where it has one'),
  },
];
