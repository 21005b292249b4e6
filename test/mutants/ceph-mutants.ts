import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const BLOCKLIST = 'agents/ceph/blocklist.test.ts';
const NETWORK_FENCE = 'agents/ceph/network-fence.test.ts';

/** Defects of the agent ceph. */
export const CEPH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ceph ends soon',
    defect: 'an entry that ends in a minute is closed',
    file: 'agents/ceph/blocklist.ts',
    edits: [['untilMs - nowMs < LEAST_LEFT_MS', 'untilMs - nowMs < 0']],
    killedBy: byTest(BLOCKLIST, 'an entry that ends soon'),
  },
  {
    name: 'ceph local time',
    defect: 'an end without a time zone is read as ours',
    file: 'agents/ceph/blocklist.ts',
    edits: [['/(Z|[+-]\\d\\d:?\\d\\d)$/.test(entry.until) ? Date.parse(entry.until) : Number.NaN', 'Date.parse(entry.until)']],
    killedBy: byTest(BLOCKLIST, 'an end without a zone'),
  },
  {
    name: 'ceph record believed',
    defect: 'a NetworkFence that was fenced before this fence is believed, though the address may be off the list since',
    file: 'agents/ceph/agent.ts',
    edits: [["['via'] !== 'exec'", "['via'] === ''"]],
    killedBy: byTest(
      NETWORK_FENCE,
      'says that its closed proves only what was seen open before: it is a record, which nobody mends who uses ceph itself',
    ),
  },
  {
    name: 'ceph prefix',
    defect: 'an entry that only begins like the address counts',
    file: 'agents/ceph/blocklist.ts',
    edits: [['addr.toLowerCase() === addressOf(range)', 'addr.toLowerCase().startsWith(range.address)']],
    killedBy: byTest(BLOCKLIST, 'one client of the address only'),
  },
  {
    name: 'ceph old result',
    defect: 'the result of an unfencing counts as that of the fencing',
    file: 'agents/ceph/network-fence.ts',
    edits: [["if (result === 'Succeeded' && message === done) return", "if (result === 'Succeeded') return"]],
    killedBy: byTest(NETWORK_FENCE, 'does not take the result of the operation before for that of this one'),
  },
  {
    name: 'ceph being deleted',
    defect: 'a NetworkFence that is being deleted counts',
    file: 'agents/ceph/network-fence.ts',
    edits: [["if (deletionTimestamp !== undefined) return say('unknown', 'it is being deleted');", '']],
    killedBy: byTest(NETWORK_FENCE, 'does not believe a fence of other addresses, or one that goes'),
  },
  {
    name: 'ceph fenced in mid unfencing',
    defect: 'a fencing is asked for while an unfencing is under way',
    file: 'agents/ceph/network-fence.ts',
    edits: [["if (result !== 'Succeeded' || message !== UNFENCED) throw", "if (result === '' && message !== UNFENCED) throw"]],
    killedBy: byTest(NETWORK_FENCE, 'does not take the result of the operation before for that of this one'),
  },
  {
    name: 'ceph first address only',
    defect: 'only the first address is put on the blocklist',
    file: 'agents/ceph/agent.ts',
    edits: [['for (const range of settings.ranges) {', 'for (const range of settings.ranges.slice(0, 1)) {']],
    killedBy: byTest(BLOCKLIST, 'is told every address, not the first alone'),
  },
  {
    name: 'ceph ungated',
    defect: 'the blocklist is changed without lease and stops',
    file: 'agents/ceph/agent.ts',
    edits: [['words, () => call.target.beforeSend());', 'words);']],
    killedBy: byTest(BLOCKLIST, 'is not started without the lease'),
  },
  {
    name: 'ceph verified by one',
    defect: 'one address that the Node shows verifies all',
    file: 'agents/ceph/own-addresses.ts',
    edits: [['const strange = ranges.find(', 'const strange = ranges.slice(0, 1).find(']],
    killedBy: byTest(NETWORK_FENCE, 'that the Node does not show: of nobody’s address too the list says that it is open: 10.0.0.5 10.0.0.6'),
  },
  {
    name: 'ceph other address left',
    defect: 'a node of two addresses counts as shut out by one of them',
    file: 'agents/ceph/own-addresses.ts',
    edits: [["type === 'InternalIP' && !ranges.some(", "type === 'Hostname' && !ranges.some("]],
    killedBy: byTest(NETWORK_FENCE, 'while the node may write from another one'),
  },
  {
    name: 'ceph everybody',
    defect: 'a range of all addresses is taken',
    file: 'agents/ceph/address-range.ts',
    edits: [['prefix > longest || prefix === 0', 'prefix > longest']],
    killedBy: byTest(NETWORK_FENCE, 'ceph by csi-addons refuses {"driver":"d","cidrs":"0.0.0.0/0","allow_ranges":"yes"}'),
  },
  {
    name: 'fence of other addresses',
    defect: 'a NetworkFence of other addresses counts as ours',
    file: 'agents/ceph/network-fence.ts',
    edits: [['if (JSON.stringify([...cidrs].sort()) !== JSON.stringify(cidrsOf(wish))) return say', 'if (cidrs.length === 0) return say']],
    killedBy: byTest(NETWORK_FENCE, 'ceph by csi-addons believes no result about the addresses ["10.0.0.6/32"], which somebody else wrote into it'),
  },
];
