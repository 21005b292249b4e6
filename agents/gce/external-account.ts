import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { member, textAt } from '../shared/web/web-client.ts';
import { isSafe } from './endpoints.ts';
import { hostFile, jsonOf } from '../shared/cloud/host-file.ts';
import { postForm, refuseUnless200, SCOPE, tokenOf, type Grant, type TokenReach } from './oauth.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const STS = 'https://sts.googleapis.com/v1/token';

type SubjectToken = (call: Call) => Promise<string>;

/** Workload identity federation: a token of another identity provider for one of Google's (AIP-4117, RFC 8693). From a file or from a URL. */
export function externalGrant(reach: TokenReach, host: HostEnvironment, info: unknown, wrong: (why: string) => Error): Grant {
  const [audience, tokenType] = [textAt(info, 'audience'), textAt(info, 'subject_token_type')];
  if (audience === undefined || tokenType === undefined) throw wrong('it has no audience or no subject_token_type');
  const url = textAt(info, 'token_url') ?? STS;
  const subjectToken = subjectTokenOf(reach, host, info, wrong);
  const basic = basicOf(info);
  return async (call) => {
    const subject = await subjectToken(call);
    const secrets = [subject, basic];
    const fields = {
      grant_type: TOKEN_EXCHANGE,
      audience,
      scope: SCOPE,
      requested_token_type: ACCESS_TOKEN,
      subject_token: subject,
      subject_token_type: tokenType,
    };
    const headers = basic === undefined ? {} : { Authorization: `Basic ${basic}` };
    const answer = await postForm(reach, call, { url, fields, headers, secrets });
    return tokenOf(reach, call, answer, `token service ${url}`, secrets);
  };
}

/** Of a client of its own, which workforce pools may have. */
function basicOf(info: unknown): string | undefined {
  const [id, secret] = [textAt(info, 'client_id'), textAt(info, 'client_secret')];
  return id === undefined ? undefined : Buffer.from(`${id}:${secret ?? ''}`).toString('base64');
}

function subjectTokenOf(reach: TokenReach, host: HostEnvironment, info: unknown, wrong: (why: string) => Error): SubjectToken {
  const source = member(info, 'credential_source');
  const field = textAt(source, 'format', 'type') === 'json' ? textAt(source, 'format', 'subject_token_field_name') : undefined;
  const taken = (call: Call, text: string, from: string): string => {
    const token = field === undefined ? text.trim() : textAt(jsonOf(text), field);
    if (token === undefined || token === '')
      throw call.error('Misconfigured', `${from} holds no token${field === undefined ? '' : ` under ${field}`}`);
    return token;
  };
  const [file, url] = [textAt(source, 'file'), textAt(source, 'url')];
  if (file !== undefined)
    return async (call) => {
      const text = await hostFile(host, call, file);
      if (text === undefined) throw call.error('Misconfigured', `there is no file ${file}, from which the token of the workload is read`);
      return taken(call, text, `file ${file}`);
    };
  // Of programs, of AWS and of certificates nothing is known here.
  if (url === undefined) throw wrong('its credential_source must have a file or a url; programs, AWS and certificates are not supported');
  if (!isSafe(url)) throw wrong('its credential_source.url must be https, or of this instance');
  const headers = Object.fromEntries(Object.entries(member(source, 'headers') ?? {}).map(([name, value]) => [name, String(value)]));
  return async (call) => {
    const answer = await reach.web.exchange(call, { method: 'GET', url, headers });
    refuseUnless200(reach.clock, call, answer, `identity provider ${url}`, Object.values(headers));
    return taken(call, answer.text, url);
  };
}
