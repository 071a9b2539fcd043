import { fail } from '#kernel/errors'

/** What the workspace is, for whom it writes, and how: the material every draft is made from. */
export interface Profile {
  goal: string
  audience: string
  voice: string
  /** BCP 47 language tag. */
  language: string
  /** IANA time zone name. */
  time_zone: string
  /** What happens to a scheduled post found overdue: posted if less than an hour late, or skipped back to approved. */
  on_missed: OnMissed
  writing_dna: WritingDna
}

interface WritingDna {
  voice_rules: string[]
  stories: string[]
  proof: string[]
  patterns: string[]
  /** Phrases to use. */
  use: string[]
  /** Phrases that no draft may contain. */
  avoid: string[]
}

export type OnMissed = 'post' | 'skip'

/** As it comes in: `voice` is another name of `voice_rules`. */
export type ProfilePatch = Partial<Omit<Profile, 'writing_dna'>> & { writing_dna?: Partial<WritingDna & { voice: string[] }> }

export const emptyProfile: Profile = {
  goal: '',
  audience: '',
  voice: '',
  language: 'en',
  time_zone: 'UTC',
  on_missed: 'post',
  writing_dna: { voice_rules: [], stories: [], proof: [], patterns: [], use: [], avoid: [] },
}

/** A partial update: fields that are absent stay; a list that is given replaces the whole list. Throws `invalid_input` for two voices. */
export const updateProfile = (profile: Profile, { writing_dna = {}, ...patch }: ProfilePatch): Profile => {
  const { voice, voice_rules = voice, ...lists } = writing_dna
  if (voice !== undefined && !isSame(voice, voice_rules!)) refuseTwoVoices()
  const dna = { ...profile.writing_dna, ...lists }
  return { ...profile, ...patch, writing_dna: voice_rules === undefined ? dna : { ...dna, voice_rules } }
}

const isSame = (one: string[], other: string[]): boolean => one.length === other.length && one.every((text, index) => text === other[index])

const refuseTwoVoices = (): never => {
  const message = 'is another name of writing_dna.voice_rules: give one of them, or the same in both'
  return fail('invalid_input', `writing_dna.voice ${message}`, { details: [{ path: 'writing_dna.voice', message }] })
}
