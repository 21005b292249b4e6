import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const EXCHANGED = 'src/kube/exchanged-credentials.test.ts';
const HALF_OPEN = 'src/kube/half-open.test.ts';
const KUBECONFIG = 'src/kube/kubeconfig/kubeconfig.test.ts';
const SILENT_WATCH = 'src/kube/silent-watch.test.ts';
const RECORDER = 'src/kube/events/recorder.test.ts';
const LATE_SERVER = 'test/self-check/late-server.test.ts';

/** Defects of the way to the API server: who is trusted and as whom, what is left of a way that is gone, and whether it is waited for. */
export const CONNECTION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'the first look gives up',
    defect: 'a controller that begins in an outage of a minute never leads, and looks well once that is over',
    file: 'src/manager/compose.ts',
    edits: [['if (selfCheck.isClosed) throw error;', "if (selfCheck.result.kind !== 'refused') throw error;"]],
    killedBy: byTest(LATE_SERVER, 'a controller that begins while the API server is away for long says so each minute, and leads when it is back'),
  },
  {
    name: 'the first look never ends',
    defect: 'a controller that is stopped while it waits for the API server waits on',
    file: 'src/manager/compose.ts',
    edits: [['if (selfCheck.isClosed) throw error;', 'if (selfCheck.isClosed) return;']],
    killedBy: byTest(LATE_SERVER, 'a controller that is stopped while it waits for the API server waits no longer'),
  },
  {
    name: 'empty authority',
    defect:
      'while the file of the authority is empty every authority of the system is trusted, and the token goes to whoever has a certificate of one',
    file: 'src/kube/credentials/text-source.ts',
    edits: [["if (text.trim() === '') throw", "if (text === 'none') throw"]],
    killedBy: byTest(EXCHANGED, 'trusts nobody where the file of the authority was empty from the start'),
  },
  {
    name: 'garbage for an authority',
    defect: 'a file of the authority that is written anew in place trusts nobody for a minute: the leader loses its lease',
    file: 'src/kube/transport/connection.ts',
    edits: [['if (identity.ca !== undefined) new X509Certificate(identity.ca);', '']],
    killedBy: byTest(EXCHANGED, 'trusts whom it has trusted, and nobody else, while the file of the authority is empty or no certificate'),
  },
  {
    name: 'new certificate, old key',
    defect: 'a client certificate that stands beside the old key for a moment fails every request for a minute',
    file: 'src/kube/transport/connection.ts',
    edits: [['if (this.#agents === undefined) throw made;', 'throw made;']],
    killedBy: byTest(
      EXCHANGED,
      'goes on with the client certificate that it has while the new one stands beside the old key, and takes the new one once both do',
    ),
  },
  {
    name: 'authority once a minute',
    defect: 'a server that shows a certificate of the new authority is not trusted for a minute, though that stands in the file',
    file: 'src/kube/transport/connection.ts',
    edits: [['if (isOfTrust(error)) this.#readAnew();', '']],
    killedBy: byTest(EXCHANGED, 'reads an exchanged authority at once when the server shows a certificate that it does not trust'),
  },
  {
    name: 'silent file of credentials',
    defect: 'nobody is told that the token is the last one that could be read, until the API server refuses it',
    file: 'src/kube/credentials/text-source.ts',
    edits: [["warnings?.warn(this.#where, 'a file of credentials cannot be read: what was read before is used', fault);", '']],
    killedBy: byTest(KUBECONFIG, 'tells once of a file of credentials that cannot be read any more, and reads it at each call until it can'),
  },
  {
    name: 'plugin that ignores signals',
    defect: 'a credential plugin that hangs and ignores SIGTERM keeps every request from the API server for ever',
    file: 'src/kube/credentials/exec-credential.ts',
    edits: [["child.kill('SIGKILL');", "child.kill('SIGTERM');\n        if (child.exitCode === null) return;"]],
    killedBy: byTest(
      KUBECONFIG,
      'with an exec plugin waits for it no longer than a minute, whatever signals it ignores and whoever holds its output, and runs it anew',
    ),
  },
  {
    name: 'a deadline for each dead connection',
    defect: 'after an API server has lost its power each connection that was kept to it costs a request its deadline',
    file: 'src/kube/https-transport.ts',
    edits: [['if (error instanceof StaleSocketError && !isGivenUp(signal)) this.#connection.dropUnheard(sinceMs);', '']],
    killedBy: byTest(HALF_OPEN, 'cost one deadline, not one each: PUT'),
  },
  {
    name: 'one dead connection takes all',
    defect: 'one request that a webhook holds up costs every lane its connections',
    file: 'src/kube/transport/connection.ts',
    edits: [['?? Number.NEGATIVE_INFINITY) < sinceMs) socket.destroy();', '?? 0) >= 0) socket.destroy();\n        void sinceMs;']],
    killedBy: byTest(HALF_OPEN, 'are all kept where a caller gave up, and those on which an answer came meanwhile where one brought none'),
  },
  {
    name: 'three tries for an Event',
    defect: 'in an outage of the API server what a person must see is lost first, each after three seconds',
    file: 'src/kube/events/recorder.ts',
    edits: [['failing.tries < TRIES_MAX || (failing.written === this.#written && nowMs - failing.sinceMs < KEPT_MS)', 'failing.tries < TRIES_MAX']],
    killedBy: byTest(
      RECORDER,
      'loses nothing while the server is away, asks it ever more seldom, and writes what a person must see first once it is back',
    ),
  },
  {
    name: 'an Event in the way of all others',
    defect: 'one Event that the API server cannot take keeps all others for an hour',
    file: 'src/kube/events/recorder.ts',
    edits: [['if ((remembered.failing?.tries ?? 0) >= TRIES_MAX) await this.#tryNext();', '']],
    killedBy: byTest(RECORDER, 'counts as lost what fails a third time while others are written, and holds these up no longer'),
  },
  {
    name: 'a pause after what hung',
    defect: 'after a renewal that hung the next one has two seconds of four, and the leader loses its lease to a server that is only slow',
    file: 'src/kube/leader-elector.ts',
    edits: [['return this.#restOf(sent.monotonicMs);', 'return this.#retryMs;']],
    killedBy: byTest('src/kube/leader-renewal.test.ts', 'a renewal that hangs leaves the next one all of its own time before the deadline'),
  },
  {
    name: 'retries that nobody waits for',
    defect: 'keys that failed again and again, for something new was known of them, leave a debt: whatever fails next is tried again after hours',
    file: 'src/kube/workqueue.ts',
    edits: [['this.#bucket.take(this.#entries.size)', 'this.#bucket.take()']],
    killedBy: byTest(
      'src/kube/workqueue.test.ts',
      'lends to as many as wait: what failed again and again because something new was known of it holds nobody up afterwards',
    ),
  },
  {
    name: 'any Lease without holder',
    defect: 'a Lease that a person emptied is taken at once, and two lead until its holder has noticed',
    file: 'src/kube/lease-record.ts',
    edits: [["(lease.spec.holderIdentity ?? '') === '' && recordedSeconds <= GIVEN_BACK_SECONDS", "(lease.spec.holderIdentity ?? '') === ''"]],
    killedBy: byTest('src/kube/leader-emptied.test.ts', 'that somebody emptied by hand is waited out: its holder may not know yet, and act'),
  },
  {
    name: 'blind behind a proxy',
    defect: 'where a proxy keeps back what watches bring, nothing that happens is seen any more, and the view counts as live',
    file: 'src/kube/reflector.ts',
    edits: [['if (this.#silences.isLookDue) this.#state.forgetVersion();\n      else if', 'if']],
    killedBy: byTest(SILENT_WATCH, 'a reflector reads what is there by lists, as old as a silence at most, and says so'),
  },
  {
    name: 'live by its opening alone',
    defect: 'a watch that was accepted makes the view fresh, though none of them has brought what lists show',
    file: 'src/kube/reflector.ts',
    edits: [['else if (!this.#silences.isKeptBack) this.#state.cache.reopened', 'else this.#state.cache.reopened']],
    killedBy: byTest(SILENT_WATCH, 'counts as fresh as of its list, not as of each watch that was accepted'),
  },
  {
    name: 'a list after each silence',
    defect: 'a collection in which nothing happens is listed every minute where the server sends no bookmarks',
    file: 'src/kube/silences.ts',
    edits: [['Math.min(LOOK_MOST, 2 * this.#nextLook)', 'FIRST_LOOK']],
    killedBy: byTest(SILENT_WATCH, 'looks ever more seldom where nothing happens, as where a server sends no bookmarks, and says nothing'),
  },
  {
    name: 'watches in vain',
    defect: 'where every watch is accepted and ended at once nothing that happens is seen any more, and the view counts as live',
    file: 'src/kube/reflector.ts',
    edits: [["end === 'garbled' || isVain ? 1 : 0", "end === 'garbled' ? 1 : 0"]],
    killedBy: byTest(SILENT_WATCH, 'reads what is there by a list where one watch after the other is accepted, brings nothing and ends well'),
  },
  {
    name: 'probes wait for strangers',
    defect: 'whoever holds every connection of the health page and says nothing has the controller restarted by its kubelet',
    file: 'src/http/operations-server.ts',
    edits: [['boundConnections(this.#server, CONNECTIONS_MAX);', '']],
    killedBy: byTest('src/http/operations-server.test.ts', 'answers a probe, whoever holds all of its connections and says nothing on them'),
  },
  {
    name: 'one page too many',
    defect:
      'a busy server that refuses one page of many is asked for all of them again, and the first look at a large cluster never comes to its end',
    file: 'src/kube/paged-list.ts',
    edits: [['if (later === undefined || tries >= TRIES_MAX || error.retryAfterMs === undefined) throw error;', 'throw error;']],
    killedBy: byTest(
      'src/kube/throttled-list.test.ts',
      'a list of many pages, some of which the server wants to be asked for later goes on with that page, and does not begin anew',
    ),
  },
];
