import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WATCHDOG_AGENT = 'agents/watchdog/agent.test.ts';
const CLOCK_RATE = 'src/domain/node-daemon/clock-rate.test.ts';
const CLOCK_RATES = 'test/node-daemon/controllers/clock-rates.test.ts';
const MISSING = 'src/domain/node-daemon/missing-promises.test.ts';

/** Defects of the agent watchdog, and of the daemon that feeds one. */
export const WATCHDOG_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'watchdog by half',
    defect: 'the promises of half of the racks prove that nobody keeps the node up, though the others are enough',
    file: 'src/domain/node-daemon/missing-promises.ts',
    edits: [['const still = new Map(missing.map((peer) => [peer, 0]));', 'const still = new Map(missing.slice(1).map((peer) => [peer, 0]));']],
    killedBy: byTest(MISSING, 'whose promise is missing one peer of a rack is the whole rack'),
  },
  {
    name: 'watchdog uncounted',
    defect: 'of a node that does not say how it counts some promises are taken for enough',
    file: 'src/domain/node-daemon/missing-promises.ts',
    edits: [['if (domains === undefined || missing.some(', 'if (missing.some(']],
    killedBy: byTest(MISSING, 'whose promise is missing of one that does not say how it counts each has to promise'),
  },
  {
    name: 'watchdog told since',
    defect: 'a peer counts as one that cannot vouch, whom the node may attest by a write that is on its way',
    file: 'src/domain/node-daemon/missing-promises.ts',
    edits: [[' || missing.some((peer) => !peers.includes(peer))', '']],
    killedBy: byTest(
      MISSING,
      'whose promise is missing that of a peer which the node was told of and does not attest yet: a write of it may be on its way',
    ),
  },
  {
    name: 'counted as told',
    defect: 'a node counts its vouches by failure domains that others do not know, by which fewer are enough than they think',
    file: 'src/node/core/exchange.ts',
    edits: [['const { told, accepted, counted = [told] } = this.#known;', 'const { told, accepted } = this.#known;\n    const counted = [told];']],
    killedBy: byTest('src/node/core/exchange.test.ts', 'is kept up only by as many as each of the ways to count asks for that may be attested'),
  },
  {
    name: 'counted as sent',
    defect: 'a node counts by the last attestation that it sent, though the API server has the one before',
    file: 'src/node/core/attester.ts',
    edits: [['isKnown ? this.#counted : [...this.#counted, counting]', '[counting]']],
    killedBy: byTest('src/node/core/attester.test.ts', 'counts by each of the failure domains that may be attested: it did not arrive'),
  },
  {
    name: 'watchdog by a slow clock',
    defect: 'the silence of a node proves whose clock runs slow, so that it feeds its watchdog for longer than is waited for',
    file: 'agents/watchdog/agent.ts',
    edits: [['return doubt === undefined ? judgement :', "return doubt !== '' ? judgement :"]],
    killedBy: byTest(WATCHDOG_AGENT, 'proves nothing by the silence of a node whose clock was last measured as slow, and ends no grants for it'),
  },
  {
    name: 'doubt about fast clocks',
    defect: 'a clock that is fast is doubted, and one that is slow is not',
    file: 'src/controllers/node-daemons/clock-rates.ts',
    edits: [["return measured?.wrong === 'slow'", "return measured?.wrong === 'fast'"]],
    killedBy: byTest(CLOCK_RATES, 'clocks of nodes that run wrong stay in doubt where a node falls silent while its clock runs slow'),
  },
  {
    name: 'clock by the last heartbeat',
    defect: 'the delay of a single heartbeat looks like a clock that runs wrong, and forbids the fence of a sound node',
    file: 'src/domain/node-daemon/clock-rate.ts',
    edits: [['if (lateMs < span.leastMs)', 'if (lateMs !== span.leastMs)']],
    killedBy: byTest(CLOCK_RATE, 'is found right with a burst of delays that ends in the last span'),
  },
  {
    name: 'clock by its delays',
    defect: 'half a second of delay that comes looks like a clock that runs wrong',
    file: 'src/domain/node-daemon/clock-rate.ts',
    edits: [['behindMs - DELAY_MS > SLOW * withinMs', 'behindMs > SLOW * withinMs']],
    killedBy: byTest(CLOCK_RATE, 'is found right with such a slow one, and heartbeats that all take 0.5 s from some time on'),
  },
  {
    name: 'clock of a suspended node',
    defect: 'a node that was suspended is taken for one whose clock is slewed',
    file: 'src/domain/node-daemon/clock-rate.ts',
    edits: [['if (before !== undefined && hasJumped(before, span)) this.#spans = [];', '']],
    killedBy: byTest(CLOCK_RATE, 'is measured anew after a jump: the node was suspended for 5 s'),
  },
  {
    name: 'clock undoubted',
    defect: 'the doubt about a slow clock ends because this process stood still',
    file: 'src/domain/node-daemon/clock-rate.ts',
    edits: [
      [
        '    this.#span = undefined;\n    this.#spans = [];\n  }',
        '    this.#span = undefined;\n    this.#spans = [];\n    this.#measured = undefined;\n  }',
      ],
    ],
    killedBy: byTest(CLOCK_RATE, 'is measured anew after we stood still; what was found last stands until then'),
  },
  {
    name: 'clock while we stood still',
    defect: 'what was heard before this process stood still is compared with what was heard after',
    file: 'src/controllers/node-daemons/heartbeats.ts',
    edits: [['    this.clocks.restart();\n', '']],
    killedBy: byTest(CLOCK_RATES, 'clocks of nodes that run wrong are measured anew after this process stood still'),
  },
  {
    name: 'watchdog soft',
    defect: 'a software watchdog proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [["if (kind !== 'hardware') return", "if (kind === '') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog in the kernel'),
  },
  {
    name: 'watchdog disarmed',
    defect: 'a watchdog that was not armed proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [["if (state !== 'armed') return", "if (state === '') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog that is not armed'),
  },
  {
    name: 'watchdog pausable',
    defect: 'a watchdog of a machine that can be paused proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (isPausable) return', 'if (isPausable && action === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'a machine that can be paused'),
  },
  {
    name: 'watchdog that tells',
    defect: 'a watchdog that only tells proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['return ENDING.has(action) ? undefined :', "return action !== '' ? undefined :"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog that only tells'),
  },
  {
    name: 'watchdog of another boot',
    defect: 'the watchdog of an earlier boot proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (shown !== bootID) return', 'if (shown === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'another boot'),
  },
  {
    name: 'watchdog of another machine',
    defect: 'the watchdog of another machine proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['normalUUID(systemUUID) !== expected) return', 'normalUUID(systemUUID) === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'another machine'),
  },
  {
    name: 'watchdog attested long ago',
    defect: 'an attestation of any age proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['return aliveAt - attestedAt > attestationMaxAgeMs', 'return aliveAt - attestedAt > Infinity']],
    killedBy: byTest(WATCHDOG_AGENT, 'an attestation that was old'),
  },
  {
    name: 'watchdog unpromised',
    defect: 'a peer that may still vouch is left out',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (missing.length > 0)', 'if (missing.length > 99)']],
    killedBy: byTest(WATCHDOG_AGENT, 'waits until every peer has promised'),
  },
  {
    name: 'watchdog renewed',
    defect: 'a kubelet that was heard in the wait does not begin it anew',
    file: 'agents/watchdog/agent.ts',
    edits: [
      [
        "return { ...judgement, key: [judgement.key, kubelet?.spec.renewTime ?? '', ...written].join(' ') };",
        'return { ...judgement, key: judgement.key };',
      ],
    ],
    killedBy: byTest(WATCHDOG_AGENT, 'watchdog begins anew when a sign of life comes from the kubelet'),
  },
  {
    name: 'watchdog at once',
    defect: 'the wait is not waited',
    file: 'agents/watchdog/agent.ts',
    edits: [["if (judgement.decision === 'after' && leftMs <= 0) return", "if (judgement.decision === 'after') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'proves after everything that may keep the machine running has surely ended'),
  },
  {
    name: 'a watchdog that runs, and is not fed',
    defect: 'a watchdog is not fed from when it was opened until it was read how long it waits, which resets a healthy node',
    file: 'src/node/core/keeper.ts',
    edits: [["return this.#opening === 'open' || this.#opening === 'unread';", "return this.#opening === 'open';"]],
    killedBy: byTest('src/node/core/keeper.test.ts', 'is fed while that is read, however long it takes'),
  },
  {
    name: 'clocks of the daemon read apart',
    defect: 'a daemon that was put aside between two clocks takes its machine for one that slept, and resets it',
    file: 'src/node/core/keeper.ts',
    edits: [
      [
        'const now = momentOf(this.#ports.clock);',
        'const { clock } = this.#ports;\n    const now = { monotonicMs: clock.monotonicMs(), bootMs: clock.bootMs() };',
      ],
    ],
    killedBy: byTest('src/node/core/keeper.test.ts', 'between two readings of its clocks does not take its machine for one that slept'),
  },
  {
    name: 'first clocks of the daemon read apart',
    defect: 'a daemon that was put aside while it started takes its machine for one that slept',
    file: 'src/node/core/keeper.ts',
    edits: [['asleepMs(momentOf(ports.clock))', 'ports.clock.bootMs() - ports.clock.monotonicMs()']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'while it starts does not either'),
  },
  {
    name: 'self-fence switched off while armed',
    defect: 'a daemon that was killed, and is started anew without self-fencing, feeds a watchdog whose silence others take for proof',
    file: 'src/node/core/keeper.ts',
    edits: [['return this.#options.fencesItself || this.#mustFenceItself;', 'return this.#options.fencesItself;']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'goes on with it while its watchdog was left armed: others rest on what it attested'),
  },
  {
    name: 'self-fence of an older version forgotten',
    defect: 'an upgraded daemon without self-fencing feeds the watchdog that an older version left armed, whose silence others take for proof',
    file: 'src/node/core/keeper.ts',
    edits: [['record.fencesItself !== false &&', 'record.fencesItself === true &&']],
    killedBy: byTest(
      'src/node/core/keeper.test.ts',
      'does so, and says it, where an older version left its watchdog armed and did not write whether it fenced itself',
    ),
  },
  {
    name: 'self-fence for ever',
    defect: 'a node whose self-fencing was switched off by a clean stop fences itself all the same',
    file: 'src/node/core/keeper.ts',
    edits: [['fencesItself !== false && (record.isArmed || record.stoppingSinceMs !== undefined);', 'fencesItself !== false;']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'does not after a clean stop'),
  },
  {
    name: 'armed before it was read',
    defect: 'a watchdog is attested as armed with the time that its driver waited before it was opened',
    file: 'src/node/core/keeper.ts',
    edits: [["        this.#opening = 'unread';\n", "        this.#opening = 'open';\n"]],
    killedBy: byTest('src/node/core/keeper.test.ts', 'counts as armed only when it was read how long it waits'),
  },
  {
    name: 'armed beside a crash kernel, and not taken over',
    defect: 'a daemon that is started anew after a crash kernel was loaded does not feed the watchdog that was left armed: a healthy node is reset',
    file: 'src/node/shell/watchdog-device.ts',
    edits: [['    if (await isActive(root, device)) return facts;\n', '']],
    killedBy: byTest(
      'src/node/shell/watchdog-device.test.ts',
      'is taken over where an earlier process left it armed, though a crash kernel was loaded since: nobody would feed it',
    ),
  },
  {
    name: 'left armed and tried at leisure',
    defect: 'a watchdog that was left armed, and could not be opened once, is tried again when it has bitten',
    file: 'src/node/core/keeper.ts',
    edits: [['this.#isLeftArmed ? OPEN_LEFT_AGAIN_MS : OPEN_AGAIN_MS;', 'OPEN_AGAIN_MS;']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'is tried again until it can be opened, before it bites'),
  },
  {
    name: 'left armed and forgotten',
    defect:
      'a daemon that has not opened yet what was left armed records that nothing is: the next one forgets with which times, and that it fences itself',
    file: 'src/node/core/keeper.ts',
    edits: [['const isArmed = this.#isRunning || this.#isLeftArmed;', 'const isArmed = this.#isRunning;']],
    killedBy: byTest(
      'src/node/core/keeper.test.ts',
      'stays on record as armed until this process has opened it, or has said that it is not: the next one must know',
    ),
  },
  {
    name: 'disarmed on the way down',
    defect:
      'a daemon that is stopped while its node begins to take itself down disarms the watchdog: pods half stopped, the kubelet halted, and no reset',
    file: 'src/node/core/daemon.ts',
    edits: [['const isKnown = isAccepted && !isGoingDown;', 'const isKnown = isAccepted;']],
    killedBy: byTest('test/node-daemon/daemon.test.ts', 'goes down where that begins while it is stopped, though the API server answers by then'),
  },
  {
    name: 'fed by the time of the turn',
    defect: 'a daemon that was put aside right before it feeds feeds the watchdog later than others reckon with',
    file: 'src/node/core/keeper.ts',
    edits: [['    if (this.#ports.clock.monotonicMs() > untilMs) return;\n', '']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'right before it feeds does not feed when the time to feed is over by then'),
  },
  {
    name: 'armed without a record',
    defect: 'a watchdog is attested as armed though a daemon that is started anew would know neither its times nor that it fences itself',
    file: 'src/node/core/keeper.ts',
    edits: [['this.#goesOnAlone && this.#recordProblem === undefined ?', 'this.#goesOnAlone ?']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'attests no watchdog that others may rest on, and says so, until it can'),
  },
  {
    name: 'hidden hypervisor',
    defect: 'the watchdog of a virtual machine whose host hides its hypervisor proves, though the machine may be paused',
    file: 'src/node/shell/watchdog-facts.ts',
    edits: [[" || (await namesIn(join(root, 'sys/bus/virtio/devices'))).length > 0", '']],
    killedBy: byTest('src/node/shell/watchdog-device.test.ts', 'pausable is'),
  },
  {
    name: 'partition of a larger machine',
    defect: 'a partition of an architecture that nobody has looked at is taken for a machine that cannot be paused',
    file: 'src/node/shell/watchdog-facts.ts',
    edits: [['processors === undefined || !/^(?:flags|CPU implementer)\\s*:/m.test(processors)', 'processors === undefined']],
    killedBy: byTest('src/node/shell/watchdog-device.test.ts', 'pausable is'),
  },
  {
    name: 'nowayout unsaid',
    defect: 'nobody is told that a watchdog resets its machine at any stop of the daemon, also a clean one',
    file: 'src/node/core/keeper.ts',
    edits: [['    if (facts.isNowayout) this.#ports.log.warn(NOWAYOUT, { device, timeoutMs });\n', '']],
    killedBy: byTest('src/node/core/keeper.test.ts', 'is said to reset the machine at any stop of the daemon where its driver cannot be disarmed'),
  },
  {
    name: 'another watchdog than was left armed',
    defect: 'a daemon that was killed, and is started anew with another watchdog, feeds that: the one that was left armed resets a healthy node',
    file: 'src/node/shell/run.ts',
    edits: [['  return left.device;\n', '  return wanted;\n']],
    killedBy: byTest(
      'src/node/shell/run.test.ts',
      'goes on with the watchdog that an earlier daemon left armed, though another one is wanted by now: nobody else would feed it',
    ),
  },
  {
    name: 'slept between two daemons',
    defect: 'a machine that slept between two processes of its daemon goes on, though others were told that it was down',
    file: 'src/node/core/keeper.ts',
    edits: [['    if (record?.isArmed === true) this.#asleepMs = Math.min(this.#asleepMs, record.asleepMs ?? Number.POSITIVE_INFINITY);\n', '']],
    killedBy: byTest(
      'src/node/core/keeper.test.ts',
      'takes its machine down where that slept between the two, though it was attested that it cannot',
    ),
  },
];
