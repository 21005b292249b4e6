/** In the words of container images and of Debian. */
export type Architecture = 'amd64' | 'arm64';
export const OWN: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
