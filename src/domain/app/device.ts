/** Rules of the device authorization grant (RFC 8628): codes, times, limits, and what a person may hand to a device. */
import { normalForm } from '#kernel/normal-form'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import type { TryLimit } from './person.ts'

/** Programs that may ask; they keep no secret, so the name alone tells nothing of who asks. */
const CLIENTS: readonly string[] = ['tendril-cli']
export const isDeviceClient = (id: string): boolean => CLIENTS.includes(id)

/** What a device asks for: to act by an API key, or for a while as the person. */
export type DeviceScope = Scope | 'session'

const KEY_SCOPES: readonly DeviceScope[] = ['api:read', 'api:write', 'mcp:use']

/** The scopes of a space-separated list, the usual ones for an empty list, or undefined: unknown, or `session` beside others. */
export const deviceScopes = (list: string): DeviceScope[] | undefined => {
  const names = [...new Set(list.split(' ').filter((name) => name !== ''))]
  if (names.length === 0) return [...KEY_SCOPES]
  if (names.length === 1 && names[0] === 'session') return ['session']
  const known = KEY_SCOPES.filter((scope) => names.includes(scope))
  return known.length === names.length ? known : undefined
}

/** Of what a device asks for, what somebody of this role may give: a viewer gives nothing that changes anything. */
export const grantable = (asked: readonly DeviceScope[], role: Role): DeviceScope[] =>
  asked.filter((scope) => role !== 'viewer' || scope !== 'api:write')

/** No vowels, so that no words appear, and nothing that is easily taken for something else (RFC 8628, 6.1). */
export const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
export const CODE_LENGTH = 8

/** The letters of a code as a person may have typed it, or undefined for what cannot be one. */
export const readUserCode = (typed: string): string | undefined => {
  const letters = typed.toUpperCase().replace(/[\s\p{P}]/gu, '')
  return letters.length === CODE_LENGTH && [...letters].every((letter) => CODE_LETTERS.includes(letter)) ? letters : undefined
}

/** As it is shown: `BCDF-GHJK`. */
export const writeUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`

/** Seconds in which a person has to decide and the device to fetch its token. */
export const GRANT_S = 600
export const POLL_EVERY_S = 5
/** By so much a device that comes too soon has to be slower from then on. */
export const SLOWER_S = 5
/** Timers and networks are not exact: so much sooner is no offence. */
export const POLL_LEEWAY_S = 0.5
/** How long a device acts as the person, in milliseconds. */
export const DEVICE_SESSION_MS = 3_600_000

const LONGEST_NAME = 100

/** What a device says it is called, fit to be shown: without characters that hide, turn or break a line of text. */
export const deviceName = (claimed: string): string => {
  const name = normalForm(claimed, 'NFKC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return [...name].slice(0, LONGEST_NAME).join('') || 'unnamed device'
}

/** Wrong codes before no more are taken: by one person, and from one address. */
export const codeLimits = {
  person: { most: 5, withinS: 900 },
  address: { most: 5, withinS: 900 },
} as const satisfies Record<string, TryLimit>

/** Requests of devices from one address. */
export const requestLimit: TryLimit = { most: 30, withinS: 900 }

/** Requests that wait at once, of all addresses: few enough that a guessed code is nobody's. */
export const MOST_WAITING = 5_000
