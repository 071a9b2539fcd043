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
  /** Members with one of these roles, those first who may do most. */
  people: readonly Decider[]
  /** Whether there are more of them. */
  more: boolean
}

/** The most who are named. */
const MOST_NAMED = 5

/** `members`: of the workspace, or the first of them. */
export const decidersOf = (roles: readonly Role[], members: readonly Decider[]): Deciders => {
  const people = members.filter(({ role }) => roles.includes(role))
  return { roles, people: people.slice(0, MOST_NAMED), more: people.length > MOST_NAMED }
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** `owners and editors`. */
const rolesText = (roles: readonly Role[]): string => listed(roles.map((role) => `${role}s`))

const oneLine = (name: string): string => name.replace(/\s+/g, ' ').trim()

/** As records show them: keys see no names. */
interface ShownDeciders extends Pick<Deciders, 'roles' | 'more'> {
  people: readonly { name: string | null }[]
}

/** `owners and editors can decide: Ada, Ben`. `named`: whether its readers see names of people. */
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
 * Why a call is refused that nobody could allow; undefined if somebody could. `taken`: roles of
 * members, and of people who are invited.
 */
export const nobodyDecides = (
  roles: readonly Role[],
  taken: readonly Role[],
): string | undefined =>
  taken.some((role) => roles.includes(role))
    ? undefined
    : `nobody in this workspace can allow this call: only ${rolesText(roles)} can, and there are none, not even invited`
