/** In the words of container images and of Debian. */
export type Architecture = 'amd64' | 'arm64';
export const OWN: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

export function architectureOf(text: string): Architecture {
  if (text !== 'amd64' && text !== 'arm64') throw new Error(`--arch is amd64 or arm64, not ${text}`);
  return text;
}
