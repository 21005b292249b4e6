import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CLIENT = 'src/kube/client.test.ts';
const HTTPS_TRANSPORT = 'src/kube/https-transport.test.ts';
const REFLECTOR = 'src/kube/reflector.test.ts';
const KUBECONFIG = 'src/kube/kubeconfig/kubeconfig.test.ts';
const PRUNE = 'src/kube/prune.test.ts';
const RESTING_WATCH = 'src/kube/resting-watch.test.ts';
const RESTING = 'src/manager/resting.test.ts';

/** Defects of what speaks to the API server, and of what is kept of its answers. */
export const KUBE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'silence from the first event',
    defect: 'a watch that brings events ends as silent',
    file: 'src/kube/watch-session.ts',
    edits: [['if (restMs > 0) this.#armIdle(restMs, idleMs);\n      else this.#giveUp', 'this.#giveUp']],
    killedBy: byTest(
      'src/kube/watch-session.test.ts',
      'takes silence from the last event on for long enough, and not sooner, also where that has become shorter',
    ),
  },
  {
    name: 'patience of the start stays',
    defect: 'a watch that has brought what is there may be silent for as long as that may take',
    file: 'src/kube/watch-session.ts',
    edits: [['if (idleMs !== this.#idleMs) this.#armIdle', 'if (this.#idleMs === undefined) this.#armIdle']],
    killedBy: byTest(
      'src/kube/watch-session.test.ts',
      'takes silence from the last event on for long enough, and not sooner, also where that has become shorter',
    ),
  },
  {
    name: 'clocks read apart',
    defect: 'a process that was put aside between two clocks takes its machine for suspended',
    file: 'src/ports/moment.ts',
    edits: [['clock.monotonicMs() - monotonicMs <= APART_MS || tries', 'monotonicMs > 0 || tries']],
    killedBy: byTest('src/ports/moment.test.ts', 'are read again where the process was put aside between them'),
  },
  {
    name: 'no part of a Node',
    defect: 'commands crash at a Node without status, and two Nodes that no kubelet has spoken for have one boot ID',
    file: 'src/kube/whole.ts',
    edits: [['(wholeNode(object) as KubeObject as T)', 'object']],
    killedBy: byTest('src/kube/whole.test.ts', 'without spec and status has both parts and no ID, got, listed and watched'),
  },
  {
    name: 'empty boot ID',
    defect: 'a Node whose kubelet names no boot shows another one',
    file: 'src/kube/whole.ts',
    edits: [["filter(([, text]) => text !== '')", 'filter(() => true)']],
    killedBy: byTest('src/kube/whole.test.ts', 'with empty IDs has both parts and no ID, got, listed and watched'),
  },
  {
    name: 'fence without times',
    defect: 'a NodeFence that is read has no managedFields: a renewal of a Lease that only they tell of voids no proof of off',
    file: 'src/kube/whole.ts',
    edits: [
      [
        '(wholeNode(object) as KubeObject as T) : object;',
        '(wholeNode(object) as KubeObject as T)\n    : { ...object, metadata: Object.fromEntries(Object.entries(object.metadata).filter(([field]) => field !== "managedFields")) };',
      ],
    ],
    killedBy: byTest(
      'src/kube/whole.test.ts',
      'a NodeFence says when which part of it was written: by that a renewal is known to be newer than a proof',
    ),
  },
  {
    name: 'uid left out',
    defect: 'a deletion leaves without the uid: the pod that took the name of the meant one is deleted',
    file: 'src/kube/client.ts',
    edits: [['...(uid === undefined ? {} : { uid }), ...(resourceVersion', '...(resourceVersion']],
    killedBy: byTest(CLIENT, 'deletes under a uid precondition and says whether it was there'),
  },
  {
    name: 'eviction of any pod',
    defect: 'an eviction leaves without the uid: the pod that took the name of the meant one is evicted',
    file: 'src/kube/client.ts',
    edits: [['...(uid === undefined ? {} : { preconditions: { uid } })', '']],
    killedBy: byTest(CLIENT, 'evicts the pod of that uid, and none that took its name'),
  },
  {
    name: 'blind replace',
    defect: 'a replace without resourceVersion overwrites what others wrote',
    file: 'src/kube/client.ts',
    edits: [["|| resourceVersion === undefined || resourceVersion === '') {", ') {']],
    killedBy: byTest(CLIENT, 'replaces with uid and resourceVersion, and refuses to without'),
  },
  {
    name: 'status over spec',
    defect: 'a status is written to the object itself',
    file: 'src/kube/client.ts',
    edits: [["this.#put(resource, object, { subresource: 'status' }, options)", 'this.#put(resource, object, {}, options)']],
    killedBy: byTest(CLIENT, 'replaces with uid and resourceVersion, and refuses to without'),
  },
  {
    name: 'stops of an ordinary lane',
    defect: 'the read of stops waits behind ordinary calls',
    file: 'src/kube/client.ts',
    edits: [["? 'urgent' : undefined);", '? undefined : undefined);']],
    killedBy: byTest(CLIENT, 'reads stops on a lane of their own, and lets what may hang behind a webhook take none of the others'),
  },
  {
    name: 'lease behind stops',
    defect: 'the renewal of the Lease waits behind the reads of stops',
    file: 'src/kube/transport/connection.ts',
    edits: [['return { ...lanes, watches:', 'return { ...lanes, lease: lanes.urgent, watches:']],
    killedBy: byTest('src/kube/gated-request.test.ts', 'leave the Lease its own connections, as do stop reads that hang'),
  },
  {
    name: 'slow deletions everywhere',
    defect: 'an eviction takes the connections of ordinary calls',
    file: 'src/kube/client.ts',
    edits: [["return method === 'DELETE' || path.endsWith('/eviction') ? 'slow' : undefined;", "return method === 'DELETE' ? 'slow' : undefined;"]],
    killedBy: byTest(CLIENT, 'reads stops on a lane of their own, and lets what may hang behind a webhook take none of the others'),
  },
  {
    name: 'list given up is whole',
    defect: 'a list that was given up between two pages counts as whole',
    file: 'src/kube/paged-list.ts',
    edits: [["  throw new TransportError('aborted', `${what}: given up between two pages`);", "  return { items, resourceVersion: '' };"]],
    killedBy: byTest(CLIENT, 'gives no half of a list as the whole when it is given up between two pages'),
  },
  {
    name: 'writes repeated',
    defect: 'a write on a kept connection that broke is sent again, though it may have been done',
    file: 'src/kube/https-transport.ts',
    edits: [["error instanceof StaleSocketError && request.method === 'GET'", 'error instanceof StaleSocketError']],
    killedBy: byTest(HTTPS_TRANSPORT, 'asks a GET once more when the server had closed the kept connection, but never a write'),
  },
  {
    name: 'endless answer',
    defect: 'an answer of any length is kept in memory',
    file: 'src/kube/transport/response-body.ts',
    edits: [['if (bytes > bytesMax) {', 'if (bytes < 0 && bytesMax > 0) {']],
    killedBy: byTest('src/kube/transport/response-body.test.ts', 'is given up where it goes beyond its bound, whatever else is still to come'),
  },
  {
    name: 'old authority',
    defect: 'connections made with a certificate authority that was exchanged are kept',
    file: 'src/kube/transport/connection.ts',
    edits: [['one.ca === other.ca && ', '']],
    killedBy: byTest(HTTPS_TRANSPORT, 'trusts no kept connection of an authority that was exchanged'),
  },
  {
    name: 'old certificate',
    defect: 'a client certificate that was exchanged is used on',
    file: 'src/kube/transport/connection.ts',
    edits: [[' && one.cert === other.cert && one.key === other.key', '']],
    killedBy: byTest(HTTPS_TRANSPORT, 'shows its client certificate, and a new one on new connections when it was exchanged'),
  },
  {
    name: 'plain TLS name',
    defect: 'the certificate is verified against another name than the configured one',
    file: 'src/kube/transport/connection.ts',
    edits: [['servername: serverName ?? nameOf(url),', 'servername: nameOf(url),']],
    killedBy: byTest(HTTPS_TRANSPORT, 'names address and cause when nobody listens, the certificate is foreign, or the answer is no HTTP'),
  },
  {
    name: 'nameless handshake',
    defect: 'a server is not told which of its names is meant, and a proxy before several answers with the certificate of another',
    file: 'src/kube/transport/connection.ts',
    edits: [['servername: serverName ?? nameOf(url),', "servername: serverName ?? '',"]],
    killedBy: byTest('src/kube/transport/connection.test.ts', 'by its host name'),
  },
  {
    name: 'opening without end',
    defect: 'a watch that the server never accepts is never given up',
    file: 'src/kube/watch-session.ts',
    edits: [['this.#arm(openDeadlineMs, () => {', 'this.#arm(openDeadlineMs * 1e6, () => {']],
    killedBy: byTest(REFLECTOR, 'gives up a watch that the server never accepts'),
  },
  {
    name: 'silence of a stream',
    defect: 'a watch that began with what is there is given up as silent by the deadline of a list',
    file: 'src/kube/watch-session.ts',
    edits: [['if (!this.#isEnded()) this.#waitOn();', '']],
    killedBy: byTest(
      'src/kube/initial-events.test.ts',
      'is idle after the silence of any watch, not after that of a stream: nothing is listed for it',
    ),
  },
  {
    name: 'event after the end',
    defect: 'a watch that was given up still tells of events',
    file: 'src/kube/watch-session.ts',
    edits: [['onEvent: (event) => {\n        if (!this.#isOver) {', 'onEvent: (event) => {\n        if (event.type !== undefined) {']],
    killedBy: byTest('src/kube/watch-session.test.ts', 'tells nothing of what a transport still says after it was given up as silent'),
  },
  {
    name: 'credential for ever',
    defect: 'the credential of a plugin is used past its end',
    file: 'src/kube/credentials/exec-credential.ts',
    edits: [['held.expiresAtMs === undefined || this.#clock.wallMs() < held.expiresAtMs', 'held.credential.token !== undefined']],
    killedBy: byTest(KUBECONFIG, 'runs it beside the file with its arguments and environment, and keeps its answer until that expires or is refused'),
  },
  {
    name: 'kubeconfig of a Secret',
    defect: 'a kubeconfig from a Secret names a program of this machine, and it is run',
    file: 'src/kube/kubeconfig/kubeconfig.ts',
    edits: [
      [
        "users: ['client-certificate', 'client-key', 'tokenFile', 'exec', 'auth-provider'],",
        "users: ['client-certificate', 'client-key', 'tokenFile', 'auth-provider'],",
      ],
    ],
    killedBy: byTest(KUBECONFIG, 'exec'),
  },
  {
    name: 'half a pair',
    defect: 'a client certificate without its key counts as nobody',
    file: 'src/kube/kubeconfig/user.ts',
    edits: [['if ((certificate === undefined) !== (key === undefined)) {', 'if (certificate === undefined && key !== undefined) {']],
    killedBy: byTest(KUBECONFIG, 'the kubeconfig is nobody’s with client-certificate-data alone'),
  },
  {
    name: 'impersonation dropped',
    defect: 'who is to act as somebody else acts with all of its own rights',
    file: 'src/kube/kubeconfig/user.ts',
    edits: [["...(as === undefined ? {} : { 'impersonate-user': as }),", '']],
    killedBy: byTest(KUBECONFIG, 'acts as somebody else when the user entry says so'),
  },
  {
    name: 'two at once',
    defect: 'a key that is wanted again while it is worked on is worked on twice at once',
    file: 'src/kube/workqueue.ts',
    edits: [['if (!entry.isInFlight) {\n      this.#schedule', 'if (entry.dueAtMs !== undefined) {\n      this.#schedule']],
    killedBy: byTest('src/kube/workqueue.test.ts', 'never runs one key twice at the same time, and once more for all wishes made meanwhile'),
  },
  {
    name: 'removed stay',
    defect: 'what a new list does not name any more stays in the view',
    file: 'src/kube/lister.ts',
    edits: [['if (!objects.has(key)) {', 'if (objects.size === 0) {']],
    killedBy: byTest(REFLECTOR, 'lists again after an ERROR event of code 410 and removes what went away meanwhile'),
  },
  {
    name: 'silence hidden',
    defect: 'a silence before a new list hides nothing: what could not be heard counts as heard',
    file: 'src/kube/lister.ts',
    edits: [['if (atMs - this.freshAtMs > UNHEARD_MS) {', 'if (atMs - this.freshAtMs > Infinity) {']],
    killedBy: byTest(REFLECTOR, 'says since when nothing can have been missed: an ordinary end hides nothing, a long silence with a new watch does'),
  },
  {
    name: 'tolerations cut',
    defect: 'the view of pods keeps no tolerations',
    file: 'src/kube/prune.ts',
    edits: [["'priorityClassName', 'tolerations'", "'priorityClassName'"]],
    killedBy: byTest(PRUNE, 'keeps of a pod what it tolerates and how soon it is to be let go'),
  },
  {
    name: 'unschedulable cut',
    defect: 'the view of nodes does not know of a cordon',
    file: 'src/kube/prune.ts',
    edits: [["['providerID', 'unschedulable', 'taints']", "['providerID', 'taints']"]],
    killedBy: byTest(PRUNE, 'keeps what says that a node is cordoned, and that something holds an object that is being deleted'),
  },
  {
    name: 'change taken for none',
    defect: 'an object that lost a field is taken for the version that was known before',
    file: 'src/domain/equal-parts.ts',
    edits: [['let isSame = names.length === Object.keys(known).length;', 'let isSame = true;']],
    killedBy: byTest('src/domain/equal-parts.test.ts', 'is told from a field that went'),
  },
  {
    name: 'finalizers cut',
    defect: 'the view keeps no finalizers',
    file: 'src/kube/prune.ts',
    edits: [["'deletionGracePeriodSeconds', 'finalizers']", "'deletionGracePeriodSeconds']"]],
    killedBy: byTest(PRUNE, 'keeps what says that a node is cordoned, and that something holds an object that is being deleted'),
  },
  {
    name: 'renewal that nobody saw',
    defect: 'a candidate counts an older state of the Lease, which a watch brings late, as a renewal',
    file: 'src/kube/lease-record.ts',
    edits: [['|| isOlder(resourceVersion, known.resourceVersion) ?', '?']],
    killedBy: byTest('src/kube/leader-watch.test.ts', 'counts a renewal that a watch showed from then on'),
  },
  {
    name: 'rest without end',
    defect: 'a watch that rested is never read again',
    file: 'src/kube/transport/resting-stream.ts',
    edits: [['      this.#socket.resume();\n', '']],
    killedBy: byTest(RESTING_WATCH, 'a watch over https: that may rest goes on after a moment in which nothing came'),
  },
  {
    name: 'rest awake',
    defect: 'a watch that rests is read all the same, and what comes piles up in the process',
    file: 'src/kube/transport/connection.ts',
    edits: [['const WATCH_BUFFER_BYTES = 1;', 'const WATCH_BUFFER_BYTES = 65_536;']],
    killedBy: byTest(
      RESTING_WATCH,
      'a watch over https: that may rest leaves to the system what comes while it rests: the process wakes up for the first of it alone',
    ),
  },
  {
    name: 'rest within a list',
    defect: 'a watch rests while it reads what is there',
    file: 'src/kube/reflector.ts',
    edits: [['(this.#initial === undefined ? restMs() : 0)', 'restMs()']],
    killedBy: byTest('src/kube/initial-events.test.ts', 'does not rest before it has read what is there'),
  },
  {
    name: 'rest in a fence',
    defect: 'signs of life are read with a delay while a node is fenced',
    file: 'src/manager/resting.ts',
    edits: [['(open.size > 0 ? 0 : REST_MS)', '(open.size > 0 ? REST_MS : REST_MS)']],
    killedBy: byTest(RESTING, 'rest for a moment, and not while a fence is open'),
  },
  {
    name: 'rest of nodes',
    defect: 'a Node that has failed is read with a delay',
    file: 'src/manager/watches.ts',
    edits: [['nodes: watch(NODES)', 'nodes: watch(NODES, { restMs })']],
    killedBy: byTest(
      RESTING,
      'are those of kubelets’ Leases, of pods and of reports: a Node, a stop, a NodeFence and the leader’s Lease are read at once',
    ),
  },
];
