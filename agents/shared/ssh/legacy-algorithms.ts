import type { Algorithms } from 'ssh2';

/** What switches of before 2015 speak, beside all that is usual. */
export const LEGACY_ALGORITHMS: Algorithms = {
  kex: { append: ['diffie-hellman-group-exchange-sha1', 'diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1'], prepend: [], remove: [] },
  cipher: { append: ['aes256-cbc', 'aes192-cbc', 'aes128-cbc', '3des-cbc'], prepend: [], remove: [] },
  hmac: { append: ['hmac-sha1'], prepend: [], remove: [] },
};
