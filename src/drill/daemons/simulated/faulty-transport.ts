import { statusError } from '../../../kube/status.ts';
import { TransportError, type ApiStatusError } from '../../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport, WatchEvent, WatchRequest, WatchSink } from '../../../ports/api-transport.ts';
import type { Port } from '../../../testbed/simulation/port.ts';
import type { CallKind, Network, RequestFate } from '../../../testbed/simulation/network.ts';

const RETRY_AFTER_SECONDS = 1;
const DAY_SECONDS = 86_400;
/** What a webhook may take at most; then the API server refuses what it was to be asked about, or lets it pass where the webhook is to be ignored. */
const WEBHOOK_TIMEOUT_MS = 30_000;
const NO_BACKEND: ApiResponse = { status: 404, body: 'default backend - 404', headers: { 'content-type': 'text/plain' } };
const SMALL_PAGE = '2';
const CONNECT_TIMEOUT_MS = 3_000;

/** The way from one simulated process to the API server in the same world: an `ApiTransport` with latency, faults and crashes. */
export class FaultyTransport implements ApiTransport {
  readonly #inner: ApiTransport;
  readonly #port: Port;
  readonly #network: Network;
  readonly #host: string;

  /** `host`: as the network knows the caller; a process that is started anew keeps it. */
  constructor(inner: ApiTransport, port: Port, network: Network, host = port.process.name) {
    this.#inner = inner;
    this.#port = port;
    this.#network = network;
    this.#host = host;
  }

  request(asked: ApiRequest): Promise<ApiResponse> {
    const request = this.#paged(asked);
    const { process } = this.#port;
    if (request.signal?.aborted === true) {
      return Promise.reject(new TransportError('aborted', `${request.method} ${request.path} was given up before it was sent`));
    }
    if (!process.isDead) {
      try {
        request.beforeSend?.();
      } catch (thrown) {
        return Promise.reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    }
    const isLaterPage = request.query?.['continue'] !== undefined;
    const drawn = this.#network.fateOf(this.#host, callOf(request));
    const fate = drawn === 'delivered' && isLaterPage && this.#network.isPageGone() ? 'expired' : drawn;
    const answer = this.#port.call({
      label: `${request.method} ${request.path}`,
      tags: tagsOf(request),
      requestMs: this.#network.oneWayMs(),
      answerMs: this.#network.oneWayMs(),
      effect: () => this.#effect(request, fate),
    });
    return new Promise<ApiResponse>((resolve, reject) => {
      const settle = (): void => {
        cancelDeadline();
        request.signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        settle();
        reject(new TransportError('aborted', `${request.method} ${request.path} was given up`));
      };
      const cancelDeadline = process.clock.after(request.deadlineMs, () => {
        settle();
        reject(new TransportError('timeout', `${request.method} ${request.path}: no answer within ${request.deadlineMs} ms`));
      });
      request.signal?.addEventListener('abort', onAbort, { once: true });
      answer.then(
        (response) => {
          settle();
          resolve(response);
        },
        (thrown: unknown) => {
          settle();
          reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
        },
      );
    });
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    const stream = new FaultyStream(this.#inner, this.#port, this.#network, this.#host, request, sink);
    return () => {
      stream.close();
    };
  }

  #effect(request: ApiRequest, fate: RequestFate): Promise<ApiResponse> {
    switch (fate) {
      case 'lost-request':
        return new Promise<never>(() => undefined);
      case 'refused':
        return Promise.reject(new TransportError('unreachable', `${request.method} ${request.path}: connection refused`));
      case 'lost-answer':
        return this.#inner.request(withoutSignal(request)).then(() => new Promise<never>(() => undefined));
      case 'conflict':
        return Promise.resolve(refusal(409, 'Conflict', 'Operation cannot be fulfilled: the object has been modified'));
      case 'too-many-requests':
        return Promise.resolve(refusal(429, 'TooManyRequests', 'the server has received too many requests and has asked us to try again later'));
      case 'server-error':
        return Promise.resolve(refusal(500, 'InternalError', 'Internal error occurred: etcdserver: request timed out'));
      case 'expired':
        return Promise.resolve(refusal(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.'));
      case 'plain-404':
        return Promise.resolve(NO_BACKEND);
      case 'retry-after':
        return Promise.resolve(refusal(429, 'TooManyRequests', 'too many requests, please try again later', DAY_SECONDS));
      case 'webhook':
        return this.#hangs(request);
      case 'status-refused':
        return Promise.resolve(refusal(422, 'Invalid', 'NodeFence.ha.k8s.io is invalid: status.state: Unsupported value'));
      case 'delivered':
        return this.#inner.request(withoutSignal(request));
    }
  }

  /** Half of the pods have a webhook that is to be ignored when it fails: what is asked of them takes effect late, unless the server was told to give it up. */
  #hangs(request: ApiRequest): Promise<ApiResponse> {
    const patienceMs = Number.parseInt(request.query?.['timeout'] ?? '', 10);
    const isIgnored = request.path.length % 2 === 0;
    const { kernel } = this.#port.process;
    return new Promise((resolve, reject) => {
      if (patienceMs < WEBHOOK_TIMEOUT_MS) {
        kernel.schedule(patienceMs, () => resolve(refusal(504, 'Timeout', 'request did not complete within the allotted timeout')));
        return;
      }
      kernel.schedule(WEBHOOK_TIMEOUT_MS, () => {
        if (isIgnored) this.#inner.request(withoutSignal(request)).then(resolve, reject);
        else resolve(refusal(500, 'InternalError', 'Internal error occurred: failed calling webhook "pods.example.com": context deadline exceeded'));
      });
    });
  }

