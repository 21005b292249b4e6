import type { Clock } from '../../../ports/clock.ts';
import type { Random } from '../../../ports/random.ts';
import type { DeviceEvent } from '../../../laws/trace.ts';
import { Accounts } from './accounts.ts';
import type { BmcFailure, BmcFaults } from './faults.ts';
import type { PowerBackend } from './power-backend.ts';
import { SESSIONS_PATH, type ResourceTree } from './tree.ts';

export interface DeviceRequest {
  method: string;
  /** Without query. */
  path: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Parsed JSON, undefined when there was none. */
  body: unknown;
  /** Names the connection the request came over. */
  connection: string;
}

export interface DeviceResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** A `Uint8Array` is sent as it is. */
  body: unknown;
  /** How late it comes. */
  delayMs?: number;
}

/** A command that reached the device, whatever it answered. */
export interface DeviceCommand {
  /** Id of the outlet; empty for the machine. */
  plug: string;
  wanted: 'on' | 'off' | 'other';
}

export interface RedfishDeviceOptions {
  clock: Clock;
  random: Random;
  /** The machine that it really switches. */
  node: string;
  users: Readonly<Record<string, string>>;
  tree: ResourceTree;
  backend: PowerBackend;
  /** What the outlets of its tree switch, by their paths. */
  outlets?: Readonly<Record<string, PowerBackend>>;
  /** Further answers to whoever may come in: `POST /redfish/v1/...`. */
  answers?: Readonly<Record<string, DeviceResponse>>;
  faults?: BmcFaults;
  trace?: (event: DeviceEvent) => void;
}

const TASK_PATH = '/redfish/v1/TaskService/TaskMonitors/1';
/** What a BMC has been up for when it is first asked. */
const UP_MS = 86_400_000;
const RESTART_AFTER_MS = 30;
const ROOTS = new Set(['/redfish', '/redfish/v1', '/redfish/v1/odata']);
const OFF_TYPES = new Set(['ForceOff', 'GracefulShutdown']);
const ON_TYPES = new Set(['On', 'ForceOn', 'PushPowerButton']);

/** A BMC that speaks Redfish, as one function from request to response; time and randomness come from outside. */
export class RedfishDevice {
  readonly accounts: Accounts;
  faults: BmcFaults;
  /** As the trace names it: the address, as the agent's device key gives it; known once a server listens. */
  name = '';
  /** Requests that were answered, for tests: `POST /redfish/v1/...`. */
  readonly requests: string[] = [];
  /** Oldest first. */
  readonly commands: DeviceCommand[] = [];
  readonly #options: RedfishDeviceOptions;
  readonly #failed = new Map<BmcFailure, number>();
  readonly #askedAtMs: number[] = [];
  /** Called when the BMC restarts: whoever serves it cuts its connections. */
  onRestart: () => void = () => undefined;
  #generation = 0;
  #startedAtMs: number;
  #isRestarted = false;

  constructor(options: RedfishDeviceOptions) {
    this.#options = options;
    this.faults = options.faults ?? {};
    this.accounts = new Accounts(options.clock, options.random, options.users);
    this.#startedAtMs = options.clock.monotonicMs() - (this.faults.upMs ?? UP_MS);
  }

  get tree(): ResourceTree {
    return this.#options.tree;
  }

