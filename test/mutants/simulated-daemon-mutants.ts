import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STORIES = 'test/simulation/node-daemons/stories.test.ts';
const DRILL = 'src/drill/daemons/simulated/simulated.test.ts';
const AS_LATE_AS_MAY_BE = 'the watchdog of a node proves its end when everything took as long as it may: clocks, pods, grants until the last moment';
const TIMES_SINCE = 'the watchdog of a node is counted with the times that were attested, whatever somebody wrote since';
const TIMES_BEFORE = 'the watchdog of a node is counted with the times that were attested by the process before';

/** Defects between node daemons and controllers that show where the real ones play together, by what their machines did and not by what they say. */
export const SIMULATED_DAEMON_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'counted with the usual times',
    defect: 'the wait for a watchdog is reckoned from the usual times, not from those that the node attested',
    file: 'agents/watchdog/judgement.ts',
    edits: [['{ ...DEFAULT_DAEMON_TIMING, ...selfFence, watchdogMs', '{ ...DEFAULT_DAEMON_TIMING, watchdogMs']],
    killedBy: byTest(STORIES, AS_LATE_AS_MAY_BE),
  },
  {
    name: 'counted without the pods',
    defect: 'what stopping the pods may take is forgotten in the wait for a watchdog',
    file: 'src/domain/timing-daemon.ts',
    edits: [
      [
        'return daemon.grantMs + daemon.isolationTimeoutMs + daemon.podStopMaxMs + daemon.watchdogMs;',
        'return daemon.grantMs + daemon.isolationTimeoutMs + daemon.watchdogMs;',
      ],
    ],
    killedBy: byTest(STORIES, AS_LATE_AS_MAY_BE),
  },
  {
    name: 'one clock that is wrong',
    defect: 'the wait for a watchdog allows for our own clock that is fast, and not for that of the node that is slow',
    file: 'src/domain/timing-daemon.ts',
    edits: [['return FAST_OVER_SLOW * (', 'return 1.01 * (']],
    killedBy: byTest('src/domain/timing.test.ts', 'proves nothing before a node is down whose clock is as slow as ours is fast'),
  },
  {
    name: 'granted to the ended by all',
    defect: 'a leader goes on granting to a boot whose grants it has ended itself',
    file: 'src/controllers/node-daemons/receiver.ts',
    edits: [['isEnded: endings.isEnded(node, bootID),', 'isEnded: endings.isEnded(node, ``),']],
    killedBy: byTest(STORIES, AS_LATE_AS_MAY_BE),
  },
  {
    name: 'promises of this process only',
    defect: 'a daemon that is started anew knows nothing of what the one before it promised',
    file: 'src/node/core/promises.ts',
    edits: [['this.#promised = new Map(await this.#store.read());', 'this.#promised = new Map([...(await this.#store.read())].slice(0, 0));']],
    killedBy: byTest(STORIES, 'the watchdog of a node proves its end though peers whose daemons were started anew are heard by it'),
  },
  {
    name: 'keeping up what cannot be asked',
    defect: 'peers that have not promised are left out of what is waited for',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (missing.length > 0)', 'if (missing.length > eligible.length)']],
    killedBy: byTest(STORIES, 'the watchdog of a node proves nothing while peers that cannot be asked keep it up'),
  },
  {
    name: 'times taken while armed',
    defect: 'a daemon whose watchdog is armed takes new times at once',
    file: 'src/node/core/daemon-times.ts',
    edits: [['if (!this.#isFixed) this.#current = wanted;', 'this.#current = wanted;']],
    killedBy: byTest(STORIES, TIMES_SINCE),
  },
  {
    name: 'times of the process before',
    defect: 'a daemon that is started anew behind an armed watchdog takes new times',
    file: 'src/node/core/keeper.ts',
    edits: [
      ['if (record?.times !== undefined && (record.isArmed || record.stoppingSinceMs !== undefined)) this.#options.times.restore(record.times);', ''],
    ],
    killedBy: byTest(STORIES, TIMES_BEFORE),
  },
  {
    name: 'peers never asked',
    defect: 'a node that no controller grants to asks nobody else',
    file: 'src/node/core/exchange.ts',
    edits: [['> ASK_PEERS_AFTER_MS) this.#askPeers(nowMs);', '> ASK_PEERS_AFTER_MS * Infinity) this.#askPeers(nowMs);']],
    killedBy: byTest(STORIES, 'an outage of all controllers and of the API server takes down none of 5 nodes'),
  },
  {
    name: 'proof of a pause',
    defect: 'the silence of a machine that is only paused proves its end',
    file: 'agents/watchdog/judgement.ts',
    edits: [["if (isPausable) return 'the machine", "if (isPausable && state === '') return 'the machine"]],
    killedBy: byTest(STORIES, 'the watchdog of a node proves nothing while the machine is only paused'),
  },
  {
    name: 'a node that lives too long',
    defect: 'a node that is cut off waits twice as long as it said before it takes itself down',
    file: 'src/domain/node-daemon/self-fence.ts',
    edits: [['(keptUntilMs ?? NEVER_MS) + times.isolationTimeoutMs;', '(keptUntilMs ?? NEVER_MS) + 2 * times.isolationTimeoutMs;']],
    killedBy: byTest(DRILL, 'a simulated drill of node daemons of full-partition ends as the one with real processes must'),
  },
  {
    name: 'a rack that vouches for itself',
    defect: 'the vouch of one failure domain keeps a node up, were it its own',
    file: 'src/domain/node-daemon/peers.ts',
    edits: [['const needed = Math.floor(votes.length / 2) + 1;\n  const last', 'const needed = 1;\n  const last']],
    killedBy: byTest(DRILL, 'a simulated drill of node daemons of rack-partition ends as the one with real processes must'),
  },
];
