import { InvalidArgumentError } from 'commander';

/** A Node's name as Kubernetes admits it. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/u;

export function nodeArgument(text: string): string {
  const name = text.replace(/^nodes?\//u, '');
  if (!NAME.test(name)) throw new InvalidArgumentError('is not the name of a Node: lower-case letters, digits, - and .');
  return name;
}
