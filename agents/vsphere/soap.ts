import type { AgentErrorKind } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { WebAnswer, WebClient } from '../shared/web/web-client.ts';
import { parseXml, type XmlElement } from '../shared/xml.ts';
import { childOf, objectXml, textOf, typeOf, type ManagedObject } from './vim-xml.ts';

/** Where requests go, and as whom. */
export interface SoapEndpoint {
  web: WebClient;
  clock: Clock;
  url: string;
  /** `urn:vim25/<version>`: the version of the API that the server itself names. */
  action: string;
  cookie: string | undefined;
  /** Struck out of every message. */
  secrets: readonly string[];
}

export interface SoapRequest {
  method: string;
  on: ManagedObject;
  /** Arguments, as XML. */
  body?: string;
  /** The lease check, of a request that changes a machine. */
  gate?: () => void;
}

/** What a server said to a method, and the cookie that it gave. */
export interface SoapAnswer {
  response: XmlElement;
  cookie: string | undefined;
}

/** The server took the request up and says no: nothing was done. */
export class SoapFault extends Error {
  override readonly name = 'SoapFault';
  /** `NoPermission`, `ManagedObjectNotFound`; `Fault` where it has no name. */
  readonly fault: string;
  readonly detail: XmlElement | undefined;

  /** `message`: in the server's words. */
  constructor(fault: string, message: string, detail: XmlElement | undefined) {
    super(message);
    this.fault = fault;
    this.detail = detail;
  }
}

/** An answer that is none of the API: what became of the request is not known. */
export class NoSoap extends Error {
  override readonly name = 'NoSoap';
  readonly kind: AgentErrorKind;

  constructor(kind: AgentErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const NAMESPACES = 'xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** One method of the vSphere Web Services API (VMware's "vSphere Web Services SDK Programming Guide": SOAP 1.1 over HTTP at /sdk). */
export async function invoke(call: Call<CallTarget>, endpoint: SoapEndpoint, { method, on, body = '', gate }: SoapRequest): Promise<SoapAnswer> {
  const { web, url, action, cookie, secrets, clock } = endpoint;
  const inner = `<${method} xmlns="urn:vim25">${objectXml('_this', on)}${body}</${method}>`;
  const answer = await web.exchange(call, {
    method: 'POST',
    url,
    body: `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope ${NAMESPACES}><soapenv:Body>${inner}</soapenv:Body></soapenv:Envelope>`,
    headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${action}"`, ...(cookie === undefined ? {} : { Cookie: cookie }) },
    gate,
    secrets,
  });
  const said = childOf(envelope(answer.text), 'Body');
  const fault = childOf(said, 'Fault');
  if (fault !== undefined) throw faultOf(fault, secrets);
  const response = childOf(said, `${method}Response`);
  if (answer.status === 200 && response !== undefined) return { response, cookie: sessionCookie(answer) };
  const words = `HTTP ${answer.status}`;
  // In front of the service itself: of a request that changes nothing it may be asked again.
  if (answer.status === 429 || (answer.status === 503 && gate === undefined)) throw new Throttled(`${words}: too busy`, waitOf(answer, clock));
  throw noSoap(answer);
}

function envelope(text: string): XmlElement | undefined {
  const root = parseXml(text.trim());
  return root?.name.endsWith('Envelope') === true ? root : undefined;
}

function noSoap({ status, headers }: WebAnswer): NoSoap {
  if (status >= 300 && status < 400)
    return new NoSoap(
      'Misconfigured',
      `HTTP ${status}: it sends us elsewhere (${deviceMessage(headers['location'] ?? '', [])}), where no password goes`,
    );
  if (status === 404) return new NoSoap('Misconfigured', 'HTTP 404: there is no vSphere API (/sdk) at this address');
  return new NoSoap('Unreachable', `HTTP ${status}: no answer of the vSphere API`);
}

function faultOf(fault: XmlElement, secrets: readonly string[]): SoapFault {
  const detail = childOf(fault, 'detail')?.children[0];
  const name = typeOf(detail) ?? detail?.name.replace(/^.*:/, '').replace(/Fault$/, '') ?? 'Fault';
  const said = textOf(fault, 'faultstring') ?? '';
  return new SoapFault(name, deviceMessage(said === '' ? name : `${name}: ${said}`, secrets), detail);
}

/** `vmware_soap_session="…"`, as it goes back. */
function sessionCookie({ headers }: WebAnswer): string | undefined {
  return /\bvmware_soap_session=(?:"[^"]*"|[^;,\s]+)/.exec(headers['set-cookie'] ?? '')?.[0];
}
