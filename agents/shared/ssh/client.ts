import { connect as openSocket, Socket } from 'node:net';

import ssh2 from 'ssh2';
import type { AnyAuthMethod, AuthenticationType, Client, NextAuthHandler } from 'ssh2';

import { AgentError } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { AddressRefused, checkedLookup, refusalOf, type AddressCheck } from '../address/address-check.ts';
import type { Call, CallTarget } from '../call.ts';
import { SshFailure } from './failure.ts';
import { hostKeyAlgorithms, judgeHostKey } from './host-trust.ts';
import type { TrustDecision } from './host-trust.ts';
import { LEGACY_ALGORITHMS } from './legacy-algorithms.ts';
import type { SshSettings } from './parameters.ts';
import { deviceMessage } from './words.ts';

const KEEP_ALIVE_MS = 10_000;
const GREETING_MAX = 2_000;

/** A logged-in connection, and the socket under it. */
export interface LoggedIn {
  client: Client;
  socket: Socket;
}

/** What the device told on the way to a login, for the words of a failure. */
interface Course {
  decision: TrustDecision | undefined;
  /** Lines before the protocol and banners: where switches say that no session is left. */
  said: string;
  refusal: string | undefined;
}

/**
 * Connects, checks the host key before any credential leaves, and logs in. Rejects with `SshFailure` or, once the call is over, with its
 * error; nothing is left open then.
 */
export async function logIn(settings: SshSettings, call: Call<CallTarget>, clock: Clock, check: AddressCheck): Promise<LoggedIn> {
  const client = new ssh2.Client();
  const socket = opened(settings, check);
  const course: Course = { decision: undefined, said: '', refusal: undefined };
  const secrets = [settings.password, settings.passphrase];
  const onPlain = (chunk: Buffer): void => {
    const text = chunk.toString('latin1');
    if (text.includes('SSH-')) socket.removeListener('data', onPlain);
    else course.said = (course.said + text).slice(0, GREETING_MAX);
  };
  let cancelTimer = (): void => undefined;
  try {
    const ready = new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(failureOf(error, course, secrets));
      cancelTimer = clock.after(settings.loginTimeoutMs, () => fail(new Error(`no login within ${settings.loginTimeoutMs} ms`)));
      client.on('error', fail);
      client.on('close', () => fail(new Error('the device closed the connection')));
      client.on('greeting', (text) => (course.said = (course.said + text).slice(0, GREETING_MAX)));
      client.on('banner', (text) => (course.said = (course.said + text).slice(0, GREETING_MAX)));
      client.once('ready', resolve);
    });
    connect(client, socket, settings, course);
    // ssh2 has paused the socket, so that this listener takes nothing away from it. A device that turns somebody away says so in plain text.
    socket.on('data', onPlain);
    await call.within(ready);
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    cancelTimer();
    socket.removeListener('data', onPlain);
  }
}

function opened({ host, port }: SshSettings, check: AddressCheck): Socket {
  const refusal = refusalOf(host, check);
  return refusal === undefined ? openSocket({ host, port, noDelay: true, lookup: checkedLookup(check) }) : new Socket().destroy(refusal);
}

function connect(client: Client, socket: Socket, settings: SshSettings, course: Course): void {
  const { host, port, trust, legacyAlgorithms } = settings;
  checkKey(settings);
  const known = hostKeyAlgorithms(trust, host, port);
  const algorithms = { ...(legacyAlgorithms ? LEGACY_ALGORITHMS : {}), ...(known === undefined ? {} : { serverHostKey: known }) };
  try {
    client.connect({
      sock: socket,
      username: settings.username,
      algorithms,
      // Deadlines are the call's and the caller's clock's.
      readyTimeout: 0,
      keepaliveInterval: KEEP_ALIVE_MS,
      keepaliveCountMax: 2,
      hostVerifier: (key: Buffer) => {
        course.decision = judgeHostKey(trust, host, port, key);
        return course.decision.trusted;
      },
      authHandler: authentication(settings, course),
    });
  } catch (error) {
    throw new SshFailure('misconfigured', error instanceof Error ? error.message : String(error));
  }
}

function checkKey({ privateKey, passphrase }: SshSettings): void {
  if (privateKey === undefined || !(ssh2.utils.parseKey(privateKey, passphrase) instanceof Error)) return;
  throw new SshFailure('misconfigured', 'the private key cannot be read: its passphrase is missing or wrong, or it is of an unknown kind');
}

/** Asks what the device accepts, then tries the key and the password once each: no wrong password is sent twice, accounts get locked. */
function authentication(settings: SshSettings, course: Course) {
  const { username, password, privateKey, passphrase } = settings;
  const left: AnyAuthMethod[] = [];
  if (privateKey !== undefined) left.push({ type: 'publickey', username, key: privateKey, ...(passphrase === undefined ? {} : { passphrase }) });
  if (password !== undefined) {
    left.push({ type: 'password', username, password });
    left.push({
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) => {
        const isPassword = prompts.length === 1 && prompts[0]?.echo !== true;
        if (!isPassword) course.refusal = `the device asks for more than a password: ${prompts.map(({ prompt }) => prompt).join(' ')}`;
        finish(isPassword ? [password] : prompts.map(() => ''));
      },
    });
  }
  let isFirst = true;
  let isPasswordTried = false;
  const tried: string[] = [];
  return (accepted: AuthenticationType[] | null, partial: boolean | null, next: NextAuthHandler): false | undefined => {
    if (isFirst) {
      isFirst = false;
      next({ type: 'none', username });
      return undefined;
    }
    for (let method = left.shift(); method !== undefined; method = left.shift()) {
      const isPassword = method.type === 'password' || method.type === 'keyboard-interactive';
      if ((isPassword && isPasswordTried && partial !== true) || accepted?.includes(method.type) === false) continue;
      isPasswordTried ||= isPassword;
      tried.push(method.type);
      next(method);
      return undefined;
    }
    course.refusal ??=
      tried.length === 0
        ? `the device accepts ${accepted?.join(', ') ?? 'nothing'} only, and no such credential is given`
        : `the device refuses ${tried.join(' and ')} of this account`;
    return false;
  };
}

function failureOf(error: Error, { decision, said, refusal }: Course, secrets: readonly (string | undefined)[]): Error {
  if (error instanceof AgentError) return error;
  if (error instanceof AddressRefused) return new SshFailure('misconfigured', error.message);
  if (decision?.trusted === false) return new SshFailure('untrusted', decision.why);
  const message = deviceMessage(`${refusal ?? error.message}${said === '' ? '' : ` (it says: ${said})`}`, secrets);
  const level = 'level' in error ? error.level : undefined;
  if (level === 'client-authentication' && refusal !== undefined) return new SshFailure('refused', `login: ${message}`);
  if (level === 'handshake' && /no matching (?:host|server)/i.test(error.message))
    return new SshFailure('untrusted', `the device has no host key of a kind that known_hosts lists (${message})`);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return new SshFailure('unreachable', `${message.startsWith(code) ? '' : code}${message}`);
}
