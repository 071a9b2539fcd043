/**
 * Rules of the device authorization grant (RFC 8628): codes, times, limits, and the scopes that a
 * person can grant.
 */
import { normalForm } from '#kernel/normal-form'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import type { TryLimit } from './person.ts'

/** Known clients. They keep no secret, so the name proves nothing about the caller. */
const CLIENTS: readonly string[] = ['tendril-cli']
export const isDeviceClient = (id: string): boolean => CLIENTS.includes(id)

/** What a device requests: scopes of an API key, or a short session as the person. */
export type DeviceScope = Scope | 'session'

const KEY_SCOPES: readonly DeviceScope[] = ['api:read', 'api:write', 'mcp:use']

/**
 * Reads a space-separated list of scopes; an empty list means the usual ones. Undefined if one is
 * unknown, or `session` stands beside others.
 */
export const deviceScopes = (list: string): DeviceScope[] | undefined => {
  const names = [...new Set(list.split(' ').filter((name) => name !== ''))]
  if (names.length === 0) return [...KEY_SCOPES]
  if (names.length === 1 && names[0] === 'session') return ['session']
  const known = KEY_SCOPES.filter((scope) => names.includes(scope))
  return known.length === names.length ? known : undefined
}

/** The requested scopes that a person of this role can grant: a viewer cannot grant writing. */
export const grantable = (requested: readonly DeviceScope[], role: Role): DeviceScope[] =>
  requested.filter((scope) => role !== 'viewer' || scope !== 'api:write')

/** No vowels, so no words appear, and no letters that are easily confused (RFC 8628, 6.1). */
export const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
export const CODE_LENGTH = 8

/** The letters of a code as typed, or undefined if it cannot be one. */
export const readUserCode = (typed: string): string | undefined => {
  const letters = typed.toUpperCase().replace(/[\s\p{P}]/gu, '')
  return letters.length === CODE_LENGTH &&
    [...letters].every((letter) => CODE_LETTERS.includes(letter))
    ? letters
    : undefined
}

/** The code as shown: `BCDF-GHJK`. */
export const writeUserCode = (letters: string): string =>
  `${letters.slice(0, 4)}-${letters.slice(4)}`

/**
 * Lifetime of a request, in seconds: the person decides and the device fetches its token within it.
 */
export const GRANT_S = 600
export const POLL_EVERY_S = 5
/** Seconds added to the interval of a device that polls too soon. */
export const SLOWER_S = 5
/** Seconds by which a poll may come early: timers and networks are inexact. */
export const POLL_LEEWAY_S = 0.5
/** How long a device can act as the person, in milliseconds. */
export const DEVICE_SESSION_MS = 3_600_000

const LONGEST_NAME = 100

/** A device's own name, made safe to show: no characters that hide, reverse or break text. */
export const deviceName = (claimed: string): string => {
  const name = normalForm(claimed, 'NFKC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return [...name].slice(0, LONGEST_NAME).join('') || 'unnamed device'
}

/** Wrong codes before further ones are refused: by person, and by address. */
export const codeLimits = {
  person: { most: 5, withinS: 900 },
  address: { most: 5, withinS: 900 },
} as const satisfies Record<string, TryLimit>

/** Requests by devices, by address. */
export const requestLimit: TryLimit = { most: 30, withinS: 900 }

/**
 * Requests pending at once, over all addresses: few enough that a guessed code belongs to nobody.
 */
export const MOST_WAITING = 5_000
