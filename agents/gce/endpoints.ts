/** Hosts that only this computer, or only this instance, reaches. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|169\.254\.169\.254|metadata\.google\.internal)$/;

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Over TLS, or to nobody else's host: tokens may be sent there. */
export function isSafe(text: string): boolean {
  const url = urlOf(text);
  if (url === undefined || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL.test(url.hostname));
}

/** Google's own, over TLS: credentials of this process may be sent there, whoever wrote the address. */
export function isOfGoogle(text: string): boolean {
  const url = urlOf(text);
  return url?.protocol === 'https:' && /(?:^|\.)googleapis\.com$/.test(url.hostname);
}

/** With the version of the API in its path, and no slash at its end. */
export function computeBase(endpoint: string): string {
  const bare = endpoint.replace(/\/+$/, '');
  return bare.endsWith('/compute/v1') ? bare : `${bare}/compute/v1`;
}

export const COMPUTE = 'https://compute.googleapis.com';
