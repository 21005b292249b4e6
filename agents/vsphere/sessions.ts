import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { KeptClient, KeptSession } from '../shared/cloud/kept-session.ts';
import { repeated } from '../shared/cloud/repeat.ts';
import type { Token } from '../shared/cloud/tokens.ts';
import type { XmlElement } from '../shared/xml.ts';
import { agentError } from './faults.ts';
import { Logins, type Login } from './logins.ts';
import { apiUrl, type VsphereSettings } from './parameters.ts';
import { invoke, type SoapAnswer, type SoapEndpoint } from './soap.ts';
import { childOf, objectOf, textOf, textXml, type ManagedObject } from './vim-xml.ts';

/** So many requests at once to one vCenter. */
const SOCKETS_MAX = 4;
/** A login is heard out for so long after its call ended: a session that nobody knows of could not be ended. */
const LOGIN_GRACE_MS = 5_000;
/** Nobody who closes waits longer for logins that are under way. */
const CLOSE_WAIT_MS = 5_000;
const SERVICE: ManagedObject = { type: 'ServiceInstance', id: 'ServiceInstance' };

/** What the server itself calls its managers. */
export interface ServiceContent {
  sessionManager: ManagedObject;
  propertyCollector: ManagedObject;
  searchIndex: ManagedObject;
  viewManager: ManagedObject | undefined;
  authorizationManager: ManagedObject | undefined;
  rootFolder: ManagedObject;
}

/** We are logged in; `text` is the cookie. */
export interface Session extends Token {
  endpoint: SoapEndpoint;
  content: ServiceContent;
  /** `UserSession.key`, by which privileges are asked for. */
  key: string;
  username: string;
  /** An ESXi host, asked directly. */
  isHost: boolean;
}

/** One session of one account: servers have few of them (an ESXi host 100). */
export function keptSession(settings: VsphereSettings, reach: Reach): KeptSession<Session> {
  const clients = new KeptClient(reach, SOCKETS_MAX);
  const logins = new Logging(settings, reach, clients);
  return new KeptSession(
    {
      device: 'vsphere',
      clients,
      loginGraceMs: LOGIN_GRACE_MS,
      closeWaitMs: CLOSE_WAIT_MS,
      open: (call) => logins.open(call),
      logOut: (call, { endpoint, content }) => repeated(call, () => invoke(call, endpoint, { method: 'Logout', on: content.sessionManager })),
      explained: (call, error) => agentError(call, error, 'Unreachable'),
    },
    reach.clock,
  );
}

/** How a session is opened. */
class Logging {
  readonly #logins: Logins;
  readonly #clock: Clock;
  readonly #clients: KeptClient;

  constructor(settings: VsphereSettings, { clock, host }: Reach, clients: KeptClient) {
    this.#logins = new Logins(settings, host);
    this.#clock = clock;
    this.#clients = clients;
  }

  async open(call: Call<CallTarget>): Promise<Session> {
    const login = await this.#logins.find(call);
    const { username, password, place } = login;
    const start: SoapEndpoint = {
      web: this.#clients.for(place, login.trust),
      clock: this.#clock,
      url: apiUrl(place),
      action: 'urn:vim25',
      cookie: undefined,
      secrets: [password],
    };
    const found = await this.#first(call, start, login);
    const about = childOf(found.response, 'returnval', 'about');
    const content = contentOf(call, childOf(found.response, 'returnval'));
    const endpoint = { ...start, action: `urn:vim25/${versionOf(textOf(about, 'apiVersion'))}`, cookie: found.cookie };
    const body = textXml('userName', username) + textXml('password', password);
    const answer = await invoke(call, endpoint, { method: 'Login', on: content.sessionManager, body });
    const cookie = answer.cookie ?? found.cookie;
    const key = textOf(answer.response, 'returnval', 'key');
    if (cookie === undefined || key === undefined) throw call.error('Unreachable', 'the login was answered without a session');
    return {
      text: cookie,
      expiresAtMs: Infinity,
      endpoint: { ...endpoint, cookie, secrets: [password, cookie, key] },
      content,
      key,
      username,
      isHost: textOf(about, 'apiType') === 'HostAgent',
    };
  }

  /** The first request shows whether the server is trusted. */
  async #first(call: Call<CallTarget>, endpoint: SoapEndpoint, { hint }: Login): Promise<SoapAnswer> {
    try {
      return await repeated(call, () => invoke(call, endpoint, { method: 'RetrieveServiceContent', on: SERVICE }));
    } catch (error) {
      if (hint === '' || !(error instanceof Error) || !error.message.includes('not trusted: ')) throw error;
      throw call.error('Misconfigured', `${error.message.slice(error.message.indexOf('not trusted: '))} (${hint})`);
    }
  }
}

function contentOf(call: Call<CallTarget>, content: XmlElement | undefined): ServiceContent {
  const named = (name: string): ManagedObject => {
    const found = objectOf(childOf(content, name));
    if (found === undefined) throw call.error('Unreachable', `the service names no ${name}`);
    return found;
  };
  return {
    sessionManager: named('sessionManager'),
    propertyCollector: named('propertyCollector'),
    searchIndex: named('searchIndex'),
    rootFolder: named('rootFolder'),
    viewManager: objectOf(childOf(content, 'viewManager')),
    authorizationManager: objectOf(childOf(content, 'authorizationManager')),
  };
}

/** It goes into a header. */
function versionOf(text: string | undefined): string {
  return text !== undefined && /^\d+(\.\d+){0,3}$/.test(text) ? text : '6.0';
}
