/** Names of the contract as names of commands and options. */

/** `postNow`, `edited_body` → `post-now`, `edited-body`. */
export const kebab = (name: string): string =>
  name
    .replaceAll(/[_\s]+/g, '-')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()

/** `webhookRules` → `webhook rules`. */
export const spacedName = (name: string): string => kebab(name).replaceAll('-', ' ')

/**
 * Options shared by all commands, or all of a kind. A field of the same name gets the prefix
 * `input-`.
 */
const reservedFlags: ReadonlySet<string> = new Set([
  'all',
  'api-key',
  'api-url',
  'as-me',
  'data',
  'force',
  'help',
  'idempotency-key',
  'json',
  'output',
  'profile',
  'timeout',
  'version',
  'wait',
])

/** Areas, and commands that are not operations, including the server's in the single binary. */
export const reservedGroups: ReadonlySet<string> = new Set([
  'admin',
  'agent',
  'completion',
  'health',
  'help',
  'login',
  'logout',
  'profiles',
  'serve',
  'whoami',
])

/**
 * The flag of an input field, without dashes: `writing_dna.voice_rules` →
 * `writing-dna.voice-rules`. Avoids `--no-…`, which means null.
 */
export const flagOf = (path: readonly string[]): string => {
  const flag = path.map(kebab).join('.')
  return reservedFlags.has(flag) || flag.startsWith('no-') ? `input-${flag}` : flag
}

/** The networks whose accounts `connections add` connects. */
export const addedNetworks = ['bluesky'] as const
export type AddedNetwork = (typeof addedNetworks)[number]