  /** `undefined`: the BMC says nothing. */
  handle(request: DeviceRequest): DeviceResponse | undefined {
    if (this.faults.isMute === true || this.faults.isSilent === true) return undefined;
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
    this.requests.push(`${request.method} ${path}`);
    if (this.#isAskedTooMuch())
      return { ...refusal(429, 'Base.1.8.ServiceTemporarilyUnavailable', 'Too many requests.'), headers: { 'Retry-After': '1' } };
    const failure = this.#failure(request.method, path);
    if (failure !== undefined && failure.withEffect !== true) return this.#fail(request, path, failure);
    const response = this.#route(request, path);
    return failure === undefined ? response : refusal(failure.status, 'Base.1.8.GeneralError', failure.message ?? 'A general error has occurred.');
  }

  #route(request: DeviceRequest, path: string): DeviceResponse {
    const { method } = request;
    if (method === 'GET' && ROOTS.has(path)) return this.#resource('/redfish/v1');
    if (method === 'POST' && path === sessionsPathOf(this.#options.tree)) return this.#logIn(request);
    const session = this.accounts.admit(request.headers, request.connection, this.faults.sessionTimeoutMs);
    if (session === undefined) {
      this.#record({ action: 'login', answer: '401', session: `connection ${request.connection}` });
      return refusal(401, 'Base.1.8.NoValidSession', 'There is no valid session established with the implementation.');
    }
    if (method === 'DELETE' && path.startsWith(`${SESSIONS_PATH}/`)) {
      const isEnded = this.accounts.end(path.slice(SESSIONS_PATH.length + 1));
      return isEnded ? { status: 204, headers: {}, body: undefined } : missing(path);
    }
    if (method === 'GET' && path === TASK_PATH) return this.#task();
    if (method === 'GET' && this.#options.tree[path] !== undefined) return this.#read(path, session);
    const command = method === 'POST' ? this.#command(request, path, session) : undefined;
    if (command !== undefined) return { ...command, delayMs: this.faults.commandDelayMs ?? 0 };
    const other = this.#options.answers?.[`${method} ${path}`];
    if (other !== undefined) return other;
    return this.#options.tree[path] === undefined ? missing(path) : refusal(405, 'Base.1.8.OperationNotAllowed', 'The method is not allowed.');
  }

  #isAskedTooMuch(): boolean {
    const { requestsPerSecond } = this.faults;
    if (requestsPerSecond === undefined) return false;
    const nowMs = this.#options.clock.monotonicMs();
    while ((this.#askedAtMs[0] ?? nowMs) < nowMs - 1_000) this.#askedAtMs.shift();
    if (this.#askedAtMs.length >= requestsPerSecond) return true;
    this.#askedAtMs.push(nowMs);
    return false;
  }

  /** Undefined for a path that is no command's. */
  #command(request: DeviceRequest, path: string, session: string): DeviceResponse | undefined {
    for (const [resourcePath, resource] of Object.entries(this.#options.tree)) {
      if (resetOf(resource)?.['target'] === path) return this.#reset(request, resourcePath, session);
      const outlet = this.#options.outlets?.[resourcePath];
      if (outlet !== undefined && actionOf(resource, '#Outlet.PowerControl')?.['target'] === path) return this.#switch(request, resourcePath, outlet);
    }
    return undefined;
  }

  #switch(request: DeviceRequest, path: string, outlet: PowerBackend): DeviceResponse {
    const word = isObject(request.body) ? request.body['PowerState'] : undefined;
    const wanted = word === 'On' ? 'on' : word === 'Off' ? 'off' : 'other';
    const plug = path.slice(path.lastIndexOf('/') + 1);
    this.commands.push({ plug, wanted });
    if (this.#options.tree[path]?.['PowerControlLocked'] === true) return refusal(409, 'Base.1.8.OperationNotAllowed', 'The outlet is locked.');
    if (wanted === 'other') return refusal(400, 'Base.1.8.ActionParameterNotSupported', `The PowerState ${String(word)} is not supported.`);
    if (this.faults.ignoresReset !== true && this.faults.stuckOutlets?.includes(plug) !== true) this.#turn(wanted, outlet);
    return { status: 204, headers: {}, body: undefined };
  }

  #logIn(request: DeviceRequest): DeviceResponse {
    const body = isObject(request.body) ? request.body : {};
    if (!this.accounts.knows(body['UserName'], body['Password'])) {
      this.#record({ action: 'login', answer: '401', session: `connection ${request.connection}` });
      return refusal(
        401,
        'Base.1.8.ResourceAtUriUnauthorized',
        'While accessing the resource, the service received an authorization error: invalid user name or password.',
      );
    }
    const { token, id, path } = this.accounts.open();
    this.#record({ action: 'login', answer: '201', session: `session ${id}` });
    const isHidden = this.faults.hidesSessionLocation === true;
    return {
      status: 201,
      headers: { 'X-Auth-Token': token, ...(isHidden ? {} : { Location: path }) },
      body: isHidden ? { Name: 'User Session' } : { '@odata.id': path, Id: id, Name: 'User Session', UserName: body['UserName'] },
    };
  }

  #read(path: string, session: string): DeviceResponse {
    const resource = this.#options.tree[path];
    if (resource === undefined) return missing(path);
    const response = this.#resource(path);
    if (resetOf(resource) === undefined) return response;
    const uuid = resource['UUID'];
    if (typeof uuid === 'string') this.#record({ action: 'identity', answer: `200 ${uuid}`, session });
    const shown = isObject(response.body) ? response.body['PowerState'] : undefined;
    this.#record({
      action: 'read',
      answer: `200 ${typeof shown === 'string' ? shown : shown === undefined ? 'absent' : JSON.stringify(shown)}`,
      shown: shownState(shown),
      session,
    });
    return response;
  }

  #resource(path: string): DeviceResponse {
    const resource = this.#options.tree[path];
    if (resource === undefined) return missing(path);
    if (path.includes('/Managers/') && 'LastResetTime' in resource) return { status: 200, headers: {}, body: { ...resource, ...this.#times() } };
    if (!('PowerState' in resource)) return { status: 200, headers: {}, body: resource };
    const outlet = this.#options.outlets?.[path];
    if (outlet !== undefined) return this.#outlet(resource, outlet);
    const isSystem = resetOf(resource) !== undefined;
    const shows = isSystem ? this.faults.shows : this.faults.chassisShows;
    const truth = this.#options.backend.state() === 'on' && !this.#isStarting() ? 'On' : 'Off';
    const isOwn = isSystem || path.includes('/Chassis/');
    const { PowerState: stored, ...rest } = resource;
    const body = shows === 'absent' ? rest : { ...rest, PowerState: shows === undefined ? (isOwn ? truth : stored) : shows };
    return { status: 200, headers: { ETag: this.#etag() }, body: { ...body, '@odata.etag': this.#etag() } };
  }

  #outlet(resource: Readonly<Record<string, unknown>>, outlet: PowerBackend): DeviceResponse {
    const isOn = outlet.state() === 'on' && !this.#isStarting();
    const amps = isOn ? 1.68 : (this.faults.leakAmps ?? 0);
    const { shows } = this.faults;
    const meter = 'CurrentAmps' in resource ? { CurrentAmps: { Reading: amps } } : {};
    const power = shows === 'absent' ? {} : { PowerState: shows === undefined ? (isOn ? 'On' : 'Off') : shows };
    const { PowerState: _stored, ...rest } = resource;
    return { status: 200, headers: {}, body: { ...rest, ...meter, ...power } };
  }

  #reset(request: DeviceRequest, systemPath: string, session: string): DeviceResponse {
    const type = isObject(request.body) ? request.body['ResetType'] : undefined;
    const want = typeof type === 'string' && OFF_TYPES.has(type) ? 'off' : 'on';
    this.#note(type);
    if (type === 'Nmi' && this.#offered(systemPath)?.includes(type) !== false) return { status: 204, headers: {}, body: undefined };
    const response = this.#judge(request, systemPath, type);
    this.#record({ action: 'set', want, answer: String(response.status), session });
    if (response.status < 300 && this.faults.ignoresReset !== true) this.#turn(want);
    return response;
  }

  #judge(request: DeviceRequest, systemPath: string, type: unknown): DeviceResponse {
    const { faults } = this;
    const offered = this.#offered(systemPath);
    const isKnown = typeof type === 'string' && (OFF_TYPES.has(type) || ON_TYPES.has(type)) && (offered?.includes(type) ?? true);
    if (!isKnown)
      return refusal(400, 'Base.1.8.ActionParameterNotSupported', `The parameter ResetType with the value ${String(type)} is not supported.`);
    if (faults.wantsEtag === true && request.headers['if-match'] !== this.#etag())
      return refusal(412, 'Base.1.8.PreconditionFailed', 'The ETag does not match.');
    const want = OFF_TYPES.has(type) ? 'off' : 'on';
    if (faults.refusesWhenInState === true && this.#options.backend.state() === want) {
      return refusal(400, 'iLO.2.25.InvalidOperationForSystemState', 'The operation was not successful due to the current power state.');
    }
    const status = faults.resetStatus ?? 204;
    if (status === 202)
      return {
        status,
        headers: { Location: TASK_PATH, 'Retry-After': '1' },
        body: { '@odata.id': '/redfish/v1/TaskService/Tasks/1', TaskState: 'Running' },
      };
    return {
      status,
      headers: {},
      body: status === 200 ? { error: { code: 'Base.1.8.Success', message: 'Successfully completed request.' } } : undefined,
    };
  }

  #offered(systemPath: string): readonly unknown[] | undefined {
    const action = resetOf(this.#options.tree[systemPath] ?? {});
    const inline = action?.['ResetType@Redfish.AllowableValues'];
    if (Array.isArray(inline)) return inline as unknown[];
    const info = action?.['@Redfish.ActionInfo'];
    const parameters = typeof info === 'string' ? this.#options.tree[info]?.['Parameters'] : undefined;
    const first: unknown = Array.isArray(parameters) ? parameters[0] : undefined;
    const values = isObject(first) ? first['AllowableValues'] : undefined;
    return Array.isArray(values) ? (values as unknown[]) : undefined;
  }

  #note(type: unknown): void {
    const word = String(type);
    this.commands.push({ plug: '', wanted: word === 'ForceOff' ? 'off' : word === 'On' || word === 'ForceOn' ? 'on' : 'other' });
  }

  #turn(want: 'on' | 'off', backend: PowerBackend = this.#options.backend): void {
    const { clock } = this.#options;
    const { restoresAfterMs } = this.faults;
    if (this.#isStarting()) return;
    if (want === 'off' && this.faults.restartsOnOff !== undefined && !this.#isRestarted) {
      clock.after(RESTART_AFTER_MS, () => this.#restart());
      return;
    }
    const delayMs = (want === 'off' ? this.faults.offDelayMs : this.faults.onDelayMs) ?? 0;
    const act = (): void => {
      this.#generation += 1;
      backend[want]('set');
      if (want === 'off' && restoresAfterMs !== undefined) clock.after(restoresAfterMs, () => backend.on('restore'));
    };
    if (delayMs === 0) act();
    else clock.after(delayMs, act);
  }

  #restart(): void {
    this.#isRestarted = true;
    this.#startedAtMs = this.#options.clock.monotonicMs();
    this.accounts.endAll();
    this.onRestart();
  }

  #isStarting(): boolean {
    const { restartsOnOff = 0 } = this.faults;
    return this.#isRestarted && this.#options.clock.monotonicMs() < this.#startedAtMs + restartsOnOff;
  }

  #times(): { DateTime: string; LastResetTime: string } {
    const { clock } = this.#options;
    const resetMs = clock.wallMs() - (clock.monotonicMs() - this.#startedAtMs);
    return { DateTime: new Date(clock.wallMs()).toISOString(), LastResetTime: new Date(resetMs).toISOString() };
  }

  #task(): DeviceResponse {
    const state = this.faults.taskState ?? 'Completed';
    const messages = state === 'Exception' ? [{ MessageId: 'Base.1.8.InternalError', Message: 'The power supply refused.' }] : [];
    return {
      status: state === 'Running' ? 202 : 200,
      headers: {},
      body: { '@odata.id': '/redfish/v1/TaskService/Tasks/1', TaskState: state, Messages: messages },
    };
  }

