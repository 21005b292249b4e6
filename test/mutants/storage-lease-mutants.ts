import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LEASE = 'src/node/checks/storage-lease.test.ts';
const DISK = 'src/node/checks/lease-disk.test.ts';
const RENEWAL = 'src/domain/node-daemon/storage-lease/renewal.test.ts';
const DAEMON = 'test/node-daemon/storage-lease.test.ts';
const LEADER = 'test/node-daemon/controllers/storage-lease.test.ts';
const RENEWING = 'src/domain/node-daemon/storage-lease/renewal.ts';
const FENCE = 'test/node-daemon/controllers/storage-fence.test.ts';
const REACH = 'src/domain/node-daemon/storage-reach.ts';
const REACHING = 'src/domain/node-daemon/storage-reach.test.ts';
const CONTROLLER = 'src/controllers/node-daemons/controller.ts';

/** Defects of the slots on shared storage in which nodes show that they live. */
export const STORAGE_LEASE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'slot of another node',
    defect: 'a node writes into the slot of another one',
    file: RENEWING,
    edits: [['if (found.node !== node) return', "if (found.node === '') return"]],
    killedBy: byTest(LEASE, 'never writes into the slot of another node that was given to it by hand'),
  },
  {
    name: 'slot of another machine',
    defect: 'a node writes into the slot of a machine that has its name',
    file: RENEWING,
    edits: [['if (found.systemUUID !== systemUUID)', "if (found.systemUUID === '')"]],
    killedBy: byTest(RENEWAL, 'writes nothing into a slot of this name on another machine'),
  },
  {
    name: 'slot of another cluster',
    defect: 'a node writes into the lease of another cluster',
    file: RENEWING,
    edits: [['return read.header.cluster === cluster ? undefined', "return cluster !== '' ? undefined"]],
    killedBy: byTest(LEASE, 'writes nothing more to a device that is another cluster’s now, and says so'),
  },
  {
    name: 'slot of an earlier lease',
    defect: 'a node writes on into a lease that was laid out anew',
    file: RENEWING,
    edits: [["if (!('header' in read) || read.header.id !== header.id)", "if (!('header' in read))"]],
    killedBy: byTest(LEASE, 'writes nothing more to a device that was laid out anew, and says so'),
  },
  {
    name: 'slot that is damaged',
    defect: 'a node writes over a slot that is damaged',
    file: RENEWING,
    edits: [['return { refused: `slot ${slot} is damaged: ${CLEAR} --slot ${slot}` };', 'return { write: { ...write, counter: 1 } };']],
    killedBy: byTest(LEASE, 'writes nothing more to a device whose slot is damaged, and says so'),
  },
  {
    name: 'slot that looks free',
    defect: 'a slot that is damaged is taken for a free one',
    file: RENEWING,
    edits: [["if (contents[slot]?.kind === 'empty')", "if (contents[slot]?.kind !== 'slot')"]],
    killedBy: byTest(RENEWAL, 'is the next empty one where its own is taken or damaged'),
  },
  {
    name: 'slot of two writers',
    defect: 'a node renews a slot that somebody else renews too',
    file: RENEWING,
    edits: [['&& !counters.includes(found.counter))', '&& counters.length > 99)']],
    killedBy: byTest(RENEWAL, 'writes nothing into a slot that somebody else renews'),
  },
  {
    name: 'slot held again',
    defect: 'a renewal that was under way holds a slot again that was released',
    file: 'src/node/checks/storage-lease.ts',
    edits: [["if (this.#isReleased && state === 'held') return", 'if (this.#isReleased && known.slot < 0) return']],
    killedBy: byTest(LEASE, 'is released at a clean stop, and not held again by a renewal that was under way'),
  },
  {
    name: 'alive by one step',
    defect: 'a counter that grew by one shows life: its write may have been on its way since before the question',
    file: RENEWING,
    edits: [['export const LIVES_AFTER = 2;', 'export const LIVES_AFTER = 1;']],
    killedBy: byTest(LEADER, 'has no last renewal counted as life that was on its way when it died'),
  },
  {
    name: 'life on storage ignored',
    defect: 'a node that renews its slot is not heard, and its watchdog is not waited for anew',
    file: CONTROLLER,
    edits: [['return isBeating || this.#slots.isAlive(node, bootID);', 'return isBeating;']],
    killedBy: byTest(LEADER, 'is alive where others see it renew its slot'),
  },
  {
    name: 'life on storage without a time',
    defect: 'a renewal that was seen after an off does not void its proof',
    file: CONTROLLER,
    edits: [['[this.#silence?.heardAtMs(node), this.#slots.aliveAtMs(node)]', '[this.#silence?.heardAtMs(node)]']],
    killedBy: byTest(LEADER, 'is alive where others see it renew its slot'),
  },
  {
    name: 'slot of a standby',
    defect: 'a replica that does not lead asks about silent nodes',
    file: CONTROLLER,
    edits: [['if (leadership.isLeading) this.#slots.look();', 'if (nowMs > 0) this.#slots.look();']],
    killedBy: byTest(LEADER, 'is asked about by the leader only'),
  },
  {
    name: 'life by an old answer',
    defect: 'an answer that somebody repeats shows life again',
    file: 'src/controllers/node-daemons/questions.ts',
    edits: [
      ['    if (asked?.includes(counter) !== true) return undefined;\n', '    if (asked === undefined) return undefined;\n'],
      ['return counter / 1_000;', 'return this.#parts.clock.monotonicMs();'],
    ],
    killedBy: byTest(LEADER, 'is alive by no answer that nobody asked for'),
  },
  {
    name: 'second writer beside a hung one',
    defect: 'a child that writes is started while another one that hangs may still write',
    file: 'src/node/checks/lease-disk.ts',
    edits: [['    if (standing !== undefined) {\n', "    if (standing?.key === '') {\n"]],
    killedBy: byTest(DISK, 'that hangs is given up at its deadline, and none is started beside it, be it by another process'),
  },
  {
    name: 'slot lost by a busy machine',
    defect: 'a child that did not get to run counts as storage that hangs',
    file: 'src/node/checks/lease-disk.ts',
    edits: [["if (!standing.hasSpoken) return { kind: 'not-probed', why: 'the probe did not get to run' };", '']],
    killedBy: byTest(DISK, 'that did not get to run is no storage that hangs'),
  },
  {
    name: 'note of the next child',
    defect: 'the end of one child takes away what is noted of the next, and a second writer is started when that one hangs',
    file: 'src/node/checks/hung-children.ts',
    edits: [['if (childOf(this.#text(this.#file(key)))?.pid === pid) rmSync', 'if (pid !== 0) rmSync']],
    killedBy: byTest(DISK, 'stays noted where the end of the one before it is heard of late'),
  },
  {
    name: 'child that nobody knows of',
    defect: 'a child that could not be noted goes on to be used',
    file: 'src/node/checks/lease-disk.ts',
    edits: [["    this.#drop();\n    return { kind: 'not-probed', why: `what runs", "    return { kind: 'not-probed', why: `what runs"]],
    killedBy: byTest(DISK, 'that cannot be noted does not stay, rejects nobody, and is started again once it can'),
  },
  {
    name: 'turn that fails for ever',
    defect: 'after one child could not be noted, every later question fails',
    file: 'src/node/checks/lease-disk.ts',
    edits: [['.catch((error: unknown) => this.#broken(error));', ';']],
    killedBy: byTest(DISK, 'that cannot be noted does not stay, rejects nobody, and is started again once it can'),
  },
  {
    name: 'slot lost without self-fence',
    defect: 'a slot that cannot be renewed takes down a node that does not fence itself',
    file: 'src/node/core/daemon.ts',
    edits: [
      ['if (check === undefined || !fencesItself || lostMs', 'if (check === undefined || lostMs'],
      [
        '      fencesItself,\n      times,\n      mayOpen,',
        '      fencesItself: fencesItself || options.storageLeaseLostMs !== undefined,\n      times,\n      mayOpen,',
      ],
    ],
    killedBy: byTest(DAEMON, 'stays up where it does not fence itself'),
  },
  {
    name: 'slot lost unasked',
    defect: 'a slot that cannot be renewed takes down a node whose admin did not say for how long',
    file: 'src/node/core/daemon.ts',
    edits: [['options, options.storageLeaseLostMs);', 'options, options.storageLeaseLostMs ?? 60_000);']],
    killedBy: byTest(DAEMON, 'stays up where nobody said for how long'),
  },
  {
    name: 'slot lost by the time of other storage',
    defect: 'a slot that cannot be renewed takes down a node whose admin said for how long of its other storage only',
    file: 'src/node/core/daemon.ts',
    edits: [['options, options.storageLeaseLostMs);', 'options, options.storageLeaseLostMs ?? options.storageLostMs);']],
    killedBy: byTest(DAEMON, 'stays up where that was said of its other storage only'),
  },
  {
    name: 'slot that is taken is lost',
    defect: 'a slot that is taken or damaged takes the node down',
    file: 'src/node/checks/storage-lease.ts',
    edits: [["lease: this.#lease('unknown') };", "lease: this.#lease('lost') };"]],
    killedBy: byTest(DAEMON, 'stays up where its slot was taken by another node'),
  },
  {
    name: 'slot lost in a pause',
    defect: 'renewals before and after a pause of the machine are one run',
    file: 'src/node/core/daemon.ts',
    edits: [['      this.#leaseWatch?.interrupt();\n', '']],
    killedBy: byTest(DAEMON, 'stays up where the machine was paused meanwhile, until it is lost for the whole time again'),
  },
  {
    name: 'slot of another boot',
    defect: 'a boot is alive by the renewals of another boot of its node',
    file: 'src/node/core/slot-answers.ts',
    edits: [[' && read.bootID === question.subjectBootID;', ';']],
    killedBy: byTest(LEADER, 'is not alive by another boot of it that renews the slot'),
  },
  {
    name: 'slot unread stands still',
    defect: 'a slot that nobody can read is told to stand still',
    file: 'src/node/core/slot-answers.ts',
    edits: [
      [
        'return !isOfIt || !this.#isAnswered(question, read, nowMs);',
        'return !this.#isAnswered(question, isOfIt ? read : { counter: 0, intervalMs: 5_000 }, nowMs);',
      ],
    ],
    killedBy: byTest(LEADER, 'is not known where nobody can read its slot'),
  },
  {
    name: 'storage of the silent',
    defect: 'what a silent node said last of its storage counts as its word of now',
    file: REACH,
    edits: [['  if (!isHeard) return undefined;\n', '']],
    killedBy: byTest(FENCE, 'is held while it says that it alone lost the storage, and fenced when it says nothing any more'),
  },
  {
    name: 'storage that one peer reaches',
    defect: 'storage has failed though a peer reaches it',
    file: REACH,
    edits: [['if (others.reach > 0) return true;', 'if (others.reach > others.lost) return true;']],
    killedBy: byTest(FENCE, 'is held where its peers lost the storage too, until one of them reaches it again'),
  },
  {
    name: 'storage without peers',
    defect: 'the storage has failed by the word of the failed node alone',
    file: REACH,
    edits: [['lost: lost - (own === false ? 1 : 0)', 'lost']],
    killedBy: byTest(REACHING, 'counts no word of its own for its peers'),
  },
  {
    name: 'storage that is told once',
    defect: 'that peers reach the storage again changes no hold',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['    before.storage?.peersReach === after.storage?.peersReach &&\n', '']],
    killedBy: byTest(FENCE, 'is held where its peers lost the storage too, until one of them reaches it again'),
  },
];
