import { fail } from '#kernel/errors'

/** What the workspace stands for, its audience and its style. Every draft is made from this. */
export interface Profile {
  goal: string
  audience: string
  voice: string
  /** A BCP 47 language tag. */
  language: string
  /** An IANA name. */
  time_zone: string
  /** An overdue scheduled post: `post` sends it if it is less than an hour late, `skip` puts it back to approved. */
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
  /** Phrases no draft may contain. */
  avoid: string[]
}

export type OnMissed = 'post' | 'skip'

/** The input of an update. `voice` is an alias of `voice_rules`. */
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

/** Absent fields stay; a list replaces the whole list. Throws `invalid_input` if `voice` and `voice_rules` differ. */
export const updateProfile = (profile: Profile, { writing_dna = {}, ...patch }: ProfilePatch): Profile => {
  const { voice, voice_rules = voice, ...lists } = writing_dna
  if (voice !== undefined && !isSame(voice, voice_rules!)) refuseTwoVoices()
  const dna = { ...profile.writing_dna, ...lists }
  return { ...profile, ...patch, writing_dna: voice_rules === undefined ? dna : { ...dna, voice_rules } }
}

const isSame = (one: string[], other: string[]): boolean => one.length === other.length && one.every((text, index) => text === other[index])

const refuseTwoVoices = (): never => {
  const message = 'is an alias of writing_dna.voice_rules: send one of them, or the same list in both'
  return fail('invalid_input', `writing_dna.voice ${message}`, { details: [{ path: 'writing_dna.voice', message }] })
}