  #etag(): string {
    return `W/"${this.#generation}"`;
  }

  #failure(method: string, path: string): BmcFailure | undefined {
    const failure = this.faults.failures?.find(
      (each) => (each.method ?? method) === method && path.startsWith(each.path) && (this.#failed.get(each) ?? 0) < (each.times ?? Infinity),
    );
    if (failure !== undefined) this.#failed.set(failure, (this.#failed.get(failure) ?? 0) + 1);
    return failure;
  }

  #fail(request: DeviceRequest, path: string, failure: BmcFailure): DeviceResponse {
    const isReset = Object.values(this.#options.tree).some((resource) => resetOf(resource)?.['target'] === path);
    if (isReset && request.method === 'POST') {
      const type = isObject(request.body) ? request.body['ResetType'] : undefined;
      const session = this.accounts.admit(request.headers, request.connection, undefined) ?? `connection ${request.connection}`;
      this.#note(type);
      this.#record({ action: 'set', want: OFF_TYPES.has(String(type)) ? 'off' : 'on', answer: String(failure.status), session });
    }
    return refusal(failure.status, 'Base.1.8.GeneralError', failure.message ?? 'A general error has occurred.');
  }

  #record(event: Pick<DeviceEvent, 'action' | 'want' | 'answer' | 'shown' | 'session'>): void {
    const { trace, clock, node } = this.#options;
    trace?.({ at: clock.wallMs(), kind: 'device', device: this.name, plug: '', node, ...event });
  }
}

