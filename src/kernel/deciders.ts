/** Who can decide about a call that waits: those who can make it themselves. */
import type { Role } from './roles.ts'

export interface Decider {
  id: string
  name: string
  role: Role
}

export interface Deciders {
  /** Owners first. */
  roles: readonly Role[]
  /** Members with one of these roles, the most powerful first. */
  people: readonly Decider[]
  /** Whether there are more people than `people` lists. */
  more: boolean
}

/** How many people are named, at most. */
const MOST_NAMED = 5

/** `members`: all members of the workspace, or the first of them. */
export const decidersOf = (roles: readonly Role[], members: readonly Decider[]): Deciders => {
  const people = members.filter(({ role }) => roles.includes(role))
  return { roles, people: people.slice(0, MOST_NAMED), more: people.length > MOST_NAMED }
}

const listNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** `owners and editors`. */
const rolesText = (roles: readonly Role[]): string => listNames(roles.map((role) => `${role}s`))

const oneLine = (name: string): string => name.replace(/\s+/g, ' ').trim()

/** The deciders as records show them. Keys see no names. */
interface ShownDeciders extends Pick<Deciders, 'roles' | 'more'> {
  people: readonly { name: string | null }[]
}

/**
 * `owners and editors can decide: Ada, Ben`. `named`: whether the reader may see people's names.
 */
export const decidersText = (
  { roles, people, more }: ShownDeciders,
  { named = true } = {},
): string => {
  const can = `${rolesText(roles)} can decide`
  if (people.length === 0) return `${can}, but no member has such a role`
  const names = named ? people.flatMap(({ name }) => (name === null ? [] : [oneLine(name)])) : []
  return names.length === 0 ? can : `${can}: ${names.join(', ')}${more ? ' and others' : ''}`
}

/**
 * Why a call that nobody could allow is refused; undefined if somebody could allow it. `taken`: the
 * roles of members and of invited people.
 */
export const nobodyDecides = (
  roles: readonly Role[],
  taken: readonly Role[],
): string | undefined =>
  taken.some((role) => roles.includes(role))
    ? undefined
    : `nobody in this workspace can allow this call: only ${rolesText(roles)} can, and there are none, not even invited`
