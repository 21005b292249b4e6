/**
 * The wire to a Kubernetes API server, one level above HTTP. Two implementations: HTTPS (src/kube/https-transport.ts) and the
 * embedded server in the same process with injected faults (test/simulation). Everything in src/kube runs on either.
 */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path without query, e.g. `/api/v1/nodes/a`. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text as it stands, and `contentType` says what it is. */
  body?: unknown;
  /** Defaults to `application/json`. */
  contentType?: string;
  accept?: string;
  /** The call is given up after this long and rejects with `TransportError` kind `timeout`. */
  deadlineMs: number;
  signal?: AbortSignal;
  /**
   * Each has connections of its own: `lease` for the leader's Lease and nothing else, `urgent` for the other question that the right to act hangs on (stops), `slow`
   * for what may hang behind admission webhooks and must not hold up the rest, `patient` for what waits for them to the end. Absent: everything else.
   */
  lane?: 'lease' | 'urgent' | 'slow' | 'patient' | undefined;
  /**
   * Called in the synchronous turn in which the request's first byte is written: after the credential was read, a socket was free, and TCP and TLS stand.
   * When it throws, nothing is sent and the request rejects with what it threw. Called anew for each repetition (a 401 is asked once more).
   */
  beforeSend?: (() => void) | undefined;
}

export interface ApiResponse {
  status: number;
  /** Plain JSON, whatever it was encoded in; a `Status` object when the request failed. */
  body: unknown;
  /** Lower-case header names. */
  headers: Readonly<Record<string, string>>;
}

export interface WatchRequest {
  path: string;
  /** Without `watch=true`, which the transport adds. */
  query: Readonly<Record<string, string>>;
  /** Defaults to `application/json`. */
  accept?: string;
  /**
   * Asked after each turn that brought something: so long the stream may rest, so that one turn reads what comes meanwhile. Where an event costs little, waking
   * up for it is nearly all of it. Absent: it never rests.
   */
  restMs?: () => number;
}

/** One event of a watch, as plain JSON, whatever it was encoded in; `ERROR` carries a `Status` object. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: unknown;
}

export interface WatchSink {
  /** The server accepted the watch (HTTP 200). */
  onOpen(): void;
  /** In the order received; never called after `onEnd`. */
  onEvent(event: WatchEvent): void;
  /** Exactly once. `undefined`: the server closed the stream in the ordinary way. A refused watch carries its HTTP status. */
  onEnd(error: TransportError | ApiStatusError | undefined): void;
}

export interface ApiTransport {
  /** Resolves for every HTTP response, also 4xx and 5xx; rejects with `TransportError` when there is none, or with what `beforeSend` threw. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** Opens a watch. The returned function closes it; `onEnd` follows with kind `aborted`. */
  watch(request: WatchRequest, sink: WatchSink): () => void;
}

/** No response: whether the server acted on the request is not known. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly kind: 'unreachable' | 'timeout' | 'aborted' | 'garbled';
  constructor(kind: TransportError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The server answered with a failure: `status` is the HTTP status, `reason` the Kubernetes `Status.reason` (metav1.StatusReason). */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly status: number;
  readonly reason: string;
  /** From `Retry-After` or `details.retryAfterSeconds`. */
  readonly retryAfterMs: number | undefined;
  constructor(status: number, reason: string, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Nobody knows whether the server acted on the request: it did not answer, or failed while it did. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiStatusError && error.status >= 500);
}