  /** Lists in small pages, of which a later one may have expired. */
  #paged(request: ApiRequest): ApiRequest {
    const isPaged = this.#network.faults.hasSmallPages === true && request.query?.['limit'] !== undefined;
    return isPaged ? { ...request, query: { ...request.query, limit: SMALL_PAGE } } : request;
  }
}

/** One watch: events arrive in order, each as an event of its own, until either side or the network ends it. */
class FaultyStream {
  readonly #port: Port;
  readonly #network: Network;
  readonly #host: string;
  readonly #sink: WatchSink;
  /** With the object of which a change tells. */
  readonly #queue: { deliver: () => void; changed?: string }[] = [];
  #lastArrivalMs = 0;
  #isOver = false;
  #isSevered = false;
  /** Half open: neither side will ever hear of the other again, and neither is told. */
  #isDeaf = false;
  #hasEnded = false;
  #closeInner: (() => void) | undefined;

  constructor(inner: ApiTransport, port: Port, network: Network, host: string, request: WatchRequest, sink: WatchSink) {
    this.#port = port;
    this.#network = network;
    this.#host = host;
    this.#sink = sink;
    const { process } = port;
    if (process.isDead) {
      return;
    }
    process.onDeath(() => {
      this.#stop();
    });
    const opened = port.call({
      label: `WATCH ${request.path}`,
      tags: ['any-watch'],
      requestMs: network.oneWayMs(),
      answerMs: 0,
      effect: () => {
        const breakage = network.breakageOf(host);
        if (breakage === 'refused') {
          process.deliverAfter(0, () => {
            this.#end(new TransportError('unreachable', 'connection refused'));
          });
        } else if (breakage === 'cut' || breakage === 'mute') {
          process.deliverAfter(CONNECT_TIMEOUT_MS, () => {
            this.#end(new TransportError('unreachable', 'connect timed out'));
          });
        } else if (!this.#isOver && !process.isDead) {
          const refusal = network.watchRefusal();
          if (refusal === undefined) this.#open(inner, request);
          else process.deliverAfter(0, () => this.#end(watchRefusal(refusal, request.path)));
        }
      },
    });
    opened.then(
      () => undefined,
      (thrown: unknown) => {
        this.#end(new TransportError('unreachable', String(thrown)));
      },
    );
  }

  close(): void {
    if (this.#isOver) {
      return;
    }
    this.#stop();
    this.#port.process.deliverAfter(0, () => {
      this.#end(new TransportError('aborted', 'the watch was closed'));
    });
  }

  #open(inner: ApiTransport, request: WatchRequest): void {
    this.#closeInner = inner.watch(request, {
      onOpen: () => {
        this.#arrive(0, () => {
          this.#sink.onOpen();
        });
      },
      onEvent: (event) => {
        this.#onEvent(event);
      },
      onEnd: (error) => {
        this.#arrive(0, () => {
          this.#isOver = true;
          this.#end(error);
        });
      },
    });
  }

  #onEvent(event: WatchEvent): void {
    const fate = this.#network.watchFate();
    switch (fate.what) {
      case 'dropped':
        this.#break('connection reset by peer');
        return;
      case 'gone':
        this.#arrive(0, () => {
          this.#sink.onEvent({
            type: 'ERROR',
            object: refusal(410, 'Expired', 'The resourceVersion for the provided watch is too old.').body,
          });
        });
        this.#break(undefined);
        return;
      case 'arrives':
        for (let time = 0; time < fate.times; time++) {
          this.#arrive(
            fate.lateMs,
            () => {
              this.#sink.onEvent(event);
            },
            event.type === 'MODIFIED' ? uidOf(event.object) : undefined,
          );
        }
        if (fate.overtakes) {
          this.#overtake(event);
        }
    }
  }

  /**
   * The newest event arrives together with the one before it, and first. Only changes of two objects: that a watch tells of births and deaths in
   * order is what every client may rely on.
   */
  #overtake(event: WatchEvent): void {
    const [before, last] = this.#queue.slice(-2);
    const isChange = event.type === 'MODIFIED' && before?.changed !== undefined && last?.changed !== undefined && before.changed !== last.changed;
    if (!isChange) {
      return;
    }
    this.#queue.splice(
      -2,
      2,
      { deliver: () => undefined },
      {
        deliver: () => {
          last.deliver();
          before.deliver();
        },
      },
    );
  }

  /** `undefined`: ended by the server, in an orderly way. */
  #break(message: string | undefined): void {
    this.#isSevered = true;
    this.#closeInner?.();
    this.#closeInner = undefined;
    const { process } = this.#port;
    process.deliverAfter(Math.max(this.#lastArrivalMs - process.kernel.nowMs, 0) + this.#network.oneWayMs(), () => {
      this.#isOver = true;
      this.#end(message === undefined ? undefined : new TransportError('unreachable', message));
    });
  }

  /** Events of one connection never overtake each other, so each arrival delivers the oldest one. */
  #arrive(lateMs: number, deliver: () => void, changed?: string): void {
    const { process } = this.#port;
    if (this.#isOver || this.#isSevered) {
      return;
    }
    const breakage = this.#network.breakageOf(this.#host);
    this.#isDeaf ||= breakage === 'deaf';
    if (this.#isDeaf) {
      return;
    }
    if (breakage === 'refused') {
      this.#break('connection reset by peer');
      return;
    }
    if (breakage !== undefined) {
      this.#network.onceHealed(this.#host, () => {
        this.#break('connection timed out');
      });
      return;
    }
    this.#queue.push(changed === undefined ? { deliver } : { deliver, changed });
    const atMs = Math.max(this.#lastArrivalMs, process.kernel.nowMs + this.#network.oneWayMs() + lateMs);
    this.#lastArrivalMs = atMs;
    process.deliverAfter(atMs - process.kernel.nowMs, () => {
      const oldest = this.#queue.shift();
      if (!this.#isOver) {
        oldest?.deliver();
      }
    });
  }

  #stop(): void {
    this.#isOver = true;
    this.#queue.length = 0;
    this.#closeInner?.();
    this.#closeInner = undefined;
  }

  #end(error: Parameters<WatchSink['onEnd']>[0]): void {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#stop();
      this.#sink.onEnd(error);
    }
  }
}