/** Without the slash that it may be shown with; undefined where there are none. */
function sessionsPathOf(tree: ResourceTree): string | undefined {
  const links = tree['/redfish/v1']?.['Links'];
  const sessions = isObject(links) ? links['Sessions'] : undefined;
  const path = isObject(sessions) ? sessions['@odata.id'] : undefined;
  return typeof path === 'string' ? path.replace(/\/$/, '') : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function resetOf(resource: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  return actionOf(resource, '#ComputerSystem.Reset');
}

function actionOf(resource: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> | undefined {
  const actions = resource['Actions'];
  const action = isObject(actions) ? actions[name] : undefined;
  return isObject(action) ? action : undefined;
}

function shownState(token: unknown): NonNullable<DeviceEvent['shown']> {
  if (token === 'On') return 'on';
  if (token === 'Off') return 'off';
  return token === 'PoweringOn' || token === 'PoweringOff' ? 'pending' : 'unknown';
}

function refusal(status: number, id: string, message: string): DeviceResponse {
  const error = {
    code: 'Base.1.8.GeneralError',
    message: 'See ExtendedInfo.',
    '@Message.ExtendedInfo': [{ MessageId: id, Message: message, Severity: 'Warning' }],
  };
  return { status, headers: {}, body: { error } };
}

function missing(path: string): DeviceResponse {
  return refusal(404, 'Base.1.8.ResourceMissingAtURI', `The resource at the URI ${path} was not found.`);
}
