import type { Static } from '@sinclair/typebox'
import type { ProfileData } from '#contract/records/growth/profile'
import { fail, refuseField } from '#kernel/errors'
import { nextCall } from '../way-on.ts'
import type { Author } from './revision.ts'

/** What the workspace stands for, its audience and its style. Every draft is made from this. */
export type Profile = Static<typeof ProfileData>
type WritingDna = Profile['writing_dna']
export type OnMissed = Profile['on_missed']

/** The input of an update. `voice` is an alias of `voice_rules`. */
export type ProfilePatch = Partial<Omit<Profile, 'writing_dna'>> & {
  writing_dna?: Partial<WritingDna & { voice: string[] }>
}

export const emptyProfile: Profile = {
  goal: '',
  audience: '',
  voice: '',
  language: 'en',
  time_zone: 'UTC',
  on_missed: 'post',
  writing_dna: { voice_rules: [], stories: [], proof: [], patterns: [], use: [], avoid: [] },
}

type List = keyof WritingDna
const profileLists = Object.keys(emptyProfile.writing_dna) as List[]

/** Entries to add to lists, or to remove from them, by the name of the list. */
type ListChange = Record<string, string[]>

/** The most entries in a list. */
const MOST_ENTRIES = 100

const requireLists = (path: string, change: ListChange): void => {
  const unknown = Object.keys(change).find((name) => !profileLists.some((list) => list === name))
  if (unknown !== undefined)
    refuseField(`${path}.${unknown}`, `is no list; there are ${profileLists.join(', ')}`)
}

const removeEntries = (
  list: List,
  entries: readonly string[],
  removed: readonly string[],
): string[] => {
  const missing = removed.findIndex((entry) => !entries.includes(entry))
  if (missing !== -1)
    refuseField(
      `remove.${list}[${missing}]`,
      'is no entry of the list; give it exactly as it stands there',
    )
  return entries.filter((entry) => !removed.includes(entry))
}

/**
 * Removes entries from lists, then appends others, except those that are already there. Throws
 * `invalid_input` for an entry that is not there, a list that would become too long, and an unknown
 * list.
 */
export const changeLists = (
  profile: Profile,
  { add = {}, remove = {} }: { add?: ListChange | undefined; remove?: ListChange | undefined },
): Profile => {
  requireLists('add', add)
  requireLists('remove', remove)
  const changed = profileLists.map((list) => {
    const left = removeEntries(list, profile.writing_dna[list], remove[list] ?? [])
    const entries = [...left, ...new Set(add[list]).difference(new Set(left))]
    if (entries.length > MOST_ENTRIES && add[list])
      refuseField(`add.${list}`, `makes ${entries.length} entries; the maximum is ${MOST_ENTRIES}`)
    return [list, entries] as const
  })
  return { ...profile, writing_dna: Object.fromEntries(changed) as Record<List, string[]> }
}

/** The names of fields and lists that differ. */
export const changedFields = (before: Profile, next: Profile): string[] => {
  const { writing_dna: lists, ...fields } = next
  const names = (Object.keys(fields) as (keyof typeof fields)[]).filter(
    (name) => before[name] !== next[name],
  )
  return [
    ...names,
    ...profileLists.filter((list) => !isSame(before.writing_dna[list], lists[list])),
  ]
}

/**
 * Throws `conflict` if the editor saw another version. `revision`: the present one; undefined if
 * the editor named none.
 */
export const requireProfileRevision = (
  revision: number,
  seen: number | undefined,
  writer?: { written_by: Author | null; updated_at: Date },
): void => {
  if (seen === undefined || seen === revision) return
  const message = `is ${seen}, but the profile is at revision ${revision}: somebody has changed it meanwhile`
  fail('conflict', `cannot change the profile: revision ${message}; read it again`, {
    reason: 'stale_revision',
    by: writer?.written_by,
    at: writer?.updated_at,

    details: [{ path: 'revision', message: `${revision}` }, nextCall('growth.profile.get')],
  })
}

/**
 * Absent fields stay; a list replaces the whole list. Throws `invalid_input` if `voice` and
 * `voice_rules` differ.
 */
export const updateProfile = (
  profile: Profile,
  { writing_dna = {}, ...patch }: ProfilePatch,
): Profile => {
  const { voice, voice_rules = voice, ...lists } = writing_dna
  if (voice !== undefined && !isSame(voice, voice_rules!)) refuseTwoVoices()
  const dna = { ...profile.writing_dna, ...lists }
  return {
    ...profile,
    ...patch,
    writing_dna: voice_rules === undefined ? dna : { ...dna, voice_rules },
  }
}

const isSame = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index])

const refuseTwoVoices = (): never => {
  const message =
    'is an alias of writing_dna.voice_rules: send one of them, or the same list in both'
  return fail('invalid_input', `writing_dna.voice ${message}`, {
    details: [{ path: 'writing_dna.voice', message }],
  })
}