function uidOf(object: unknown): string | undefined {
  return (object as { metadata?: { uid?: string } } | undefined)?.metadata?.uid;
}

function watchRefusal(how: 'plain-404' | 'retry-after', path: string): ApiStatusError {
  return how === 'plain-404'
    ? statusError(`WATCH ${path}`, NO_BACKEND)
    : statusError(`WATCH ${path}`, refusal(429, 'TooManyRequests', 'too many requests', DAY_SECONDS));
}

function callOf({ method, path }: ApiRequest): CallKind {
  if (method === 'GET') return 'read';
  if (/\/nodefences\/[^/]+\/status$/.test(path)) return 'fence-status';
  return /\/pods\//.test(path) ? 'pod-write' : 'write';
}

/** Tags of a call to the API server, for crash points: `api`, `api-read` or `api-write`, and `<plural>-write` of what it writes. */
function tagsOf(request: ApiRequest): readonly string[] {
  if (request.method === 'GET') {
    return ['api', 'api-read'];
  }
  const plural = /\/(nodefences|nodefencereports|nodes|pods|jobs|leases|volumeattachments|events)(\/|$)/.exec(request.path)?.[1];
  return plural === undefined ? ['api', 'api-write'] : ['api', 'api-write', `${plural}-write`];
}

/** What has left cannot be called back: the server acts although the caller gives up. */
function withoutSignal(request: ApiRequest): ApiRequest {
  const { method, path, body, deadlineMs, query, contentType, accept } = request;
  return {
    method,
    path,
    body,
    deadlineMs,
    ...(query === undefined ? {} : { query }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(accept === undefined ? {} : { accept }),
  };
}

function refusal(status: number, reason: string, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS): ApiResponse {
  const details = status === 429 ? { details: { retryAfterSeconds } } : {};
  return {
    status,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, message, code: status, ...details },
    headers: status === 429 ? { 'retry-after': String(retryAfterSeconds) } : {},
  };
}
